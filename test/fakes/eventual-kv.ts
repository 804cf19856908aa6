import type { KV } from '../../adapters/cloudflare-kv.ts'

/** How unkind a world is. */
export interface WorldOptions {
  readonly seed?: number
  /** Milliseconds since 1970. @default Date.now */
  readonly now?: () => number
  /** How often a place sees its own write at once. @default 0.9 */
  readonly seesOwn?: number
  /** How long reads are cached, and how long a list may take to show a write. @default 60_000 */
  readonly lagMs?: number
  /** Operations a binding takes; production gives 1,000 to an invocation. @default Infinity */
  readonly opsPerInvocation?: number
}

/** Workers KV as several places see it. */
export interface World {
  /** A new binding of a place, as an isolate started there would get: it shares the caches of the place. */
  at(place: string): KV
  /** Operations so far, and how many of them were refused with 429. */
  readonly ops: Record<'get' | 'put' | 'delete' | 'list' | 'refused', number>
}

interface Row {
  readonly value: string
  readonly metadata: unknown
  readonly until: number
}

/** A put, or a delete if there is no row; where it is listed already. */
interface Change {
  readonly row: Row | undefined
  readonly at: number
  readonly listedFrom: Map<string, number>
}

const bytes = (text: string): number => new TextEncoder().encode(text).length

/**
 * Workers KV that is as eventual as its documentation allows: a place caches what it read, also that there was
 * nothing; lists lag, put by put; own writes usually show at once; the last write wins; a key takes one write a second.
 * The same seed and the same calls give the same answers.
 */
export function eventualKv({
  seed = 1,
  now = Date.now,
  seesOwn = 0.9,
  lagMs = 60_000,
  opsPerInvocation = Infinity,
}: WorldOptions = {}): World {
  const history = new Map<string, Change[]>()
  const caches = new Map<
    string,
    Map<string, { readonly row: Row | undefined; readonly until: number }>
  >()
  const ops = { get: 0, put: 0, delete: 0, list: 0, refused: 0 }
  const random = randomFrom(seed)

  const alive = (row: Row | undefined): Row | undefined =>
    row && row.until > now() ? row : undefined

  function change(place: string, verb: 'PUT' | 'DELETE', key: string, row: Row | undefined): void {
    refuseKey(verb, key)
    const changes = history.get(key) ?? []
    if (now() - (changes.at(-1)?.at ?? -Infinity) < 1000) {
      ops.refused++
      throw new Error(`KV ${verb} failed: 429 Too Many Requests`)
    }
    const shows = random() < seesOwn
    if (shows) caches.get(place)?.delete(key)
    history.set(key, [
      ...changes,
      { row, at: now(), listedFrom: new Map(shows ? [[place, now()]] : []) },
    ])
  }

  function read(place: string, key: string): Row | undefined {
    refuseKey('GET', key)
    const cache = caches.get(place) ?? new Map()
    caches.set(place, cache)
    const cached = cache.get(key)
    if (cached && cached.until > now()) return alive(cached.row)
    const row = history.get(key)?.at(-1)?.row
    cache.set(key, { row, until: now() + lagMs })
    return alive(row)
  }

  /** What a list in a place shows of a key: the newest change that has come through. */
  function listed(place: string, changes: readonly Change[]): Row | undefined {
    const through = changes.findLast(({ at, listedFrom }) => {
      if (!listedFrom.has(place)) listedFrom.set(place, at + random() * lagMs)
      return listedFrom.get(place)! <= now()
    })
    return alive(through?.row)
  }

  return {
    ops,
    at(place) {
      let left = opsPerInvocation
      function count(op: 'get' | 'put' | 'delete' | 'list'): void {
        ops[op]++
        if (left-- <= 0) throw new Error('Too many API requests by single Worker invocation.')
      }
      async function get(keys: string): Promise<string | null>
      async function get(keys: string[]): Promise<Map<string, string | null>>
      async function get(
        keys: string | string[],
      ): Promise<string | null | Map<string, string | null>> {
        count('get')
        if (typeof keys === 'string') return read(place, keys)?.value ?? null
        if (keys.length > 100)
          throw new Error('KV GET_BULK failed: 400 You can request a maximum of 100 keys')
        const found = new Map(keys.map((key) => [key, read(place, key)?.value ?? null]))
        if (bytes([...found.values()].join('')) > 25 * 1024 * 1024)
          throw new Error('KV GET_BULK failed: 413 Total size of request exceeds the limit of 25MB')
        return found
      }
      return {
        get,
        async put(key, value, { expirationTtl = Infinity, metadata = null } = {}) {
          count('put')
          if (expirationTtl < 60)
            throw new Error(
              `KV PUT failed: 400 Invalid expiration_ttl of ${expirationTtl}. Expiration TTL must be at least 60.`,
            )
          if (bytes(value) > 25 * 1024 * 1024)
            throw new Error(
              `KV PUT failed: 413 Value length of ${bytes(value)} exceeds limit of 26214400.`,
            )
          const length = bytes(JSON.stringify(metadata))
          if (length > 1024)
            throw new Error(
              `KV PUT failed: 413 Metadata length of ${length} exceeds limit of 1024.`,
            )
          change(place, 'PUT', key, { value, metadata, until: now() + expirationTtl * 1000 })
        },
        async delete(key) {
          count('delete')
          change(place, 'DELETE', key, undefined)
        },
        async list({ prefix, cursor, limit = 1000 }) {
          count('list')
          if (!(limit >= 1 && limit <= 1000))
            throw new Error(`KV GET failed: 400 Invalid key_count_limit of ${limit}.`)
          const [under, after = ''] = cursor ? (JSON.parse(cursor) as string[]) : [prefix]
          if (under !== prefix) throw new Error('KV GET failed: 400 Invalid cursor.')
          const names = [...history.keys()]
            .filter((name) => name.startsWith(prefix) && name > after)
            .toSorted()
          // What was deleted takes room in a page and isn't shown, so a page may be empty and not the last.
          const page = names.slice(0, limit)
          const keys = page.flatMap((name) => {
            const row = listed(place, history.get(name)!)
            return row ? [{ name, metadata: row.metadata }] : []
          })
          if (page.length === names.length) return { keys, list_complete: true }
          return { keys, list_complete: false, cursor: JSON.stringify([prefix, page.at(-1)]) }
        },
      }
    },
  }
}

function refuseKey(verb: string, key: string): void {
  if (key === '' || key === '.' || key === '..') throw new TypeError('Key name cannot be empty.')
  if (bytes(key) <= 512) return
  throw new Error(
    `KV ${verb} failed: 414 UTF-8 encoded length of ${bytes(key)} exceeds key length limit of 512.`,
  )
}

/** The same numbers from 0 to 1 for a seed. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x9e3779b9) >>> 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32
  }
}
