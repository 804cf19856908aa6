import { StorageClosed } from '../errors.ts'
import type { Entry, Key, Range, Store } from './store.ts'

/** Keeps everything in this process: the default store, gone when the process ends. */
export function memory(): Store {
  const rows = new Map<Key, Entry>()
  /** The keys of one thread's rows, or of all rows of another kind; and sorted, once somebody has listed them. */
  const buckets = new Map<string, Set<Key>>()
  const sorted = new Map<string, Key[]>()
  let commits = 0
  let closed = false

  function assertOpen(): void {
    if (closed)
      throw new StorageClosed('Cannot use store "memory": it is closed', { store: 'memory' })
  }

  function bucketOf(key: Key): Set<Key> {
    const name = nameOf(key)
    let bucket = buckets.get(name)
    if (!bucket) buckets.set(name, (bucket = new Set()))
    sorted.delete(name)
    return bucket
  }

  function remove(key: Key): void {
    if (!rows.delete(key)) return
    const bucket = bucketOf(key)
    bucket.delete(key)
    if (bucket.size === 0) buckets.delete(nameOf(key))
  }

  function keysAround(prefix: Key): readonly Key[] {
    if (prefix === 't/') return [...rows.keys()].sort()
    const name = nameOf(prefix)
    let keys = sorted.get(name)
    if (!keys) sorted.set(name, (keys = [...(buckets.get(name) ?? [])].sort()))
    return keys
  }

  function under({ prefix, after = '', limit }: Range): Entry[] {
    const keys = keysAround(prefix)
    const found: Entry[] = []
    for (let at = position(keys, after < prefix ? prefix : after); found.length < limit; at++) {
      const key = keys[at]
      if (!key?.startsWith(prefix)) break
      const row = rows.get(key)
      if (row && key !== after) found.push(row)
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
        if (rows.size > size) bucketOf(key).add(key)
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

/** What a key's bucket is called. */
const nameOf = (key: Key): string =>
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
