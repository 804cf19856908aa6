import type { Entry, Store } from '../../../src/store/store.ts'
import type { BrokenStores } from './stores.ts'

export const reads: BrokenStores<
  'reads its own writes at once' | 'tells an absent key from any value'
> = {
  'reads its own writes at once': {
    'caches what it read': (store) => {
      const seen = new Map<string, Entry | undefined>()
      return {
        get: async (keys) => {
          for (const [n, e] of (await store.get(keys)).entries()) {
            const k = keys[n]!
            if (!seen.has(k)) seen.set(k, e)
          }
          return keys.map((k) => seen.get(k))
        },
      }
    },
    'lists what was there a commit ago': (store) => {
      let lag: readonly Entry[] = []
      return {
        list: async (range) => {
          const old = lag
          lag = await store.list(range)
          return old
        },
      }
    },
    'answers `get` in key order': (store) => ({ get: (keys) => store.get(keys.toSorted()) }),
    'answers doubled keys once': (store) => ({ get: (keys) => store.get([...new Set(keys)]) }),
    'leaves absent rows out of `get`': (store) => ({
      get: async (keys) => (await store.get(keys)).filter(Boolean),
    }),
    'reads ten keys at most': (store) => ({ get: (keys) => store.get(keys.slice(0, 10)) }),
    'returns another revision than the row has': (store) => ({
      commit: async (batch) => {
        const revision = await store.commit(batch)
        return revision && `${revision}a`
      },
    }),
    'keeps deleted rows': (store) => ({
      commit: ({ deletes: _, ...batch }) => store.commit(batch),
    }),
    'refuses to expire within a minute': (store) => ({
      commit: async (batch) => {
        if (batch.puts?.some((put) => (put.expires ?? Infinity) < Date.now() + 60_000))
          throw new RangeError('Invalid expiration')
        return store.commit(batch)
      },
    }),
    'drops rows that have an expiry': (store) => ({
      commit: ({ puts = [], ...batch }) =>
        store.commit({ ...batch, puts: puts.filter((put) => !put.expires) }),
    }),
  },
  'tells an absent key from any value': {
    'takes an empty value for no row': (store) => ({
      get: async (keys) =>
        (await store.get(keys)).map((entry) => (entry?.value ? entry : undefined)),
    }),
    'gives absent rows an empty value': (store) => ({
      get: async (keys) =>
        (await store.get(keys)).map(
          (entry, n) => entry ?? { key: keys[n]!, value: '', revision: '0' },
        ),
    }),
    'lists no empty rows': (store) => ({
      list: async (range) => (await store.list(range)).filter((entry) => entry.value),
    }),
    'gives null for an absent row': (store) => ({
      get: async (keys) => (await store.get(keys)).map((entry) => entry ?? (null as never)),
    }),
    'reads values as JSON': (store) =>
      stored(store, (value) => {
        try {
          return String(JSON.parse(value))
        } catch {
          return value
        }
      }),
    'ends text at NUL': (store) => stored(store, (value) => value.split('\0')[0]!),
    'normalises text': (store) => stored(store, (value) => value.normalize()),
    'strips a byte order mark': (store) => stored(store, (value) => value.replace(/^\uFEFF/, '')),
    'cuts astral characters': (store) =>
      stored(store, (value) => value.replace(/[\u{10000}-\u{10FFFF}]/gu, '\uFFFD')),
    trims: (store) => stored(store, (value) => value.trim()),
    'unescapes backslashes': (store) =>
      stored(store, (value) => value.replaceAll('\\\\', '\\').replace(/^\\$/, '')),
  },
}

/** A store that changes values on their way in. */
export function stored(store: Store, change: (value: string) => string): Partial<Store> {
  return {
    commit: ({ puts = [], ...batch }) =>
      store.commit({ ...batch, puts: puts.map((put) => ({ ...put, value: change(put.value) })) }),
  }
}
