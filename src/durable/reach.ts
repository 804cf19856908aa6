import type { Key } from '../store/store.ts'
import { readCheckpoint, type Checkpoint } from './checkpoint.ts'
import { Unreadable } from './codec.ts'
import type { Head } from './head.ts'
import { journalRows, readEntries, type Entry } from './journal.ts'
import { checkpointIn, logKey, numberOf, pauseKey, runKey, toldBy } from './keys.ts'
import { rowsOf, type LogRef } from './log.ts'
import { readPause } from './pause.ts'
import { readRow } from './row.ts'
import { readEnd, readStart } from './run-record.ts'
import type { StateRefs } from './refs.ts'

/** The texts of a thread's rows by their keys under its root, in the order of the keys. */
export type ThreadRows = ReadonlyMap<Key, string>

/** Whether a checkpoint is kept that nothing under way needs. Its row is read only if it is asked for. */
export type Keeps = (id: string, space: string, row: () => Checkpoint) => boolean

/** What of a head says where a thread stands. */
type Standing = Pick<Head, 'checkpoint' | 'journal' | 'entries' | 'open' | 'run' | 'runNumber'>

/** What of a thread's rows something leads to. */
export interface Reach {
  /** The names of the rows that what is kept needs or is told by. */
  readonly needed: ReadonlySet<Key>
  /** Checkpoints that are kept. */
  readonly checkpoints: ReadonlyMap<string, Checkpoint>
  /** The journal of the step under way. */
  readonly journal: readonly Entry[]
}

/** The logs that the values of a state are in. */
export const refsOf = ({ p, l, m }: StateRefs): LogRef[] => [
  ...(p ? [p] : []),
  ...Object.values({ ...l }),
  ...Object.values({ ...m }),
]

/**
 * Follows a thread's rows from its head, the step under way and the checkpoints that are kept.
 *
 * @throws Unreadable if something has to be followed that can't be read
 */
export function reach(head: Standing, rows: ThreadRows, keeps: Keeps): Reach {
  const needed = new Set<Key>()
  const checkpoints = new Map<string, Checkpoint>()
  /** When the oldest of the thread's own graph was made, and the first event of each namespace. */
  let since = Infinity
  const firsts = new Map<string, number>()
  const runs = new Set<string>()
  const ofKind = (kind: string): (readonly [key: Key, text: string])[] =>
    [...rows].filter(([key]) => key.startsWith(`${kind}/`))
  const stored = new Map(ofKind('c').map((row) => [checkpointIn(row[0]), row]))
  const trails = ofKind('f')

  function keep(id: string): void {
    const [key, text] = stored.get(id) ?? []
    if (key === undefined || text === undefined || checkpoints.has(id)) return
    const row = readCheckpoint(text, id)
    checkpoints.set(id, row)
    needed.add(key)
    for (const ref of refsOf(row.state))
      for (const [at, count] of rowsOf(ref)) needed.add(logKey('', ref[0], at, count))
    const space = key.split('/')[1] as string
    firsts.set(space, Math.min(firsts.get(space) ?? Infinity, row.seq[0]))
    if (space === '-') {
      since = Math.min(since, numberOf(id))
      runs.add(row.run)
    }
    // Another branch may go on where the children of its tasks stood.
    const steps = new Set(row.next.map((task) => task.id.slice(0, task.id.indexOf('.'))))
    for (const [name, positions] of trails) {
      if (!steps.has(name.split('/')[1] as string) || needed.has(name)) continue
      needed.add(name)
      for (const [, , at] of readRow<readonly string[][]>(positions, 'where its children stood'))
        keep(at as string)
    }
  }

  const journalKeys = journalRows({ root: '', head })
  const journal = readEntries(journalKeys.flatMap((key) => rows.get(key) ?? []))
  const pauses = new Set(head.open.map(({ id }) => id))
  const live = [head.checkpoint]
  for (const entry of journal)
    if (entry.kind === 'child') live.push(entry.value as string)
    else if (entry.kind !== 'result' && entry.pause) pauses.add(entry.pause)
  for (const key of journalKeys) needed.add(key)
  for (const id of live) {
    if (!stored.has(id)) throw new Unreadable(`the row of checkpoint "${id}" is missing`)
    keep(id)
  }
  for (const [id, [key, text]] of stored)
    if (keeps(id, key.split('/')[1] as string, () => readCheckpoint(text, id))) keep(id)

  for (const [key, space] of ofKind('b')) if (firsts.has(space)) needed.add(key)
  for (const [key] of ofKind('e')) {
    const [, space, last] = key.split('/') as [string, string, string]
    if (Number.parseInt(last, 36) >= (firsts.get(space) ?? Infinity)) needed.add(key)
  }

  // The run under way, and all since the first that a checkpoint names; newest first.
  let oldest = runKey('', head.runNumber)
  if (head.run) needed.add(oldest)
  for (const [key, text] of ofKind('r'))
    if (key > oldest && toldBy(key) === 'start' && runs.has(readStart(text).id)) oldest = key
  for (const [key, text] of ofKind('r')) {
    if (key > `${oldest}/`) break
    needed.add(key)
    const told = toldBy(key)
    if (told === 'end') for (const id of readEnd(text).open ?? []) pauses.add(id)
    if (told === 'start') runs.add(readStart(text).id)
  }
  for (const [key, text] of ofKind('k')) if (runs.has(JSON.parse(text) as string)) needed.add(key)

  for (const id of pauses) needed.add(pauseKey('', id))
  for (const [key, text] of ofKind('i')) {
    // The end of a pause comes after its beginning.
    const isEnd = key.endsWith('.a')
    const { n, checkpoint } = isEnd ? { n: 0, checkpoint: '' } : readPause(text)
    const isOfNeeded = isEnd && needed.has(key.slice(0, -'.a'.length))
    if (isOfNeeded || n > since || checkpoints.has(checkpoint)) needed.add(key)
  }
  return { needed, checkpoints, journal }
}
