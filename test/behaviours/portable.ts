import { isHeddleError, type AnyError, type ErrorCode, type Schema, type Store } from 'heddle'
import { alike } from '../durable/codec-alike.ts'

/** One promise, for any test runner or none. */
export interface Case {
  readonly name: string
  readonly run: () => Promise<void>
}

/** Opens (again, for a name that was used before) a store of the place we run in. */
export type Open = (name: string) => Store | Promise<Store>

/** Cases by name. Each gets a store of its own, opened again at every call of `reopen`. */
export type Cases = Readonly<Record<string, (reopen: () => Promise<Store>) => Promise<void>>>

/** Makes cases of a table of them; each gets a name of its own for its store. */
export function casesOf(prefix: string, open: Open, table: Cases): readonly Case[] {
  return Object.entries(table).map(([name, check]) => ({
    name,
    run() {
      const store = `${prefix}-${Date.now().toString(36)}-${made++}`
      return check(async () => open(store))
    },
  }))
}

let made = 0

/** Holds a value against another, deeply and exactly: types, order, own keys, `undefined`, −0. */
export function equal(actual: unknown, expected: unknown, what: string): void {
  if (!alike(actual, expected))
    throw new Error(`${what}: expected ${show(expected)}, got ${show(actual)}`)
}

/** Runs what must be refused with a code of ours, and hands over the error. */
export async function refusedWith<Code extends ErrorCode>(
  code: Code,
  work: () => unknown,
): Promise<Extract<AnyError, { code: Code }>> {
  let outcome: unknown
  try {
    outcome = await work()
  } catch (error) {
    if (isHeddleError(error, code)) return error as never
    throw new Error(`expected ${code}, got ${String(error)}`, { cause: error })
  }
  throw new Error(`expected ${code}, got ${show(outcome)}`)
}

/** Everything that an async iterable gives. */
export async function all<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const found: Value[] = []
  for await (const value of values) found.push(value)
  return found
}

/** Every row of a store: heads, threads, due, open and named rows. */
export async function rowsOf(
  store: Store,
  prefixes: readonly string[] = ['h/', 't/', 'd/', 'o/', 'n/'],
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  for (const prefix of prefixes) {
    for (let after: string | undefined; ;) {
      const page = await store.list({ prefix, limit: 1000, ...(after !== undefined && { after }) })
      for (const { key, value } of page) found.set(key, value)
      if (page.length < 1000) break
      after = page.at(-1)?.key
    }
  }
  return found
}

/** A schema by a test of the value. */
export function fits<Value>(
  test: (value: unknown) => value is Value,
  message: string,
): Schema<Value, Value> {
  return {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value) => (test(value) ? { value } : { issues: [{ message }] }),
    },
  }
}

/** Waits in real time. */
export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms))

function show(value: unknown): string {
  try {
    return JSON.stringify(value, (_, one: unknown) =>
      typeof one === 'bigint'
        ? `${one}n`
        : one === undefined
          ? 'undefined'
          : one instanceof Map || one instanceof Set
            ? [one.constructor.name, ...one]
            : one,
    )
  } catch {
    return String(value)
  }
}
