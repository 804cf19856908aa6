import type { Entry, Key, Put, Revision } from '../../src/index.ts'

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

/** A name that KV listed. Its metadata is the row's text, unless that is too long. */
export interface Listed {
  readonly name: string
  readonly metadata?: unknown
}

/** How long a revision is. A row's text is its revision, then its value. */
export const REVISION = 16
/** Of which this much is time, inverted: what is newer sorts first. The rest is chance. */
const TIME = 10
const LATEST = 36 ** TIME - 1
/** The most that KV lists at once. */
export const PAGE = 1000
const BULK = 100
const CONNECTIONS = 6
const MAX_METADATA_BYTES = 1024

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

/** The texts of rows by name; absent ones are left out or `null`. */
export async function read(kv: KV, names: readonly string[]): Promise<Map<string, string | null>> {
  const one = async (name: string) => [name, await kv.get(name)] as const
  const parts = await inParts(names, BULK, async (part) => {
    try {
      return [...(await kv.get(part))]
    } catch {
      // Perhaps they are more than KV gives at once. If not, it says so again.
      return sixAtOnce(part, one)
    }
  })
  return new Map(parts)
}

/** The texts of listed rows: short ones came with the list, the others are read. */
export async function readListed(
  kv: KV,
  listed: readonly Listed[],
): Promise<Map<string, string | null>> {
  const long = listed.filter(({ metadata }) => !metadata).map(({ name }) => name)
  const found = await read(kv, long)
  for (const { name, metadata } of listed) if (metadata) found.set(name, metadata as string)
  return found
}

/** Writes a row. Its text is its metadata too where it fits, so that lists need no reads. */
export function writeRow(kv: KV, name: string, revision: Revision, put: Put): Promise<void> {
  const text = revision + put.value
  const metadata = utf8Bytes(JSON.stringify(text)) > MAX_METADATA_BYTES ? null : text
  const seconds = Math.floor((put.expires! - Date.now()) / 1000)
  const ttl = Number.isFinite(seconds) && { expirationTtl: Math.max(60, seconds) }
  return patiently(() => kv.put(name, text, { metadata, ...ttl }))
}

/** Deletes rows; those that aren't there don't matter. */
export async function remove(kv: KV, names: readonly string[]): Promise<void> {
  await sixAtOnce(names, (name) => patiently(() => kv.delete(name)))
}

/** A row as it was written; `undefined` if it wasn't. */
export function entryOf(key: Key, text: string | null | undefined): Entry | undefined {
  if (text == null) return undefined
  return { key, value: text.slice(REVISION), revision: text.slice(0, REVISION) }
}

/** A revision of this time: it sorts before all of earlier times. */
export function newRevision(time: number): Revision {
  return (LATEST - time).toString(36) + crypto.randomUUID().slice(0, REVISION - TIME)
}

/** When a revision was made. */
export function timeOf(revision: Revision): number {
  return LATEST - parseInt(revision.slice(0, TIME), 36)
}

/** Does what is to be done with each item, on as many connections as a Worker may have. */
export function sixAtOnce<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  return inParts(items, CONNECTIONS, (part) => Promise.all(part.map(work)))
}

/** Remembers something, and forgets what it remembers longest if that makes too many. */
export function remember<Item>(
  items: Map<string, Item>,
  most: number,
  name: string,
  item: Item | undefined,
): void {
  items.delete(name)
  if (item !== undefined) items.set(name, item)
  if (items.size > most) items.delete(items.keys().next().value!)
}

/** How long a text is when stored. */
export function utf8Bytes(text: string): number {
  return new TextEncoder().encode(text).length
}

async function inParts<Item, Result>(
  items: readonly Item[],
  size: number,
  work: (part: Item[]) => Promise<readonly Result[]>,
): Promise<Result[]> {
  const results: Result[] = []
  for (let at = 0; at < items.length; at += size) {
    results.push(...(await work(items.slice(at, at + size))))
  }
  return results
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
