import { nodeOf, readCheckpoint, type Checkpoint } from '../durable/checkpoint.ts'
import type { Claim } from '../durable/claim.ts'
import { decode, read } from '../durable/codec.ts'
import { landing } from '../durable/head.ts'
import { messageIn } from '../durable/list.ts'
import {
  checkpointIn,
  checkpointPrefix,
  eventKey,
  eventPrefix,
  logKey,
  runPrefix,
} from '../durable/keys.ts'
import { isPause, readLog, type Change, type Logged, type LogRow } from '../durable/log-row.ts'
import { rowsOf, type LogRef } from '../durable/log.ts'
import type { PauseRecord } from '../durable/pause.ts'
import { readRow } from '../durable/row.ts'
import { readEnd } from '../durable/run-record.ts'
import type { Json } from '../schema.ts'
import type { StreamEvent } from './event.ts'
import { entriesOf, records, texts } from './find.ts'
import { rows } from './list.ts'
import type { App } from './run.ts'
import { stoodAt } from './stored.ts'
import { pauseEvent } from './suspend.ts'

/** Events that were stored together, and those that were counted before and after them. */
export interface Piece {
  readonly first: number
  readonly next: number
  /** The checkpoint that reports them. */
  readonly row?: Checkpoint
  /** Makes them again from what is stored. */
  events(): Promise<readonly StreamEvent[]>
}

/** Tells again what a namespace of a thread has told after an event, in order: what is stored of it by now. */
export async function recorded(
  app: App,
  claim: Claim,
  space: string,
  ns: readonly string[],
  after: number,
): Promise<readonly Piece[]> {
  const { root } = claim
  const pieces: Piece[] = []
  const logs: LogRow[] = []
  for await (const { value } of rows(app, eventPrefix(root, space), eventKey(root, space, after)))
    logs.push(readLog(value))
  /** Where the tasks of steps have got to that have closed. */
  const closed = new Map<string, readonly [row: Checkpoint, index: number]>()
  for await (const { key, value } of rows(app, checkpointPrefix(root, space))) {
    const row = readCheckpoint(value, checkpointIn(key))
    const [first, next] = row.seq
    if (next <= after + 1) break
    if (first < next) pieces.push({ first, next, row, events: () => ofCheckpoint(claim, row) })
  }
  for (const row of logs) {
    const { first, log } = row
    const events = (): Promise<StreamEvent[]> => ofLog(claim, row, ns, closed)
    pieces.push({ first, next: first + log.length, events })
  }
  if (space === '-') pieces.push(...(await ends(app, claim, after)))
  pieces.sort((a, b) => b.first - a.first)
  const landed = landing(claim.head.seq)
  const there = pieces.filter(({ first, next }) => space !== '-' || landed(first, next))
  for (const { row } of there)
    if (row) for (const [i, id] of tasksOf(row).entries()) closed.set(id, [row, i])
  return there.toReversed()
}

/** That runs have come to their ends. */
async function ends(app: App, claim: Claim, after: number): Promise<Piece[]> {
  const { root } = claim
  const pieces: Piece[] = []
  for await (const { key, value } of rows(app, runPrefix(root))) {
    if (!key.endsWith('.e')) continue
    const { status, checkpoint, seq: next, usage } = readEnd(value)
    if (next <= after + 1) break
    if (status !== 'success') continue
    const events = async (): Promise<StreamEvent[]> => {
      const { run, step, state } = await stoodAt(app, claim, checkpoint)
      return [{ seq: next - 1, run, ns: [], step, kind: 'done', checkpoint, state, usage }]
    }
    pieces.push({ first: next - 1, next, events })
  }
  return pieces
}

const tasksOf = ({ parent, ran = [] }: Checkpoint): string[] =>
  ran.map(([key, , id = `${parent}.${key}`]) => id)

/** The events that a checkpoint reports. */
async function ofCheckpoint(claim: Claim, row: Checkpoint): Promise<StreamEvent[]> {
  const { id, run, ns, step, seq, next, ran = [] } = row
  const tasks = tasksOf(row)
  const usual = [0, 1].flatMap((end) => ran.map((_, i) => 2 * i + end))
  const { log = usual } = row
  const updates = await updatesOf(claim, row)
  const events = await Promise.all(
    log.map(async (logged, i) => ({
      ...{ seq: seq[0] + i, run, ns, step },
      ...(await told(claim, logged, tasks, async (task) => updates[task])),
    })),
  )
  const names = [...new Set(next.map(({ key }) => nodeOf(key)))]
  events.push({ seq: seq[1] - 1, run, ns, step, ...{ kind: 'step', checkpoint: id, next: names } })
  return events as StreamEvent[]
}

