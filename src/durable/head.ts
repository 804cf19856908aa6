import type { ErrorInfo, Metadata, Status } from './records.ts'
import { isCount, isList, isMaybe, isObject, isText, isTexts, isTime, readRow } from './row.ts'

/** A question or a timer that holds the thread. */
export interface OpenPause {
  readonly id: string
  readonly kind: 'question' | 'timer'
  /** Task ids from the root down to the task that pauses. */
  readonly chain: readonly string[]
  /** The key or position of the call in that task. */
  readonly place: string
  /** Orders the inbox. */
  readonly n: number
  /** When a timer fires or a question expires. */
  readonly due?: number | undefined
  /** The declared question or the given key. */
  readonly key?: string | undefined
}

/** What of a head changes with a run, at most. */
export interface HeadOfRun {
  readonly graph: string
  readonly tenant: string
  readonly thread: string
  /** The incarnation of the thread, part of the name of all its rows. */
  readonly born: string
  readonly created: number
  epoch: number
  /** Empty when nobody runs the thread. */
  owner: string
  run: string
  /** Number of the run's record, and the first run of its chain. */
  runNumber: number
  root: string
  /** How often in a row the thread was recovered from a dead owner. */
  strikes: number
  metadata: Metadata
  error?: ErrorInfo | undefined
  /** Rows of a claim that a store without atomic batches may not have yet. */
  redo?: readonly (readonly [key: string, value: string])[] | undefined
}

/**
 * The one row of a thread that changes: who owns it, where it stands, and the names of everything that is needed to go
 * on. The way from here to the current state uses `get` only.
 */
export interface Head extends HeadOfRun {
  updated: number
  /** When the lease ends, in milliseconds since 1970. */
  until: number
  status: Status | 'deleted'
  /** The newest checkpoint. */
  checkpoint: string
  /** Checkpoint that the step's journal is named after, and its entries as `[from, count]`. */
  journal: string
  entries: [from: number, count: number][]
  open: OpenPause[]
  /** The last number an id was made of; keeps ids rising under a frozen or backward clock. */
  last: number
  /** The next `seq`. */
  seq: number
  /** Counts commits, so that no two heads have the same text. */
  commits: number
}

/** The text of the part that a run keeps. Made once a run: a step writes the rest anew, which is the hot path. */
export const runText = ({
  graph,
  tenant,
  thread,
  born,
  created,
  epoch,
  owner,
  run,
  runNumber,
  root,
  strikes,
  metadata,
  error,
  redo,
}: HeadOfRun): string =>
  JSON.stringify({
    graph,
    tenant,
    thread,
    born,
    created,
    epoch,
    owner,
    run,
    runNumber,
    root,
    strikes,
    metadata,
    error,
    redo,
  })

/** The text of a head. Names of checkpoints need no escapes. */
export const headText = (
  run: string,
  { updated, until, status, checkpoint, journal, entries, open, last, seq, commits }: Head,
): string =>
  `${run.slice(0, -1)},"updated":${updated},"until":${until},"status":"${status}","checkpoint":"${checkpoint}","journal":"${journal}","entries":${entries.length > 0 ? JSON.stringify(entries) : '[]'},"open":${open.length > 0 ? JSON.stringify(open) : '[]'},"last":${last},"seq":${seq},"commits":${commits}}`

/** Reads a head back, or throws `Unreadable`. */
export const readHead = (text: string): Head => readRow(text, isHead, 'its head')

const isHead = (row: Record<keyof Head, unknown>): boolean =>
  isObject(row) &&
  [row.graph, row.tenant, row.thread, row.born, row.owner, row.run, row.root].every(isText) &&
  [row.status, row.checkpoint, row.journal].every(isText) &&
  [row.created, row.updated, row.until].every(isTime) &&
  [row.epoch, row.runNumber, row.strikes, row.last, row.seq, row.commits].every(isCount) &&
  isList(row.entries, isSpan) &&
  isList(row.open, isOpen) &&
  isObject(row.metadata) &&
  isMaybe(row.error, isError) &&
  isMaybe(row.redo, (redo) => isList(redo, isTexts))

const isSpan = (span: readonly unknown[]): boolean =>
  isList(span, isCount) && span.length === 2 && (span[1] as number) < 1e7

const isOpen = (open: Record<keyof OpenPause, unknown>): boolean =>
  isObject(open) &&
  isText(open.id) &&
  (open.kind === 'question' || (open.kind === 'timer' && isTime(open.due))) &&
  isTexts(open.chain) &&
  isText(open.place) &&
  isCount(open.n) &&
  isMaybe(open.due, isTime) &&
  isMaybe(open.key, isText)

/** Whether something stored is a recorded failure. */
export const isError = (error: Record<keyof ErrorInfo, unknown>): boolean =>
  isObject(error) && isText(error.name) && isText(error.message) && isMaybe(error.cause, isError)
