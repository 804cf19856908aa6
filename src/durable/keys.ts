import { digest } from '../lib/digest.ts'
import { ascending, descending } from '../lib/ids.ts'
import type { Key } from '../store/store.ts'

/** The longest encoded name of a graph, tenant or thread; longer ones are told by digest. Keeps every key under 256 bytes. */
const LONGEST = 44

/**
 * A name as part of a key. Injective for every string: `~` is followed by four hex digits, by `e` alone or by `h` and a
 * digest. The result is ASCII, so UTF-16, UTF-8 and SQL order agree.
 */
export function part(name: string): string | Promise<string> {
  if (name === '') return '~e'
  const text = name.replace(
    /[^A-Za-z0-9_-]/g,
    (unit) => `~${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return text.length <= LONGEST ? text : digest(name).then((hex) => `~h${hex}`)
}

/** Where the rows of one thread are. `place` is its tenant and name, encoded. */
export interface Address {
  readonly graph: string
  readonly tenant: string
  readonly place: string
}

/** Encodes the names that keys are made of. */
export async function address(graph: string, tenant: string, thread: string): Promise<Address> {
  const [g, t, name] = await Promise.all([part(graph), part(tenant), part(thread)])
  return { graph: g, tenant: t, place: `${t}.${name}` }
}

/** An instant as a key part; earlier ones sort first. */
const instant = (ms: number): string => ascending(Math.max(0, ms), 11)

/** The instant in a due row's key. */
export const instantOf = (key: Key): number => Number.parseInt(key.split('/')[2] as string, 36)

/** The one row of a thread that changes. */
export const headKey = (place: string): Key => `h/${place}`

/** Says that a thread's run is to be stopped, where its owner can't be outrun. Kept where heads are, as it changes. */
export const stopKey = (place: string): Key => `${headKey(place)}/q`

/** Everything of one incarnation of a thread, its index rows apart. */
export const rootPrefix = (place: string, born: string): Key => `t/${place}.${born}/`

/** Checkpoints of a namespace, newest first. */
export const checkpointPrefix = (root: Key, ns: string): Key => `${root}c/${ns}/`
/** The number in a checkpoint's id: it rises in the order in which a thread's checkpoints, runs and pauses were made. */
export const numberOf = (id: string): number => Number.parseInt(id.slice(0, 10), 36)
/** An id, newer ones first; and back. */
const newestFirst = (id: string): string => descending(numberOf(id)) + id.slice(10)
/** One checkpoint. */
export const checkpointKey = (root: Key, ns: string, id: string): Key =>
  checkpointPrefix(root, ns) + newestFirst(id)

/** The id of the checkpoint under a key. */
export const checkpointIn = (key: Key): string => newestFirst(key.slice(-14))

/** Where the rows of a child graph are, by its path and newest first: a node may run many. */
export const spacePrefix = async (root: Key, ns: readonly string[]): Promise<Key> =>
  `${root}b/${await digest(JSON.stringify(ns))}/`
/** The one whose first checkpoint is this. */
export const spaceKey = async (root: Key, ns: readonly string[], first: string): Promise<Key> =>
  (await spacePrefix(root, ns)) + newestFirst(first)
/** The name of a child graph's rows: which task runs it, and in which place. */
export const spaceOf = (task: string, place: string): Promise<string> => digest(`${task}/${place}`)

/** Where the child graphs of a step's tasks stood when the task paused for the first time, by task. */
export const trailKey = async (root: Key, task: string): Promise<Key> => {
  const end = task.indexOf('.')
  return `${root}f/${task.slice(0, end)}/${await part(task.slice(end + 1))}`
}

/** Events of a namespace that no checkpoint reports, in order; a row is named after its last. */
export const eventPrefix = (root: Key, ns: string): Key => `${root}e/${ns}/`
export const eventKey = (root: Key, ns: string, last: number): Key =>
  eventPrefix(root, ns) + ascending(last, 11)

/** `count` updates of a generation from number `at` on. */
export const logKey = (root: Key, generation: string, at: number, count: number): Key =>
  `${root}s/${generation}/${ascending(at, 6)}.${ascending(count, 5)}`

/** One entry of the journal of a step. */
export const journalKey = (root: Key, step: string, n: number): Key =>
  `${root}w/${step}/${ascending(n, 6)}`

/** Runs, newest first: `<n>` when it began, `<n>.e` when it ended, `<n>.m…` for each model that served it. */
export const runPrefix = (root: Key): Key => `${root}r/`
export const runKey = (root: Key, n: number): Key => runPrefix(root) + descending(n)
/** A model that served a run; `at` is higher than that of those before. */
export const servedKey = (root: Key, n: number, at: number): Key =>
  `${runKey(root, n)}.m${ascending(at)}`
/** What a row of a run tells. */
export const toldBy = (key: Key): 'start' | 'end' | 'model' =>
  key.endsWith('.e') ? 'end' : key.includes('.m', key.lastIndexOf('/')) ? 'model' : 'start'

/** Which run a request has started that carried this key. */
export const idempotencyKey = async (root: Key, key: string): Promise<Key> =>
  `${root}k/${await part(key)}`

/** Questions and timers: `<id>` as asked, `<id>.a` as settled. */
export const pausePrefix = (root: Key): Key => `${root}i/`
export const pauseKey = (root: Key, id: string): Key => pausePrefix(root) + id

/** What is due, earliest first. */
export const duePrefix = ({ graph }: Pick<Address, 'graph'>): Key => `d/${graph}/`
/** What is due after an instant comes after this. */
export const dueAfter = (prefix: Key, ms: number): Key => prefix + instant(Math.floor(ms) + 1)
export const dueKey = (at: Address, ms: number, what: string): Key =>
  `d/${at.graph}/${instant(ms)}/${at.place}/${what}`

/** Open questions of a tenant, oldest first. */
export const inboxPrefix = ({ graph, tenant }: Pick<Address, 'graph' | 'tenant'>): Key =>
  `o/${graph}/${tenant}/`
export const inboxKey = (at: Address, n: number, id: string): Key =>
  `${inboxPrefix(at)}${ascending(n)}/${at.place}/${id}`

/** Threads of a tenant, newest first. */
export const directoryPrefix = ({ graph, tenant }: Pick<Address, 'graph' | 'tenant'>): Key =>
  `n/${graph}/${tenant}/`
export const directoryKey = (at: Address, created: number): Key =>
  `${directoryPrefix(at)}${descending(created)}/${at.place}`

/** An entry of a cache: named after its own key, which may be any text. */
export const cachedKey = async (prefix: string, key: string): Promise<Key> =>
  `c/${await part(prefix)}/${await digest(key)}`

/** What kind of row of a thread or a cache is under a key: its letter (of an entry, a hex digit), or none if it is another row. */
const kindOf = (key: Key): string | undefined =>
  /^[ct]\//.test(key) ? key[key.indexOf('/', 2) + 1] : undefined
/** Piece `n` of the text of a row, beside the other rows of the thread or cache. */
export function pieceKey(key: Key, n: number): Key {
  const at = key.indexOf('/', 2) + 1
  return `${key.slice(0, at)}x/${key.slice(at)}.${n}`
}
export const isPiece = (key: Key): boolean => kindOf(key) === 'x'
/** Whether it is a row of history: a checkpoint, or the record of a run. */
export const isListed = (key: Key): boolean => /[cr]/.test(kindOf(key) ?? '')
/** Whether the row may lie in pieces. Those of a journal don't: they are removed without being read. */
export const isCuttable = (key: Key): boolean => !/[wx]/.test(kindOf(key) ?? 'x')
/** Piece `n` of a part of a head. */
export const headPieceKey = (root: Key, id: string, n: number): Key => `${root}x/h/${id}.${n}`
