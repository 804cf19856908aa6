import type { Batch, Check, Entry, Key, Put, Revision, Store } from '../../src/index.ts'
import {
  entryOf,
  type KV,
  type Listed,
  newRevision,
  pages,
  readListed,
  remember,
  remove,
  sixAtOnce,
  timeOf,
  writeRow,
} from './rows.ts'

/** Heads in KV, the only rows that change. */
interface Heads extends Pick<Store, 'get' | 'list' | 'clear'> {
  /** Looks at the checks; what comes back writes. `undefined`, now or then: a check failed. */
  prepare(changes: Changes): Promise<(() => Promise<Revision | undefined>) | undefined>
}

/** What a commit does to heads. */
interface Changes extends Batch {
  readonly checks: readonly Check[]
  readonly puts: readonly Put[]
  readonly deletes: readonly Key[]
}

/** The newest version of a head. No text: it was deleted at that revision. */
interface Head {
  readonly revision: Revision
  readonly text?: string
  /** Versions that may still be there, itself included, newest first. */
  readonly versions: readonly Revision[]
}

/** The newest of what KV lists and what we wrote; and what KV lists. */
interface Seen {
  readonly head?: Head | undefined
  readonly listed: readonly Revision[]
}

/** Between a head's key and its revision. Sorts before all that a key may contain, so heads sort as their keys do. */
export const MARK = '\t'
/** How long a head of ours that KV doesn't list is believed in. Lists lag a minute or more; later it was deleted elsewhere. */
const BELIEVED_MS = 600_000
/** A version younger than this stays: KV takes one write a second for a key. */
const SETTLED_MS = 1000
/** How many heads are remembered for a binding. */
const REMEMBERED = 1000

/** By binding, not by store: a Worker makes a store for each request. */
const memories: WeakMap<KV, Map<string, Head>> = /* @__PURE__ */ new WeakMap()

/**
 * Heads as versions in KV, each under its own name and written once: nothing is refused for coming too soon, and no
 * stale copy is read. The version before the newest is kept, as a place may see a delete before the put it goes with.
 *
 * @param kv The binding
 * @param prefix Goes before every key
 */
export function versions(kv: KV, prefix: string): Heads {
  const own = memories.get(kv) ?? new Map<string, Head>()
  memories.set(kv, own)
  const nameOf = (key: Key): string => prefix + key + MARK

  const note = (name: string, head: Head | undefined): void => remember(own, REMEMBERED, name, head)

  /** The newer of a version that was listed and one of our own. */
  function newer(name: string, listed: Head | undefined): Head | undefined {
    const ours = own.get(name)
    const oldest = listed?.revision ?? newRevision(Date.now() - BELIEVED_MS)
    return ours && ours.revision <= oldest ? ours : listed
  }

  async function look(key: Key): Promise<Seen> {
    const name = nameOf(key)
    const rows: Listed[] = []
    for await (const { keys } of pages(kv, name)) rows.push(...keys)
    const listed = rows.map((row) => row.name.slice(name.length))
    const [revision] = listed
    const head = newer(name, revision ? { revision, versions: listed } : undefined)
    if (!head || head === own.get(name)) return { head, listed }
    const text = (await readListed(kv, rows.slice(0, 1))).get(name + revision)
    // Not absent: nobody may take a head that moves for one that isn't there.
    if (text == null) throw new Error(`Cannot read "${key}": it moved out of sight`)
    return { head: { ...head, text }, listed }
  }

  const get = (keys: readonly Key[]): Promise<(Entry | undefined)[]> =>
    sixAtOnce(keys, async (key) => entryOf(key, (await look(key)).head?.text))

  /** Keys of heads under a prefix, in order. Like any list it may lag. */
  async function keysUnder(under: Key): Promise<readonly Key[]> {
    const found = new Set<Key>()
    for await (const { keys } of pages(kv, prefix + under)) {
      for (const { name } of keys) found.add(name.slice(prefix.length).split(MARK)[0]!)
    }
    return [...found]
  }

  const heads: Heads = {
    get,
    async list({ prefix: under, after = '', limit }) {
      const keys = (await keysUnder(under)).filter((key) => key > after)
      // All of them: those that were deleted don't count. The core lists no heads.
      const found = await get(keys)
      return found.flatMap((entry) => entry ?? []).slice(0, limit)
    },
    async clear(under) {
      const deletes = await keysUnder(under)
      const write = await heads.prepare({ checks: [], puts: [], deletes })
      await write?.()
    },
    async prepare({ checks, puts, deletes }) {
      const touched = [...[...checks, ...puts].map(({ key }) => key), ...deletes]
      const seen = new Map(
        await sixAtOnce([...new Set(touched)], async (key) => [key, await look(key)] as const),
      )
      const head = (key: Key): Head | undefined => seen.get(key)!.head
      const failed = (): boolean =>
        checks.some(({ key, revision }) => {
          const newest = newer(nameOf(key), head(key))
          return entryOf(key, newest?.text)?.revision !== revision
        })
      if (failed()) return undefined

      return async () => {
        // Writers of one isolate settle it here, without a pause. Between places nothing can.
        if (failed()) return undefined
        const now = Date.now()
        const past = touched.flatMap((key) => head(key)?.revision ?? [])
        const revision = newRevision(Math.max(now, ...past.map((old) => timeOf(old) + 1)))
        const work: (() => Promise<unknown>)[] = []
        for (const put of puts) {
          const name = nameOf(put.key)
          const before = own.get(name)
          const old = head(put.key)?.versions ?? []
          const kept = old.filter((version, n) => !n || timeOf(version) > now - SETTLED_MS)
          const next = { revision, text: revision + put.value, versions: [revision, ...kept] }
          note(name, next)
          const undo = (error: unknown): never => {
            if (own.get(name) === next) note(name, before)
            throw error
          }
          work.push(() => writeRow(kv, name + revision, revision, put).catch(undo))
          for (const version of old) {
            // One that stays is garbage, no more.
            if (!kept.includes(version)) work.push(() => kv.delete(name + version).catch(() => {}))
          }
        }
        for (const key of deletes) {
          const name = nameOf(key)
          const old = new Set([...(head(key)?.versions ?? []), ...seen.get(key)!.listed])
          const names = [...old].map((version) => name + version)
          note(name, { revision, versions: [] })
          work.push(() => remove(kv, names))
        }
        await sixAtOnce(work, (one) => one())
        return revision
      }
    },
  }
  return heads
}
