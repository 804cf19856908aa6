import { StorageClosed } from '../errors.ts'
import type { Entry, Key, Range, Store } from './store.ts'

/** How many removed keys may stay listed beside those that are there. */
const SLACK = 32

/** Keeps everything in this process: the default store, gone when the process ends. */
export function memory(): Store {
  const rows = new Map<Key, Entry>()
  /** The keys of one thread's rows, or of all rows of another kind, sorted when they were last listed. */
  const buckets = new Map<string, Key[]>()
  // Commits only note new keys here. Who lists a bucket sorts it; most never are.
  let fresh: Key[] = []
  let gone = 0
  let commits = 0
  let closed = false

  function assertOpen(): void {
    if (closed)
      throw new StorageClosed('Cannot use store "memory": it is closed', { store: 'memory' })
  }

  function remove(key: Key): void {
    // Removed keys stay in their buckets until they are most of all keys.
    if (!rows.delete(key) || ++gone <= rows.size + SLACK) return
    buckets.clear()
    fresh = [...rows.keys()]
    gone = 0
  }

  function keysAround(prefix: Key): readonly Key[] {
    if (prefix === 't/') return [...rows.keys()].sort()
    const changed = new Set<Key[]>()
    for (const key of fresh) {
      const name = bucketOf(key)
      let bucket = buckets.get(name)
      if (!bucket) buckets.set(name, (bucket = []))
      bucket.push(key)
      changed.add(bucket)
    }
    fresh = []
    // Nearly sorted as they are.
    for (const bucket of changed) bucket.sort()
    return buckets.get(bucketOf(prefix)) ?? []
  }

  function under({ prefix, after = '', limit }: Range): Entry[] {
    const keys = keysAround(prefix)
    const found: Entry[] = []
    for (let at = position(keys, after < prefix ? prefix : after); found.length < limit; at++) {
      const key = keys[at]
      if (!key?.startsWith(prefix)) break
      const row = rows.get(key)
      // A key that was removed and came back stands twice.
      if (row && key !== after && row !== found.at(-1)) found.push(row)
    }
    return found
  }

  return {
    name: 'memory',
    caps: {
      atomic: true,
      consistency: 'strong',
      maxValueBytes: Infinity,
      maxBatchRows: Infinity,
      maxBatchBytes: Infinity,
    },
    async get(keys) {
      assertOpen()
      return keys.map((key) => rows.get(key))
    },
    async list(range) {
      assertOpen()
      return under(range)
    },
    async commit({ checks = [], puts = [], deletes = [] }) {
      assertOpen()
      if (checks.some(({ key, revision }) => rows.get(key)?.revision !== revision)) return undefined
      const revision = String(++commits)
      for (const { key, value } of puts) {
        const { size } = rows
        rows.set(key, { key, value, revision })
        if (rows.size > size) fresh.push(key)
      }
      for (const key of deletes) remove(key)
      return revision
    },
    async clear(prefix) {
      assertOpen()
      for (const { key } of under({ prefix, limit: Infinity })) remove(key)
    },
    async close() {
      closed = true
    },
  }
}

const bucketOf = (key: Key): string =>
  key.slice(0, key.indexOf('/', key.startsWith('t/') ? 2 : 0) + 1)

/** Where a key stands in a sorted list, or would. */
function position(keys: readonly Key[], key: Key): number {
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((keys[middle] as Key) < key) low = middle + 1
    else high = middle
  }
  return low
}
