import type { Figures } from '../usage.ts'
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

/** Calls, milliseconds of running, and what models reported: the first of its figures are tokens and cost. */
export type Used = [toolCalls: number, modelCalls: number, ms: number, ...reported: Figures]

/** A decision about a tool that stands for the rest of the thread, and its number among what the thread has numbered. */
export interface Standing {
  readonly tool: string
  readonly n: number
  readonly approve: boolean
  readonly reason?: string | undefined
  /** Who decided, and when. */
  readonly by?: string | undefined
  readonly at: number
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
  /** How many owners in a row have died, none of which ended a step. */
  strikes: number
  /** What was used since the last input, and by the thread in all. Absent until something is counted. */
  used?: readonly [run: Used, thread: Used] | undefined
  /** What models reported to the run itself, without those that it continues. Absent until one did. */
  usage?: Figures | undefined
  /** Decisions about tools that stand, in the order in which they were made, on whichever branch. Absent until there is one. */
  standing?: readonly Standing[] | undefined
}

/** All of a row's members, each once: one that is missing here doesn't compile. */
const names = <Row>(every: Record<keyof Row, 0>): readonly (keyof Row)[] =>
  Object.keys(every) as (keyof Row)[]

/** What a run keeps, in the order in which it is stored; what may be absent goes last. */
const KEPT = /* @__PURE__ */ names<HeadOfRun>({
  graph: 0,
  tenant: 0,
  thread: 0,
  born: 0,
  created: 0,
  epoch: 0,
  owner: 0,
  run: 0,
  runNumber: 0,
  root: 0,
  metadata: 0,
  error: 0,
  key: 0,
  redo: 0,
})

/** What changes with steps, in the order in which it is stored; what may be absent goes last. */
const CHANGING = /* @__PURE__ */ names<Omit<Head, keyof HeadOfRun>>({
  updated: 0,
  until: 0,
  status: 0,
  checkpoint: 0,
  journal: 0,
  last: 0,
  seq: 0,
  commits: 0,
  strikes: 0,
  entries: 0,
  open: 0,
  used: 0,
  standing: 0,
  usage: 0,
})

/** The text of the part that a run keeps. Made once a run: a step writes the rest anew, which is the hot path. */
export function runText(head: Head): string {
  const kept = KEPT.map((name) => (name === 'root' && head.root === head.run ? '' : head[name]))
  return `[${JSON.stringify(kept).replace(/(,null)+]$/, ']')}`
}

/** The text of a head: values by position, after those that a run keeps. Names of checkpoints need no escapes. */
export function headText(run: string, head: Head): string {
  let text = run
  let absent = ''
  for (const name of CHANGING) {
    const value = name === 'journal' && head.journal === head.checkpoint ? '' : head[name]
    if (typeof value === 'number') text += `,${value}`
    else if (typeof value === 'string') text += `,"${value}"`
    else if (value) {
      text += `${absent},${list(value)}`
      absent = ''
    } else absent += ',null'
  }
  return `${text}]`
}

const list = (items: readonly unknown[]): string =>
  items.length > 0 ? JSON.stringify(items) : '[]'

/** More than an owner can tell, or note in one step, without a commit that says so. */
export const SKIP = 2 ** 32

/**
 * Takes over: the last owner may still be writing and telling, and nothing of ours may be named or counted like its own,
 * or sort before it.
 */
export function skipAhead(head: Head, now: number): void {
  head.last = Math.max(head.last, now) + 1_000
  const [from, count] = head.entries.at(-1) ?? [0, 0]
  head.entries.push([from + count + SKIP, 0])
  head.seq += SKIP
}

/**
 * Tells rows that landed from those of a commit that never got to its head. Rows are asked about newest first.
 *
 * @param seq How far the head says that was counted
 */
export function landing(seq: number): (first: number, next: number) => boolean {
  let most = seq
  return (first, next) => {
    // Whoever took over went on counting that much further on.
    while (Math.floor(most / SKIP) > Math.floor(first / SKIP)) most -= SKIP
    if (next > most) return false
    most = first
    return true
  }
}

/** Reads a head back, or what its row says instead; throws `Unreadable`. */
export const readHead = (text: string): Head =>
  readRow(text, 'its head', (row: Head | readonly [readonly unknown[], ...unknown[]]) => {
    if (!Array.isArray(row)) return row as Head
    const [kept, ...changing] = row as readonly [readonly unknown[], ...unknown[]]
    const head = Object.fromEntries([
      ...KEPT.map((name, i) => [name, kept[i] ?? undefined]),
      ...CHANGING.map((name, i) => [name, changing[i] ?? undefined]),
    ]) as unknown as Head
    head.root ||= head.run
    head.journal ||= head.checkpoint
    return head
  })
