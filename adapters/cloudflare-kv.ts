import { StorageClosed } from '../src/index.ts'
import type { Entry, Key, Range, Store } from '../src/index.ts'
import {
  entryOf,
  type KV,
  type Listed,
  newRevision,
  PAGE,
  pages,
  read,
  readListed,
  remember,
  remove,
  REVISION,
  sixAtOnce,
  utf8Bytes,
  writeRow,
} from './cloudflare-kv/rows.ts'
import { MARK, versions } from './cloudflare-kv/versions.ts'

export type { KV } from './cloudflare-kv/rows.ts'

/** Where rows lie, and who makes sure that a thread has one writer. */
export type CloudflareKvOptions = {
  /** Goes before every key; at most 239 bytes. @default 'heddle/' */
  readonly prefix?: string
} & (
  | { readonly lease: Store; readonly singleWriter?: never }
  | { readonly singleWriter: true; readonly lease?: never }
  | { readonly lease?: never; readonly singleWriter?: never }
)

const NAME = 'cloudflare-kv'
/** KV takes names of 512 bytes; a key has up to 256, and a head's version adds its revision. */
const MAX_PREFIX_BYTES = 512 - 256 - MARK.length - REVISION
const MAX_VALUE_BYTES = 20 * 1024 * 1024
/** How many places in lists are remembered: KV has no "start after". */
const CURSORS = 64

/**
 * Keeps threads in Workers KV. Reads may lag writes by a minute or more and nothing is atomic, so a thread is
 * only resumed with one of: `lease`, a strong store that keeps heads and leases; `singleWriter`, your word that
 * no two places ever run one thread. Without either, resuming rejects with `store_unsafe`.
 *
 * @param kv The binding
 * @param options One of `lease` (not closed with this store) and `singleWriter`
 * @throws {RangeError} The prefix is too long
 */
export function cloudflareKv(kv: KV, options: CloudflareKvOptions = {}): Store {
  const { prefix = 'heddle/', lease, singleWriter = false } = options
  if (utf8Bytes(prefix) > MAX_PREFIX_BYTES) {
    throw new RangeError(`Cannot use prefix "${prefix}": at most ${MAX_PREFIX_BYTES} bytes fit`)
  }
  const own = versions(kv, prefix)
  const heads = lease ?? own
  const cursors = new Map<string, string>()
  const nameOf = (key: Key): string => prefix + key
  let closed = false

  function assertOpen(): void {
    if (closed) throw new StorageClosed(`Cannot use store "${NAME}": it is closed`, { store: NAME })
  }

  async function rowsUnder({ prefix: under, after = under, limit }: Range): Promise<Entry[]> {
    const [root, start] = [nameOf(under), nameOf(after)]
    const place = (name: string): string => root + MARK + name
    const cursor = cursors.get(place(start))
    // What lies before `start` has to be paged through, in pages as long as they get.
    const size = cursor || start <= root ? Math.min(limit, PAGE) : PAGE
    const found: Listed[] = []
    if (!(limit > 0)) return []
    for await (const { keys, next } of pages(kv, root, size, cursor)) {
      found.push(...keys.filter(({ name }) => name > start))
      if (found.length < limit) continue
      if (next) remember(cursors, CURSORS, place(found.at(-1)!.name), next)
      break
    }
    const rows = found.slice(0, limit)
    const texts = await readListed(kv, rows)
    return rows.flatMap(({ name }) => entryOf(name.slice(prefix.length), texts.get(name)) ?? [])
  }

  return {
    name: NAME,
    caps: {
      atomic: false,
      consistency: 'eventual',
      // Heads lie in the other store.
      maxValueBytes: Math.min(MAX_VALUE_BYTES, lease?.caps.maxValueBytes ?? Infinity),
      maxBatchRows: 900,
      maxBatchBytes: 64 * 1024 * 1024,
    },
    // A first run is alone with its thread; whoever goes on with one may not be.
    ...(!lease && !singleWriter && { unsafe: 'lease or singleWriter' }),
    async get(keys) {
      assertOpen()
      const [changing, fixed] = split(keys, (key) => key)
      const [entries, texts] = await Promise.all([
        changing.length > 0 ? heads.get(changing) : [],
        read(kv, fixed.map(nameOf)),
      ])
      const found = new Map(entries.map((entry) => [entry?.key, entry]))
      return keys.map((key) => found.get(key) ?? entryOf(key, texts.get(nameOf(key))))
    },
    async list(range) {
      assertOpen()
      return isHead(range.prefix) ? heads.list(range) : rowsUnder(range)
    },
    async commit({ checks = [], puts = [], deletes = [], ...rest }) {
      assertOpen()
      for (const { key } of checks) {
        if (!isHead(key)) throw new RangeError(`Cannot check row "${key}": it is no head, "h/…"`)
      }
      for (const { key, value } of puts) {
        if (utf8Bytes(value) <= MAX_VALUE_BYTES) continue
        throw new RangeError(`Cannot write row "${key}": at most ${MAX_VALUE_BYTES} bytes fit`)
      }

      const [newHeads, newRows] = split(puts, ({ key }) => key)
      const [oldHeads, oldRows] = split(deletes, (key) => key)
      const changes = { ...rest, checks, puts: newHeads, deletes: oldHeads }
      const strong = lease && checks.length + newHeads.length + oldHeads.length > 0
      const write = strong ? () => lease.commit(changes) : await own.prepare(changes)
      if (!write) return undefined
      // Nothing leads to a row until its head is written; if it isn't, the row is garbage.
      const made = newRevision(Date.now())
      await sixAtOnce(newRows, (put) => writeRow(kv, nameOf(put.key), made, put))
      const revision = await write()
      if (revision) await remove(kv, oldRows.map(nameOf))
      return revision
    },
    async clear(under) {
      assertOpen()
      if (isHead(under)) return heads.clear(under)
      for await (const { keys } of pages(kv, nameOf(under))) {
        const names = keys.map(({ name }) => name)
        await remove(kv, names)
      }
    },
    async close() {
      closed = true
    },
  }
}

function isHead(key: Key): boolean {
  return key.startsWith('h/')
}

/** What is about heads, and what is about rows that never change. */
function split<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => Key,
): readonly [Item[], Item[]] {
  const about = (item: Item): boolean => isHead(keyOf(item))
  return [items.filter(about), items.filter((item) => !about(item))]
}
