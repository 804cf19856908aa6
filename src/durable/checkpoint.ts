import type { Json } from '../schema.ts'
import { read, Unreadable, write, type Cell } from './codec.ts'
import { isLogRef } from './log.ts'
import { isCount, isList, isMaybe, isObject, isText, isTexts, isTime, readRow } from './row.ts'
import type { StateRefs } from './state.ts'

/** A task that is to run: one execution of a node. */
export interface Task {
  /** The node's name, with `#` and a number for a task of an `each`. */
  readonly key: string
  /** The same on re-entry and recovery, new in a fork. */
  readonly id: string
  readonly item?: Cell | undefined
}

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
  /** Which predecessors of a join have arrived, by node. */
  readonly joins?: readonly (readonly [node: string, arrived: readonly string[]])[] | undefined
  readonly state: StateRefs
  /** The first `seq` of the events of its step and the next after them, and the tasks that ran in it, in order. */
  readonly seq: readonly [first: number, next: number]
  readonly ran: readonly string[]
}

/** The node of a task's key. */
export const nodeOf = (key: string): string => {
  const at = key.indexOf('#')
  return at < 0 ? key : key.slice(0, at)
}

/** The text of a checkpoint. Written for every step, so by hand: ids and instants need no escapes. */
export function checkpointText(row: Checkpoint): string {
  const { id, parent, ns, step, source, run, time, next, joins, state, seq, ran } = row
  const tasks = next.map(({ key, id: own, item }) => {
    const known = own === `${id}.${key}`
    if (known && item === undefined) return quoted(key)
    const rest = item === undefined ? '' : `,${JSON.stringify(write(item))}`
    return `[${quoted(key)},${known ? null : quoted(own)}${rest}]`
  })
  const text = (name: string, value: unknown): string =>
    value === undefined ? '' : `,"${name}":${JSON.stringify(value)}`
  const { p } = state
  return `{"id":"${id}","step":${step},"source":"${source}","time":${time},"seq":[${seq}],"run":${quoted(run)},"ns":[${ns.map(quoted)}],"ran":[${ran.map(quoted)}],"next":[${tasks}]${text('parent', parent)}${text('joins', joins)}${p ? `,"p":["${p[0]}",${p.slice(1)}]` : ''}${text('l', state.l)}}`
}

/** A string as JSON; most are names that need no escapes. */
const quoted = (text: string): string =>
  /^[\w.#-]*$/.test(text) ? `"${text}"` : JSON.stringify(text)

/** Reads the checkpoint of that name back, or throws `Unreadable`. */
export function readCheckpoint(text: string, named: string): Checkpoint {
  const row = readRow<Omit<Checkpoint, 'next' | 'state'> & { next: StoredTask[] } & StateRefs>(
    text,
    isCheckpoint,
    'its row',
  )
  if (row.id !== named) throw new Unreadable('its row is that of another checkpoint')
  const { p, l, next, ...rest } = row
  const tasks = next.map((task): Task => {
    if (isText(task)) return { key: task, id: `${row.id}.${task}`, item: undefined }
    const [key, id, ...item] = task
    return { key, id: id ?? `${row.id}.${key}`, item: item.length > 0 ? read(item[0]) : undefined }
  })
  return { ...rest, next: tasks, state: { p, l } }
}

type StoredTask = string | readonly [key: string, id: string | null, ...item: Json[]]

const isTask = (task: StoredTask): boolean =>
  isText(task) || (Array.isArray(task) && isText(task[0]) && (task[1] === null || isText(task[1])))

const isJoin = (join: readonly unknown[]): boolean =>
  Array.isArray(join) && isText(join[0]) && isTexts(join[1])

const isCheckpoint = (row: Record<keyof Checkpoint | keyof StateRefs, unknown>): boolean =>
  isObject(row) &&
  isText(row.id) &&
  isCount(row.step) &&
  isText(row.source) &&
  isTime(row.time) &&
  isText(row.run) &&
  isList(row.seq, isCount) &&
  isTexts(row.ns) &&
  isTexts(row.ran) &&
  isList(row.next, isTask) &&
  isMaybe(row.parent, isText) &&
  isMaybe(row.joins, (joins) => isList(joins, isJoin)) &&
  isMaybe(row.p, isLogRef) &&
  isMaybe(
    row.l,
    (lists: object) => isObject(lists) && Object.values(lists).every(isLogRef as never),
  )
