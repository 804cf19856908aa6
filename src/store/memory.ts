import { StorageClosed } from '../errors.ts'
import type { Entry, Key, Range, Store } from './store.ts'

/** The keys of one thread's rows, or of all rows of another kind. */
interface Bucket {
  sorted: Key[]
  fresh: Key[]
}

/** Up to as many new keys are slotted in one by one; more are sorted in. */
const FEW = 32

/** Keeps everything in this process: the default store, gone when the process ends. */
export function memory(): Store {
  const rows = new Map<Key, Entry>()
  const buckets = new Map<string, Bucket>()
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
    if (!rows.delete(key) || ++gone <= rows.size + FEW) return
    buckets.clear()
    fresh = [...rows.keys()]
    gone = 0
  }

  function bucketOf(key: Key): Bucket {
    const name = key.slice(0, key.indexOf('/', key.startsWith('t/') ? 2 : 0) + 1)
    let bucket = buckets.get(name)
    if (!bucket) buckets.set(name, (bucket = { sorted: [], fresh: [] }))
    return bucket
  }

  function keysAround(prefix: Key): readonly Key[] {
    if (prefix === 't/') return [...rows.keys()].toSorted()
    for (const key of fresh) bucketOf(key).fresh.push(key)
    fresh = []
    const bucket = bucketOf(prefix)
    if (bucket.fresh.length > FEW) bucket.sorted = bucket.sorted.concat(bucket.fresh).toSorted()
    else for (const key of bucket.fresh) bucket.sorted.splice(position(bucket.sorted, key), 0, key)
    bucket.fresh = []
    return bucket.sorted
  }

  function under({ prefix, after = '', limit }: Range): Entry[] {
    const keys = keysAround(prefix)
    const found: Entry[] = []
    let at = position(keys, after < prefix ? prefix : after)
    for (; at < keys.length && found.length < limit; at++) {
      const key = keys[at] as Key
      if (!key.startsWith(prefix)) break
      const row = rows.get(key)
      // A key that was removed and came back stands twice.
      if (row && key !== after && row !== found.at(-1)) found.push(row)
    }
    return found
  }

  return {
    name: 'memory',
    volatile: true,
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
      for (const { key, revision } of checks) {
        if (rows.get(key)?.revision !== revision) return undefined
      }
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
