import { read, write, type Cell } from './codec.ts'
import type { Logged, Ran } from './log-row.ts'
import { readRow } from './row.ts'
import type { StateRefs } from './refs.ts'

/** A task that is to run: one execution of a node. */
export interface Task {
  /** The node's name, with `#` and a number for a task of an `each`. */
  readonly key: string
  /** The same on re-entry and recovery, new in a fork. */
  readonly id: string
  readonly item?: Cell | undefined
}

/** A part of a thread's own numbers that a branch left behind: those after the first, up to the second. */
export type Cut = readonly [after: number, upTo: number]

/** Tells what a branch didn't leave behind. */
export const notCut =
  (cuts: readonly Cut[]) =>
  ({ n }: { readonly n: number }): boolean =>
    !cuts.some(([after, upTo]) => n > after && n <= upTo)

/** A join that some of those it waits for have reached. */
export type Join = readonly [node: string, arrived: readonly string[], after: readonly string[]]

/** A thread, or a child graph in one, between two steps. Written once. */
export interface Checkpoint {
  readonly id: string
  readonly parent?: string | undefined
  readonly ns: readonly string[]
  readonly step: number
  readonly source: 'input' | 'step' | 'fork' | 'update'
  readonly run: string
  readonly time: number
  /** What runs next; `start` alone: the way out of `start` is not known yet. */
  readonly next: readonly Task[]
  /** Which predecessors of a join have arrived, by node, and whom it waits for in all. */
  readonly joins?: readonly Join[] | undefined
  readonly state: StateRefs
  /** The graph's at that time. @default 1 */
  readonly version?: number | undefined
  /** What the branches on the way here left behind. Nobody can answer what was asked there. */
  readonly cuts?: readonly Cut[] | undefined
  /** The first `seq` of the events that it reports and the next after them. The last one is the end of its step. */
  readonly seq: readonly [first: number, next: number]
  /** The tasks that ran in its step, in order. */
  readonly ran?: readonly Ran[] | undefined
  /** What it reports before the end of the step. @default every task starts, then every task ends */
  readonly log?: readonly Logged[] | undefined
}

/** The node of a task's key. */
export const nodeOf = (key: string): string => {
  const at = key.indexOf('#')
  return at < 0 ? key : key.slice(0, at)
}

/** A checkpoint as it is written: without what its name says and what is usual. */
type Written = Omit<Checkpoint, 'id' | 'ns' | 'source' | 'next'> & {
  readonly ns?: readonly string[]
  readonly source?: Checkpoint['source']
  readonly next: readonly (string | Task)[]
}

/** The text of a checkpoint. A task is its name alone when its id follows from that. */
export const checkpointText = (row: Checkpoint): string =>
  JSON.stringify({
    ...row,
    id: undefined,
    ns: row.ns.length > 0 ? row.ns : undefined,
    source: row.source === 'step' ? undefined : row.source,
    next: row.next.map(({ key, id, item }) => {
      const known = id === `${row.id}.${key}`
      if (known && item === undefined) return key
      // What is falsy is written as it is.
      return { key, id: known ? undefined : id, item: item && write(item) }
    }),
  })

/** Reads the checkpoint of that name back, or throws `Unreadable`. */
export const readCheckpoint = (text: string, named: string): Checkpoint =>
  readRow(text, 'its row', ({ ns = [], source = 'step', ...row }: Written): Checkpoint => {
    const next = row.next.map((task): Task => {
      const { key, id = `${named}.${key}`, item } = typeof task === 'string' ? { key: task } : task
      return { key, id, item: item && read(item) }
    })
    return { ...row, id: named, ns, source, next }
  })
