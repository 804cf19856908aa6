import type { ErrorInfo, Metadata, Status } from './records.ts'
import { readRow } from './row.ts'

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
  /** The row of the last idempotency key, by its name behind the root, and the run that it started: where reads lag, the row may not be seen. */
  key?: readonly [row: string, run: string] | undefined
  /** Rows that a claim writes, or removes where it says null, and that a store without atomic batches may not have yet. */
  redo?: readonly (readonly [key: string, value: string | null])[] | undefined
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
export const runText = (head: Head): string =>
  JSON.stringify({
    ...head,
    updated: undefined,
    until: undefined,
    status: undefined,
    checkpoint: undefined,
    journal: undefined,
    entries: undefined,
    open: undefined,
    last: undefined,
    seq: undefined,
    commits: undefined,
  })

/** The text of a head. Names of checkpoints need no escapes. */
export const headText = (run: string, head: Head): string =>
  `${run.slice(0, -1)},"updated":${head.updated},"until":${head.until},"status":"${head.status}","checkpoint":"${head.checkpoint}","journal":"${head.journal}","entries":${list(head.entries)},"open":${list(head.open)},"last":${head.last},"seq":${head.seq},"commits":${head.commits}}`

const list = (items: readonly unknown[]): string =>
  items.length > 0 ? JSON.stringify(items) : '[]'

/** More than an owner can tell, or note in one step, without a commit that says so. */
export const SKIP = 2 ** 32

/** Takes over: the last owner may still be writing and telling, and nothing of ours may be named or counted like its own. */
export function skipAhead(head: Head): void {
  const [from, count] = head.entries.at(-1) ?? [0, 0]
  head.entries.push([from + count + SKIP, 0])
  head.seq += SKIP
}

/** Reads a head back, or throws `Unreadable`. */
export const readHead = (text: string): Head => readRow(text, 'its head')
