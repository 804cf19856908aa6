import type { Entry, Key, Put, Revision } from '../../src/store/store.ts'

/** The part of a Workers KV binding this adapter uses. */
export interface KV {
  get(key: string): Promise<string | null>
  get(keys: string[]): Promise<Map<string, string | null>>
  put(
    key: string,
    value: string,
    options?: { expirationTtl?: number; metadata?: unknown },
  ): Promise<void>
  delete(key: string): Promise<void>
  list(options: {
    prefix: string
    cursor?: string | null
    limit?: number
  }): Promise<
    | { keys: { name: string; metadata?: unknown }[]; list_complete: true }
    | { keys: { name: string; metadata?: unknown }[]; list_complete: false; cursor: string }
  >
}

/** A name that KV listed. Its metadata is the row's text, or the revision alone where that is too long. */
export interface Listed {
  readonly name: string
  readonly metadata?: unknown
}

/** How long a revision is: time, inverted so that the newest sorts first, and chance. A row's text is its revision, then its value. */
export const REVISION = 16
const TIME = 10
const LATEST = 36 ** TIME - 1
const MAX_METADATA_BYTES = 1024
const CONNECTIONS = 6
const BULK = 100
/** The most that KV lists at once. */
export const PAGE = 1000

/** What KV lists under a prefix, page by page, and the cursor of the next. A page may be empty. */
export async function* pages(
  kv: KV,
  prefix: string,
  limit = PAGE,
  cursor?: string | null,
): AsyncGenerator<{ readonly keys: readonly Listed[]; readonly next: string | null }, void> {
  for (let next = cursor; next !== null;) {
    const page = await kv.list({ prefix, limit, cursor: next ?? null })
    next = page.list_complete ? null : page.cursor
    yield { keys: page.keys, next }
  }
}

/** The texts of rows by name; absent ones are left out. */
export async function read(kv: KV, names: readonly string[]): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  const keep = (name: string, text: string | null): unknown =>
    text !== null && found.set(name, text)
  await inParts(names, BULK, async (part) => {
    try {
      for (const [name, text] of await kv.get(part)) keep(name, text)
    } catch {
      // Perhaps they are more than KV gives at once. If not, it says so again.
      await sixAtOnce(part, async (name) => keep(name, await kv.get(name)))
    }
  })
  return found
}

/** The texts of listed rows: short ones came with the list, the others are read. */
export async function readListed(kv: KV, listed: readonly Listed[]): Promise<Map<string, string>> {
  const isShort = ({ metadata }: Listed): boolean => String(metadata).length > REVISION
  const long = listed.filter((row) => !isShort(row)).map(({ name }) => name)
  const found = await read(kv, long)
  for (const row of listed) if (isShort(row)) found.set(row.name, row.metadata as string)
  return found
}

/** Writes a row. Its text is its metadata too where it fits, so that lists need no reads. */
export function writeRow(kv: KV, name: string, revision: Revision, put: Put): Promise<void> {
  const text = revision + put.value
  const metadata = utf8Bytes(JSON.stringify(text)) > MAX_METADATA_BYTES ? revision : text
  const ttl = put.expires && {
    expirationTtl: Math.max(60, ((put.expires - Date.now()) / 1000) | 0),
  }
  return patiently(() => kv.put(name, text, { metadata, ...ttl }))
}

/** Deletes rows; those that aren't there don't matter. */
export function remove(kv: KV, names: readonly string[]): Promise<void> {
  return sixAtOnce(names, (name) => patiently(() => kv.delete(name)))
}

/** A row as it was written; `undefined` if it wasn't. */
export function entryOf(key: Key, text: string | undefined): Entry | undefined {
  if (text === undefined) return undefined
  return { key, value: text.slice(REVISION), revision: text.slice(0, REVISION) }
}

/** A revision of this time: it sorts before all of earlier times. */
export function newRevision(time: number): Revision {
  const chance = Math.random()
    .toString(36)
    .slice(2, 2 + REVISION - TIME)
  return (LATEST - time).toString(36).padStart(TIME, '0') + chance.padEnd(REVISION - TIME, '0')
}

/** When a revision was made. */
export function timeOf(revision = ''): number {
  return LATEST - Number.parseInt(revision.slice(0, TIME), 36) || 0
}

/** Does what is to be done with each item, on as many connections as a Worker may have. */
export function sixAtOnce<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  return inParts(items, CONNECTIONS, (part) => Promise.all(part.map(work)))
}

async function inParts<Item>(
  items: readonly Item[],
  size: number,
  work: (part: Item[]) => Promise<unknown>,
): Promise<void> {
  for (let at = 0; at < items.length; at += size) await work(items.slice(at, at + size))
}

/** How long a text is when stored. */
export function utf8Bytes(text: string): number {
  return new TextEncoder().encode(text).length
}

/** KV takes one write a second for a key: one that came too soon is tried again, three times. */
async function patiently(attempt: () => Promise<void>, wait = 1000): Promise<void> {
  try {
    await attempt()
  } catch (error) {
    // Its errors say their status in the message only.
    if (wait > 4000 || !String(error).includes('failed: 429')) throw error
    await new Promise((resolve) => setTimeout(resolve, wait))
    await patiently(attempt, wait * 2)
  }
}
