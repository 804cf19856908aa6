import type { Json } from '../schema.ts'
import { read, write, type Cell } from './codec.ts'
import { isList, isMaybe, isText, isTexts, readRow } from './row.ts'

/**
 * What happened in a step before it closed, so that a re-entered task repeats nothing: finished tasks (`result`), work
 * done `once`, answers, questions that expired or were opened again, timers that fired, waits that were over at once, and where child graphs stand.
 */
export type Entry = ResultEntry | PlaceEntry

/** What a finished task returned. */
export interface ResultEntry {
  readonly kind: 'result'
  readonly task: string
  readonly update: readonly (readonly [field: string, cell: Cell | readonly Cell[]])[]
  readonly goto?: readonly string[] | undefined
}

/** What came of one call in a task. */
export interface PlaceEntry {
  readonly kind: 'once' | 'answer' | 'expired' | 'reopened' | 'woken' | 'past' | 'child'
  readonly task: string
  readonly place: string
  readonly value: Cell
  /** The question or timer it settles. */
  readonly pause?: string
}

/** What the journal says of one task. */
export interface TaskJournal {
  result?: ResultEntry
  readonly places: Map<string, PlaceEntry>
}

/** A journal, read in order; later entries for a place replace earlier ones. */
export class Journal {
  readonly #tasks = new Map<string, TaskJournal>()

  get empty(): boolean {
    return this.#tasks.size === 0
  }

  of(task: string): TaskJournal | undefined {
    return this.#tasks.get(task)
  }

  add(entry: Entry): void {
    let task = this.#tasks.get(entry.task)
    if (task === undefined) this.#tasks.set(entry.task, (task = { places: new Map() }))
    if (entry.kind === 'result') task.result = entry
    else if (entry.kind === 'reopened') task.places.delete(entry.place)
    else task.places.set(entry.place, entry)
  }

  /** Tasks that an answer or a clock has come for. */
  called(): string[] {
    const settles = ({ pause }: PlaceEntry): boolean => pause !== undefined
    return [...this.#tasks].flatMap(([task, { places }]) =>
      [...places.values()].some(settles) ? [task] : [],
    )
  }

  /** Ids of the pauses whose records say what was asked. */
  pauses(): string[] {
    return [...this.#tasks.values()].flatMap(({ places }) =>
      [...places.values()].flatMap(({ pause }) => pause ?? []),
    )
  }
}

type Row = [kind: string, task: string, ...rest: Json[]]

/** The text of an entry. A list's update is a list of cells, told from a cell by its wrapping in an object. */
export function entryText(entry: Entry): string {
  const row: Row = [entry.kind, entry.task]
  if (entry.kind === 'result') {
    row.push(
      entry.update.map(([field, value]) => [
        field,
        Array.isArray(value) ? { l: value.map(write) } : write(value as Cell),
      ]),
    )
    if (entry.goto) row.push(entry.goto)
  } else {
    row.push(entry.place, write(entry.value))
    if (entry.pause !== undefined) row.push(entry.pause)
  }
  return JSON.stringify(row)
}

const KINDS = ['once', 'answer', 'expired', 'reopened', 'woken', 'past', 'child']

/** Reads an entry back, or throws `Unreadable`. */
export function readEntry(text: string): Entry {
  const [kind, task, third, fourth, fifth] = readRow<[string, string, Json, Json, Json]>(
    text,
    isEntry,
    'a journal entry',
  )
  if (kind === 'result') {
    const update = (third as [string, Json][]).map(([field, value]): [string, Cell | Cell[]] => [
      field,
      isWrapped(value) ? value.l.map(read) : read(value),
    ])
    return { kind, task, update, ...(fourth !== undefined && { goto: fourth as string[] }) }
  }
  const pause = isText(fifth) ? { pause: fifth } : {}
  return { kind: kind as 'once', task, place: third as string, value: read(fourth), ...pause }
}

const isEntry = (row: readonly unknown[]): boolean =>
  Array.isArray(row) &&
  isText(row[1]) &&
  (row[0] === 'result'
    ? isList(row[2], isChange) && isMaybe(row[3], isTexts)
    : KINDS.includes(row[0]) && isText(row[2]) && isMaybe(row[4], isText))

const isChange = (change: readonly unknown[]): boolean =>
  isList(change, () => true) && isText(change[0]) && change.length === 2

const isWrapped = (value: Json): value is { l: Json[] } =>
  typeof value === 'object' && value !== null && Array.isArray((value as { l?: Json }).l)
