import type { Entry, Key, Put, Revision, Store } from '../../../src/index.ts'

/** Fails a case. */
export function must(claim: boolean, otherwise: string): asserts claim {
  if (!claim) throw new Error(otherwise)
}

/** Fails a case unless two plain values read alike. */
export function same(actual: unknown, expected: unknown, what: string): void {
  if (text(actual) === text(expected)) return
  if (Array.isArray(actual) && Array.isArray(expected)) {
    const at = expected.findIndex((part, n) => text(part) !== text(actual[n]))
    const place = at < 0 ? expected.length : at
    const length = `${actual.length} for ${expected.length}`
    throw new Error(
      `${what}: at ${place} expected ${short(expected[place])}, got ${short(actual[place])} (${length})`,
    )
  }
  throw new Error(`${what}: expected ${short(expected)}, got ${short(actual)}`)
}

/** A thread's row that is written once, as the core names them. */
export function row(name: string, thread = 'acme.t1'): Key {
  return `t/${thread}/${name}`
}

/** Puts that say their own key. */
export function puts(keys: readonly Key[]): readonly Put[] {
  return keys.map((key) => ({ key, value: `value of ${key}` }))
}

/** Commits what has to go in, and tells its revision. */
export async function write(
  store: Store,
  batch: Parameters<Store['commit']>[0],
): Promise<Revision> {
  const revision = await store.commit(batch)
  must(typeof revision === 'string', `commit: expected a revision, got ${short(revision)}`)
  return revision
}

/** Writes many rows, in as many commits as the store's limits ask for. */
export async function fill(store: Store, keys: readonly Key[]): Promise<void> {
  await putAll(store, puts(keys))
}

/** Rows in commits that the store takes. */
export async function putAll(store: Store, all: readonly Put[]): Promise<void> {
  const size = Math.max(
    1,
    Math.min(store.caps.maxBatchRows, store.caps.maxBatchBytes / 1024, 500) | 0,
  )
  for (let at = 0; at < all.length; at += size)
    await write(store, { puts: all.slice(at, at + size) })
}

/** One row. */
export async function read(store: Store, key: Key): Promise<Entry | undefined> {
  const entries = await store.get([key])
  same(entries.length, 1, `get of one key: number of results`)
  return entries[0]
}

/** The values of rows, in the order asked. */
export async function values(store: Store, keys: readonly Key[]): Promise<readonly unknown[]> {
  return (await store.get(keys)).map((entry) => entry?.value)
}

/** The keys under a prefix; each row must be the one that `get` would give. */
export async function keysUnder(
  store: Store,
  prefix: Key,
  limit = 10_000,
  after?: Key,
): Promise<readonly Key[]> {
  const entries = await store.list(
    after === undefined ? { prefix, limit } : { prefix, limit, after },
  )
  must(
    entries.length <= limit,
    `list under "${prefix}": expected at most ${limit} rows, got ${entries.length}`,
  )
  return entries.map((entry) => entry.key)
}

/** Every page of a prefix. */
export async function pages(
  store: Store,
  prefix: Key,
  limit: number,
  between?: (page: number) => Promise<unknown>,
): Promise<readonly Key[]> {
  const found: Key[] = []
  for (let page = 1; page < 1000; page++) {
    const keys = await keysUnder(store, prefix, limit, found.at(-1))
    found.push(...keys)
    if (keys.length < limit) return found
    await between?.(page)
  }
  throw new Error(
    `list under "${prefix}" in pages of ${limit}: expected an end, got ${found.length} rows so far`,
  )
}

/** The error of a call that has to reject, and not throw. */
export async function rejection(what: string, call: () => Promise<unknown>): Promise<unknown> {
  let promise: Promise<unknown>
  try {
    promise = call()
  } catch (error) {
    throw new Error(`${what}: expected a promise that rejects, but it threw`, { cause: error })
  }
  let result: unknown
  try {
    result = await promise
  } catch (error) {
    return error
  }
  throw new Error(`${what}: expected it to reject, got ${short(result)}`)
}

function text(value: unknown): string {
  return (
    JSON.stringify(value, (_, part: unknown) => (part === undefined ? '(none)' : part)) ?? '(none)'
  )
}

function short(value: unknown): string {
  const all = text(value)
  return all.length > 300 ? `${all.slice(0, 300)}… (${all.length} characters)` : all
}
