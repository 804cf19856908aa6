import { cut, isOver } from '../lib/cut.ts'
import type { Json } from '../schema.ts'
import type { Key, Put } from '../store/store.ts'
import { read, Unreadable, write, type Cell } from './codec.ts'
import type { Head } from './head.ts'
import { journalKey } from './keys.ts'
import { readRow } from './row.ts'

/**
 * What happened in a step before it closed, so that a re-entered task repeats nothing: finished tasks (`result`), work
 * done `once`, answers, questions that expired or were opened again, timers that fired, waits that were over at once, where child graphs stand,
 * tools that ran (`ran`) and what came of their calls (`call`).
 */
export type Entry = ResultEntry | PlaceEntry

interface Place {
  readonly root: Key
  readonly head: Pick<Head, 'entries' | 'journal'>
}

/** What a finished task returned. */
export interface ResultEntry {
  readonly kind: 'result'
  readonly task: string
  readonly update: readonly (readonly [field: string, cell: Cell | readonly Cell[]])[]
  readonly goto?: readonly string[] | undefined
}

/** The rows of the running step's journal. */
export const journalRows = ({ root, head: { entries, journal } }: Place): Key[] =>
  entries.flatMap(([from, count]) =>
    Array.from({ length: count }, (_, n) => journalKey(root, journal, from + n)),
  )

/** Begins the journal of another step. What the last one left is removed: nothing leads to it any more. */
export function turnPage(at: Place, step: string, deletes: Key[]): void {
  const { head } = at
  if (head.entries.length > 0) {
    for (const key of journalRows(at)) deletes.push(key)
    head.entries = []
  }
  head.journal = step
}

/** Adds an entry to the journal of the running step, in rows that are no longer than `most` bytes. */
export function noted({ root, head }: Place, entry: Entry, most: number): Put[] {
  const { entries, journal } = head
  if (entries.length === 0) entries.push([0, 0])
  const last = entries.at(-1) as [number, number]
  return entryTexts(entry, most).map((value) => ({
    key: journalKey(root, journal, last[0] + last[1]++),
    value,
  }))
}

/** What came of one call in a task. */
export interface PlaceEntry {
  readonly kind:
    | 'once'
    | 'answer'
    | 'expired'
    | 'reopened'
    | 'woken'
    | 'past'
    | 'child'
    | 'ran'
    | 'call'
  readonly task: string
  readonly place: string
  readonly value: Cell
  /** The question or timer it settles. */
  readonly pause?: string | undefined
  /** Of the answer to an approval: whose it is, and when it came. */
  readonly by?: string | undefined
  readonly at?: number | undefined
  /** How far a child graph had counted its events. */
  readonly seq?: number | undefined
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
    return this.#settled().map(({ task }) => task)
  }

  /** Ids of the pauses whose records say what was asked. */
  pauses(): string[] {
    return this.#settled().flatMap(({ pause }) => pause ?? [])
  }

  #settled(): PlaceEntry[] {
    return [...this.#tasks.values()].flatMap(({ places }) =>
      [...places.values()].filter(({ pause }) => pause !== undefined),
    )
  }
}

/** How the rows of an entry begin that takes several, and how the last of them does: the entry itself begins with a brace. */
const MORE = '+'
const LAST = '.'

/** The texts of an entry's rows: more than one if it is longer than a row may be. They have consecutive numbers. */
export function entryTexts(entry: Entry, most: number): string[] {
  const text = entryText(entry)
  if (!isOver(text, most)) return [text]
  const pieces = cut(text, most - 1)
  return pieces.map((piece, n) => (n < pieces.length - 1 ? MORE : LAST) + piece)
}

/** Reads the rows of entries back, or throws `Unreadable`. */
export function readEntries(texts: readonly string[]): Entry[] {
  let begun = ''
  const entries = texts.flatMap((text) => {
    const pieced = text.startsWith(MORE) || text.startsWith(LAST)
    begun += pieced ? text.slice(1) : text
    if (text.startsWith(MORE)) return []
    const entry = readEntry(begun)
    begun = ''
    return entry
  })
  if (begun) throw new Unreadable('the end of a journal entry is missing')
  return entries
}

/** The text of an entry. A list's update is a list of cells, told from a cell by its wrapping in an object. */
const entryText = (entry: Entry): string =>
  JSON.stringify(
    entry.kind === 'result'
      ? {
          ...entry,
          update: entry.update.map(([field, value]) => [
            field,
            Array.isArray(value) ? { l: value.map(write) } : write(value as Cell),
          ]),
        }
      : { ...entry, value: write(entry.value) },
  )

/** Reads an entry back, or throws `Unreadable`. */
export const readEntry = (text: string): Entry =>
  readRow(text, 'a journal entry', (row: Entry) =>
    row.kind === 'result'
      ? {
          ...row,
          update: row.update.map(([field, value]) => {
            const { l } = Object(value) as { readonly l?: readonly Json[] }
            return [field, l ? l.map(read) : read(value)]
          }),
        }
      : { ...row, value: read(row.value) },
  )
