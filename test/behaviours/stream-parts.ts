// What the tests of streams run: graphs that emit, that take their time, and that break where told.
import { field, graph, reduced, type CompiledGraph, type Graph, type StreamEvent } from 'heddle'
import { expect } from 'vitest'
import { idle } from './abort-idle.ts'

export type Emit = (event: unknown) => Promise<void>
export type Body = (ctx: { readonly emit: Emit; readonly signal: AbortSignal }) => unknown
/** One node that may emit anything. */
export const emitter = (run: Body): Graph =>
  graph({
    name: 'emitter',
    state: { n: field<number>(0) },
    events: field<unknown>(),
    nodes: { say: (_, ctx) => run(ctx) as object | void },
    edges: { start: 'say', say: 'end' },
  })

export const dataOf = (events: readonly StreamEvent[]): unknown[] =>
  events.flatMap((event) => (event.kind === 'backend' ? [event.data] : []))

/** n1 → … → n5; each counts, waits and says so. */
export function five(calls: Record<string, number>, signals: AbortSignal[], ms = 50): Graph {
  const names = ['n1', 'n2', 'n3', 'n4', 'n5']
  const run = (name: string) => async (_: unknown, ctx: { signal: AbortSignal }) => {
    calls[name] = (calls[name] ?? 0) + 1
    signals.push(ctx.signal)
    await idle(ms, ctx.signal)
    return { at: name }
  }
  return graph({
    name: 'five',
    state: { at: field<string>('') },
    nodes: Object.fromEntries(names.map((name) => [name, run(name)])),
    edges: Object.fromEntries(
      ['start', ...names].map((name, i) => [name, names[i] ?? 'end']),
    ) as never,
  } as never)
}

export const broken = Object.assign(new Error('broken', { cause: new TypeError('inner') }), {
  code: 'E_MINE',
})

/** Runs to the failure, and holds the stream to what is true of all failures. */
export async function fails(app: CompiledGraph, thread = 't'): Promise<unknown> {
  const live = app.stream({ thread, input: {} })
  const events: StreamEvent[] = []
  let thrown: { readonly error: unknown } | undefined
  const reader = live[Symbol.asyncIterator]()
  try {
    for (let step = await reader.next(); !step.done; step = await reader.next())
      events.push(step.value)
  } catch (error) {
    thrown = { error }
    // The record says so before the reader hears of it.
    expect((await app.state(thread))?.status).toBe('error')
  }
  expect(thrown).toBeDefined()
  expect(events.map(({ kind }) => kind)).not.toContain('done')
  expect(await reader.next()).toEqual({ value: undefined, done: true })
  const settled = await live.outcome.then(
    () => 'resolved',
    (error: unknown) => ({ error }),
  )
  expect((settled as { error: unknown }).error).toBe(thrown?.error)
  return thrown?.error
}

export type Parts = {
  readonly n?: () => unknown
  readonly router?: () => unknown
  readonly start?: () => unknown
  readonly reduce?: (old: number, by: number) => number
  readonly validate?: (value: unknown) => unknown
}

export const graphOf = ({ n, router, start, reduce, validate }: Parts): Graph => {
  const checked = field<number>(0)
  if (validate) {
    const { validate: plain } = checked['~standard']
    Object.assign(checked['~standard'], {
      // The defaults and the input come first; the node's update is what breaks.
      validate: (value: unknown) => (value === undefined ? plain(value) : validate(value)),
    })
  }
  return graph({
    name: 'parts',
    state: {
      total: reduced(field<number>(0), reduce ?? ((old: number, by: number) => old + by)),
      x: checked,
    },
    nodes: {
      n: (_: unknown) => (n ? n() : { total: 1, x: 1 }) as object,
      m: () => undefined,
    },
    edges: {
      start: start ? () => start() as 'n' : 'n',
      n: router ? () => router() as 'm' : 'm',
      m: 'end',
    },
  } as never)
}

export const thrower = (): never => {
  throw broken
}
