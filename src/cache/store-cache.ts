import { fitted } from '../durable/fit.ts'
import { cachedKey } from '../durable/keys.ts'
import { sealed } from '../durable/seal.ts'
import { check, methods, type Rule } from '../lib/check.ts'
import { systemClock, type Clock } from '../lib/clock.ts'
import type { Store } from '../store/store.ts'
import type { CachePort } from './port.ts'

/** Where in a store a cache is, and what time it is there. */
export interface StoreCacheOptions {
  /** Keeps caches apart that lie in one store: their rows are under `c/<prefix>/`. @default 'heddle' */
  readonly prefix?: string
  /** Says when an entry has expired. @default the platform's */
  readonly clock?: Clock
}

const string: Rule = [(value) => typeof value === 'string', 'a string']

/**
 * A cache on any store, in a place of its own, beside threads if there are any. Entries of any size fit. Expired ones are
 * misses and are removed when somebody asks for them, or by the store where it can.
 *
 * @throws TypeError for what is no store, and for options that aren't known or make no sense; RangeError if the store takes less than a thread needs
 */
export function storeCache(store: Store, options: StoreCacheOptions = {}): CachePort {
  const cannot = 'Cannot make a cache on a store'
  check(cannot, { store: methods('get', 'list', 'commit', 'clear') }, { store: store ?? null })
  check(cannot, { prefix: string, clock: methods('now') }, options)
  return cacheOn(sealed(fitted(store)), options.clock, options.prefix)
}

/** The same, on a store that is fitted and sealed already. */
export function cacheOn(
  store: Store,
  clock: Clock = systemClock,
  prefix: string = 'heddle',
): CachePort {
  const remove = async (row: string): Promise<void> => void (await store.commit({ deletes: [row] }))
  return {
    async get(key) {
      const row = await cachedKey(prefix, key)
      const text = (await store.get([row]))[0]?.value
      // An empty one was damaged.
      if (!text) return undefined
      const end = text.indexOf('\n')
      const [whose, due] = JSON.parse(text.slice(0, end)) as [key: string, due: number | null]
      if (whose !== key) return undefined
      if (due === null || due > clock.now()) return text.slice(end + 1)
      await remove(row)
      return undefined
    },
    async set(key, text, { ttl = Infinity } = {}) {
      if (!(ttl > 0))
        throw new RangeError(`Cannot cache "${key}": its "ttl" is ${ttl}, not a number above 0`)
      const expires = Math.ceil(clock.now() + ttl)
      const finite = expires < Infinity
      // The whole key is kept, so that another one that comes to lie in the same row can't be given what is this one's.
      const value = `${JSON.stringify([key, finite ? expires : null])}\n${text}`
      const put = { key: await cachedKey(prefix, key), value }
      await store.commit({ puts: [finite ? { ...put, expires } : put] })
    },
    delete: async (key) => remove(await cachedKey(prefix, key)),
  }
}
