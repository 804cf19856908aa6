import type { Batch, Check, Entry, Key, Put, Revision, Store } from '../../src/store/store.ts'
import {
  entryOf,
  type KV,
  type Listed,
  newRevision,
  pages,
  readListed,
  remove,
  REVISION,
  sixAtOnce,
  timeOf,
  writeRow,
} from './rows.ts'

/** Where heads are kept, the only rows that change. */
export interface Heads extends Pick<Store, 'get' | 'list' | 'clear'> {
  /** Looks at the checks; what comes back writes. `undefined`, now or then: a check failed. */
  prepare(changes: Changes): Promise<(() => Promise<Revision | undefined>) | undefined>
}

/** What a commit does to heads. */
export interface Changes extends Batch {
  readonly checks: readonly Check[]
  readonly puts: readonly Put[]
  readonly deletes: readonly Key[]
}

/** The newest version of a head. No text: it was deleted at that revision. */
interface Head {
  readonly revision: Revision
  readonly text?: string | undefined
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

  function note(name: string, head: Head | undefined): void {
    own.delete(name)
    if (head) own.set(name, head)
    if (own.size > REMEMBERED) own.delete(own.keys().next().value!)
  }

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
    if (text === undefined) throw new Error(`Cannot read "${key}": it moved out of sight`)
    return { head: { ...head, text }, listed }
  }

  async function get(keys: readonly Key[]): Promise<readonly (Entry | undefined)[]> {
    const found = new Map<Key, Entry | undefined>()
    await sixAtOnce(keys, async (key) => found.set(key, entryOf(key, (await look(key)).head?.text)))
    return keys.map((key) => found.get(key))
  }

  /** Keys of heads under a prefix, in order, our own that aren't listed yet included. */
  async function keysUnder(under: Key): Promise<readonly Key[]> {
    const names = [...own.keys()].filter((name) => name.startsWith(prefix + under))
    for await (const { keys } of pages(kv, prefix + under)) {
      names.push(...keys.map(({ name }) => name.slice(0, -REVISION)))
    }
    return [...new Set(names)].map((name) => name.slice(prefix.length, -1)).toSorted()
  }

  const heads: Heads = {
    get,
    async list({ prefix: under, after = '', limit }) {
      const found: Entry[] = []
      for (const key of await keysUnder(under)) {
        if (found.length >= limit) break
        const [entry] = key > after ? await get([key]) : []
        if (entry) found.push(entry)
      }
      return found
    },
    async clear(under) {
      const deletes = await keysUnder(under)
      const write = await heads.prepare({ checks: [], puts: [], deletes })
      await write?.()
    },
    async prepare({ checks, puts, deletes }) {
      const seen = new Map<Key, Seen>()
      const touched = [...[...checks, ...puts].map(({ key }) => key), ...deletes]
      await sixAtOnce([...new Set(touched)], async (key) => seen.set(key, await look(key)))
      const head = (key: Key): Head | undefined => seen.get(key)!.head
      const differs = ({ key, revision }: Check): boolean =>
        entryOf(key, head(key)?.text)?.revision !== revision
      if (checks.some(differs)) return undefined

      return async () => {
        // Writers of one isolate settle it here, without a pause. Between places nothing can.
        const moved = ({ key }: Check): boolean =>
          newer(nameOf(key), head(key))?.revision !== head(key)?.revision
        if (checks.some(moved)) return undefined
        const now = Date.now()
        const revision = newRevision(
          Math.max(now, ...touched.map((key) => timeOf(head(key)?.revision) + 1)),
        )
        const work: (() => Promise<unknown>)[] = []
        for (const put of puts) {
          const name = nameOf(put.key)
          const before = own.get(name)
          const old = head(put.key)?.versions ?? []
          const kept = old.filter((version, n) => !n || timeOf(version) > now - SETTLED_MS)
          const next = { revision, text: revision + put.value, versions: [revision, ...kept] }
          note(name, next)
          work.push(async () => {
            try {
              await writeRow(kv, name + revision, revision, put)
            } catch (error) {
              if (own.get(name) === next) note(name, before)
              throw error
            }
          })
          for (const version of old) {
            // One that stays is garbage, no more.
            if (!kept.includes(version)) work.push(() => kv.delete(name + version).catch(() => {}))
          }
        }
        for (const key of deletes) {
          const name = nameOf(key)
          const gone = new Set([...(head(key)?.versions ?? []), ...seen.get(key)!.listed])
          note(name, { revision, versions: [] })
          work.push(() =>
            remove(
              kv,
              [...gone].map((version) => name + version),
            ),
          )
        }
        await sixAtOnce(work, (one) => one())
        return revision
      }
    },
  }
  return heads
}
