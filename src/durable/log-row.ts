import type { Json } from '../schema.ts'
import { read, write, type Cell } from './codec.ts'
import { readRow } from './row.ts'

/**
 * One event as a log keeps it. A task is told by its number among those of its row. A number alone: twice the task's, it
 * starts; one more, it ends; that below zero, it ends with a result from the cache. In pairs: a later attempt of a task starts, or a node ran into a new pause. In threes: a node
 * emitted something.
 */
export type Logged =
  | number
  | readonly [task: number, attempt: number]
  | readonly [node: string, pause: string]
  | readonly [task: number, what: 'data', data: Cell]

/** Events of a step that were stored before it closed, or with something emitted among them. Written once. */
export interface LogRow {
  readonly run: string
  readonly step: number
  /** The `seq` of the first; the row is named after the last. */
  readonly first: number
  /** Ids of tasks. */
  readonly tasks: readonly string[]
  readonly log: readonly Logged[]
}

/**
 * A task whose end a checkpoint reports: its key, what it changed, and its id where that doesn't follow from the
 * checkpoint before. Of a change: a field that holds it now; a list with how much was added to it or done to its messages; or a field and what was
 * returned for it, where a reducer made something else of it.
 */
export type Ran = readonly [key: string, changes: readonly Change[], id?: string]
export type Change =
  | string
  | readonly [list: string, count: number]
  | readonly [field: string, how: 'as', update: Json]

/** The text of a row of the log. */
export const logText = (row: LogRow): string =>
  JSON.stringify({
    ...row,
    log: row.log.map((one) => (isData(one) ? [one[0], one[1], write(one[2])] : one)),
  })

/** Reads a row of the log back, or throws `Unreadable`. */
export const readLog = (text: string): LogRow =>
  readRow(text, 'a row of its log', (row: LogRow) => ({
    ...row,
    log: row.log.map((one) =>
      isData(one) ? ([one[0], 'data', read(one[2] as Json)] as const) : one,
    ),
  }))

const isData = (one: Logged): one is readonly [task: number, what: 'data', data: Cell] =>
  typeof one === 'object' && one[1] === 'data'

/** Whether it tells that a node ran into a question or a timer. */
export const isPause = (one: Logged): one is readonly [node: string, pause: string] =>
  typeof one === 'object' && typeof one[0] === 'string'

/** Where the fields of a state stand that are stored as what was added. */
type Kinds = readonly { readonly name: string; readonly kind: string }[]

/** What is kept of a task's update in the checkpoint that it leads to. */
export const changesOf = (
  update: readonly (readonly [field: number, value: Cell | readonly Cell[]])[],
  fields: Kinds,
): Change[] =>
  update.map(([i, value]) => {
    const { name, kind } = fields[i] as Kinds[number]
    if (kind === 'list' || kind === 'messages') return [name, (value as readonly Cell[]).length]
    return kind === 'plain' ? name : [name, 'as', write(value as Cell)]
  })
