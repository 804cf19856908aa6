// What the tests of tools share. Nothing here needs a test runner.
import {
  createExecutor,
  field,
  tool,
  type CallResult,
  type Executor,
  type ExecutorOptions,
  type Schema,
  type Tool,
  type ToolContext,
} from 'heddle'
import { manualClock, type ManualClock } from 'heddle/testing'
import { silent } from '../fakes/silent.ts'

/** A schema by a function that says what is wrong, or nothing. */
export function schemaOf<Value>(
  wrong: (value: unknown) => string | undefined,
  make: (value: never) => Value = (value) => value,
): Schema<Value, Value> {
  return {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate(value) {
        const message = wrong(value)
        return message === undefined ? { value: make(value as never) } : { issues: [{ message }] }
      },
    },
  }
}

/** Takes `{ n: number }`. */
export const numbered = (): Schema<{ n: number }, { n: number }> =>
  schemaOf((value) =>
    typeof Object(value).n === 'number' ? undefined : 'n should have been a number',
  )

/** Takes anything. */
export const anything = (): Schema<unknown, unknown> => field<unknown>()

/** A tool that takes anything and does what it is told. */
export const does = <Result>(
  name: string,
  run: (args: unknown, ctx: ToolContext) => Result | Promise<Result>,
  more: object = {},
): Tool<unknown, Result> => tool({ name, description: name, input: anything(), run, ...more })

/** An executor that logs nothing. */
export const executorOf = (
  tools: ExecutorOptions['tools'],
  options: Omit<ExecutorOptions, 'tools'> = {},
): Executor => createExecutor({ tools, logger: silent, ...options })

/** A clock that stands still, and an executor by it. */
export function byClock(
  tools: ExecutorOptions['tools'],
  options: Omit<ExecutorOptions, 'tools'> = {},
): { readonly clock: ManualClock; readonly executor: Executor } {
  const clock = manualClock()
  return { clock, executor: executorOf(tools, { clock, random: () => 0, ...options }) }
}

/** Lets time pass until work has settled. What the platform does in between takes its own time, such as a digest. */
export async function passing<Value>(clock: ManualClock, work: Promise<Value>): Promise<Value> {
  let over = false
  const end = (): void => void (over = true)
  work.then(end, end)
  while (!over) {
    await clock.advance(10)
    await new Promise((resolve) => setTimeout(resolve, 0))
  }
  return work
}

/** How calls ended, in short: the status, and the code or the message of an error. */
export const short = (results: readonly CallResult[]): readonly string[] =>
  results.map((one) => {
    if (one.status !== 'error') return one.status
    const { code, name, message } = Object(one.error) as Record<string, unknown>
    return `error: ${String(code ?? message ?? name ?? one.error)}`
  })

/** Lets others go on. */
export const turn = (): Promise<void> => Promise.resolve()

/** What a promise rejects with; fails if it doesn't. */
export async function thrown(work: () => unknown): Promise<unknown> {
  let value: unknown
  try {
    value = await work()
  } catch (error) {
    return error
  }
  throw new Error(`It was not refused, it gave ${String(value)}`)
}
