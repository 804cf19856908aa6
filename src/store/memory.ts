import { StorageClosed } from '../errors.ts'
import type { Entry, Key, Range, Store } from './store.ts'

/** A part of the key space that is listed by itself: one thread's rows, or all of another kind. */
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
  // Commits only note new keys here. Whoever lists sorts them: most threads never are.
  let fresh: Key[] = []
  let gone = 0
  let commits = 0
  let closed = false

  function assertOpen(): void {
    if (closed) throw new StorageClosed('Cannot use store "memory": it is closed', { store: 'memory' })
  }

  function remove(key: Key): void {
    // Key lists keep what was removed until that is most of them.
    if (!rows.delete(key) || ++gone <= rows.size + FEW) return
    buckets.clear()
    fresh = [...rows.keys()]
    gone = 0
  }

  function keysAround(prefix: Key): readonly Key[] {
    const name = bucketName(prefix)
    if (name === '') return [...rows.keys()].sort()
    for (const key of fresh) {
      const home = bucketName(key)
      const bucket = buckets.get(home)
      if (bucket) bucket.fresh.push(key)
      else buckets.set(home, { sorted: [], fresh: [key] })
    }
    fresh = []
    const bucket = buckets.get(name)
    return bucket ? settle(bucket) : []
  }

  function under({ prefix, after = '', limit }: Range): Entry[] {
    const keys = keysAround(prefix)
    const found: Entry[] = []
    let at = position(keys, after < prefix ? prefix : after)
    if (keys[at] === after) at++
    for (; found.length < limit && keys[at]?.startsWith(prefix); at++) {
      const row = rows.get(keys[at] as Key)
      if (row) found.push(row)
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

/** A thread's rows (`t/<thread>/`) are listed on their own; '' for a prefix that spans several. */
function bucketName(key: Key): string {
  return key.slice(0, key.indexOf('/', key.startsWith('t/') ? 2 : 0) + 1)
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

/** Puts a bucket's new keys in their places, each once. */
function settle(bucket: Bucket): readonly Key[] {
  const { fresh, sorted } = bucket
  bucket.fresh = []
  if (fresh.length > FEW) {
    const keys = sorted.concat(fresh).sort()
    return (bucket.sorted = keys.filter((key, at) => key !== keys[at - 1]))
  }
  for (const key of fresh) {
    const at = position(sorted, key)
    if (sorted[at] !== key) sorted.splice(at, 0, key)
  }
  return sorted
}