/** The events of a row of the log. */
function ofLog(
  claim: Claim,
  { run, step, first, tasks, log }: LogRow,
  ns: readonly string[],
  closed: ReadonlyMap<string, readonly [row: Checkpoint, index: number]>,
): Promise<StreamEvent[]> {
  const update = async (task: number): Promise<unknown> => {
    const id = tasks[task] as string
    const found = closed.get(id)
    return found ? (await updatesOf(claim, found[0]))[found[1]] : pending(claim, id)
  }
  return Promise.all(
    log.map(async (logged, i) => {
      const event = await told(claim, logged, tasks, update)
      return { seq: first + i, run, ns, step, ...event } as unknown as StreamEvent
    }),
  )
}

/** What an event says beside its number. */
async function told(
  claim: Claim,
  logged: Logged,
  tasks: readonly string[],
  update: (task: number) => Promise<unknown>,
): Promise<object> {
  if (isPause(logged)) {
    const [node, pause] = logged
    const [record] = await records(claim, [pause])
    return pauseEvent(claim.head.thread, node, record as PauseRecord)
  }
  const [index, what, data] = typeof logged === 'number' ? [Math.abs(logged) >> 1] : logged
  const task = tasks[index as number] as string
  // A task's id is the checkpoint that it came from, and its key.
  const about = { node: nodeOf(task.slice(task.indexOf('.') + 1)), task }
  if (what === 'data') return { kind: 'backend', ...about, data: decode(data as never) }
  if (typeof logged === 'number' && logged % 2 !== 0) {
    const end = { kind: 'node_end', ...about, update: await update(index as number) }
    return logged < 0 ? { ...end, cached: true } : end
  }
  return { kind: 'node_start', ...about, attempt: what ?? 1 }
}

/** What the tasks of a step returned, from the rows that their fold has made. */
async function updatesOf(claim: Claim, { state, ran = [] }: Checkpoint): Promise<object[]> {
  const { p } = state
  const { m = {} } = state
  const l = { ...state.l, ...m }
  const changes = ran.flatMap(([, of]) => of)
  const last = new Map<LogRef, Readonly<Record<string, Json>>>()
  const lists = changes.flatMap((one) => (isAdded(one) && one[1] > 0 ? one[0] : []))
  const refs = [
    ...(p && changes.some((one) => typeof one === 'string') ? [p] : []),
    ...[...new Set(lists)].map((name) => l[name] as LogRef),
  ]
  const keys = refs.map((ref) => {
    const [at, count] = rowsOf(ref).at(-1) as [number, number]
    return logKey(claim.root, ref[0], at, count)
  })
  for (const [i, text] of (await texts(claim, keys, 'a row of its state')).entries())
    last.set(refs[i] as LogRef, readRow(text, 'a row of its state'))
  /** How many of the last items of each list aren't told yet. */
  const left = new Map<string, number>()
  for (const one of changes) if (isAdded(one)) left.set(one[0], (left.get(one[0]) ?? 0) + one[1])
  const value = (change: Change): readonly [string, unknown] => {
    if (typeof change === 'string') return [change, decode(read(last.get(p as LogRef)?.[change]))]
    const [name, how] = change
    if (how === 'as') return [name, decode(read(change[2]))]
    const items = Object.values(how > 0 ? (last.get(l[name] as LogRef) ?? {}) : {})
    const from = items.length - (left.get(name) as number)
    left.set(name, (left.get(name) as number) - how)
    const cells = items.slice(from, from + how).map(read)
    return [name, (Object.hasOwn(m, name) ? cells.map(messageIn) : cells).map(decode)]
  }
  return ran.map(([, of]) => Object.fromEntries(of.map(value)))
}

const isAdded = (change: Change): change is readonly [list: string, count: number] =>
  typeof change[1] === 'number'

/** What a task returned whose step hasn't closed. */
async function pending(claim: Claim, task: string): Promise<unknown> {
  for (const entry of await entriesOf(claim)) {
    if (entry.kind !== 'result' || entry.task !== task) continue
    const show = (value: unknown): unknown =>
      Array.isArray(value) ? value.map((cell) => decode(cell as never)) : decode(value as never)
    return Object.fromEntries(entry.update.map(([name, value]) => [name, show(value)]))
  }
  return undefined
}
