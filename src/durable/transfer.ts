import { digest } from '../lib/digest.ts'
import type { Key } from '../store/store.ts'
import { readCheckpoint } from './checkpoint.ts'
import { read, Unreadable } from './codec.ts'
import type { Head } from './head.ts'
import type { Entry } from './journal.ts'
import { checkpointIn, numberOf, runKey } from './keys.ts'
import { readLog } from './log-row.ts'
import { readPause, readSettlement, type PauseRecord } from './pause.ts'
import { reach, refsOf, type Reach, type ThreadRows } from './reach.ts'
import { readRow } from './row.ts'
import { readEnd, readServed, readStart } from './run-record.ts'
import { has, type Shape } from './shape.ts'

/** A thread as one value. Plain JSON with a version and a digest; opaque otherwise. */
export interface ThreadExport {
  readonly heddle: 1
  readonly graph: string
  readonly thread: string
  readonly digest: string
  readonly entries: readonly unknown[]
}

/** What of a head is the same wherever the thread is. */
type Portable = Omit<
  Head,
  | 'graph'
  | 'tenant'
  | 'thread'
  | 'born'
  | 'epoch'
  | 'owner'
  | 'until'
  | 'strikes'
  | 'redo'
  | 'updated'
  | 'commits'
>

/** A thread on its way: its head, its rows without the journal's, and the journal. */
export interface Parcel {
  readonly head: Portable
  readonly rows: ThreadRows
  readonly journal: readonly Entry[]
}

const HEAD: Readonly<Record<keyof Portable, Shape>> = {
  created: 'time',
  run: 'text',
  runNumber: 'time',
  root: 'text',
  metadata: 'object',
  error: 'object?',
  key: 'list?',
  status: 'standing',
  checkpoint: 'id',
  journal: 'text',
  entries: [['count', 'count']],
  open: [{ id: 'text', chain: ['text'], place: 'text', n: 'count', due: 'count?', key: 'text?' }],
  last: 'time',
  seq: 'count',
  used: 'used?',
  standing: 'decisions?',
  usage: 'figures?',
}

const ID = '[0-9a-z]{14}'
const HEX = '[0-9a-f]{32}'
const SPACE = `(-|${HEX})`
const STEP = `${ID}(~\\d{1,9})?`
const NAMED = '[0-9A-Za-z~_-]{1,50}'
const PAUSE = `i/[a-z]{3}_${HEX}`
const RUN = 'r/[0-9a-z]{10}'

const textOf = (text: string): string => text

/** The names that rows have behind the root of their thread, how such a row is read, and what it has to be. */
const ROWS: readonly (readonly [
  name: string,
  read: (text: string, key: Key) => unknown,
  is: Shape,
])[] = [
  [`b/${HEX}/${ID}`, textOf, 'text'],
  [
    `c/${SPACE}/${ID}`,
    (text, key) => {
      const row = readCheckpoint(text, checkpointIn(key))
      return { ...row, refs: refsOf(row.state) }
    },
    {
      parent: 'id?',
      ns: ['text'],
      step: 'count',
      run: 'text',
      time: 'time',
      next: [{ key: 'text', id: 'text' }],
      joins: 'list?',
      refs: [['text', 'count']],
      cuts: 'list?',
      seq: ['count', 'count'],
      ran: 'list?',
      log: 'list?',
    },
  ],
  [
    `e/${SPACE}/[0-9a-z]{11}`,
    readLog,
    { run: 'text', step: 'count', first: 'count', tasks: ['text'], log: 'list' },
  ],
  [`f/${STEP}/${NAMED}`, (text) => readRow(text, ''), [['text', 'text', 'text']]],
  [
    PAUSE,
    readPause,
    {
      id: 'text',
      n: 'count',
      run: 'text',
      checkpoint: 'id',
      ns: ['text'],
      node: 'text',
      place: 'text',
      time: 'time',
      due: 'count?',
    },
  ],
  [`${PAUSE}\\.a`, readSettlement, { status: 'text', time: 'time' }],
  [`k/${NAMED}`, (text) => JSON.parse(text), 'text'],
  [
    RUN,
    readStart,
    {
      id: 'text',
      root: 'text',
      metadata: 'object',
      time: 'time',
      seq: 'count',
      llm: 'object?',
      before: 'figures?',
    },
  ],
  [
    `${RUN}\\.e`,
    readEnd,
    { status: 'text', usage: 'object', time: 'time', seq: 'count', open: 'list?' },
  ],
  [`${RUN}\\.m[0-9a-z]{10}`, readServed, { provider: 'text', model: 'text' }],
  [
    `s/${ID}\\.[0-9a-z]{1,4}/[0-9a-z]{6}\\.[0-9a-z]{5}`,
    (text) => Object.values(readRow<object>(text, '')).map(read),
    'list',
  ],
  // As a whole it is read when it is followed.
  [`w/${STEP}/[0-9a-z]{6,9}`, textOf, 'text'],
]

/**
 * Makes one value of a thread that nobody runs: its head and the rows that something leads to.
 *
 * @throws Unreadable if something is missing or damaged
 */
export async function pack(head: Head, rows: ThreadRows): Promise<ThreadExport> {
  const own = portable(head)
  if (own.key && !rows.has(own.key[0])) own.key = undefined
  const { needed } = follow(own, rows)
  const { graph, thread } = head
  const ordered = [...rows].filter(([key]) => needed.has(key)).sort(([a], [b]) => (a < b ? -1 : 1))
  const entries = [JSON.stringify(own), ...ordered]
  return { heddle: 1, graph, thread, digest: await sum(graph, thread, entries), entries }
}

/**
 * Takes a value apart that `pack` made, whatever happened to it on the way.
 *
 * @throws Unreadable that says what is wrong with it
 */
export async function unpack(value: ThreadExport): Promise<Parcel> {
  const { heddle, graph, thread, entries } = value
  if (heddle !== 1 || !has({ graph: 'text', thread: 'text', entries: 'list' }, value))
    throw new Unreadable('it is no export of version 1')
  if ((await sum(graph, thread, entries)) !== value.digest)
    throw new Unreadable('its digest is that of something else')
  try {
    const [top, ...rows] = entries as [string, ...[Key, string][]]
    return opened(top, rows)
  } catch (error) {
    throw error instanceof Unreadable ? error : new Unreadable('it is damaged', { cause: error })
  }
}

function opened(top: string, entries: readonly (readonly [key: Key, text: string])[]): Parcel {
  const head = readRow(top, 'its head', portable)
  const { last } = head
  const counted = [...head.open, ...(head.standing ?? [])]
  const numbers = [head.runNumber, ...counted.map(({ n }) => n)]
  if (!has(HEAD, head) || numbers.some((n) => n > last))
    throw new Unreadable('its head has another shape')
  let before = ''
  for (const [key, text] of entries) {
    if (typeof text !== 'string') throw new Unreadable(`row "${key}" is no text`)
    const known = ROWS.find(([name]) => new RegExp(`^${name}$`).test(key))
    if (!known || key <= before) throw new Unreadable('a row has a name that is none here')
    before = key
    const [, make, shape] = known
    const row = make(text, key)
    const [kind] = key
    const isNew =
      (kind === 'c' && numberOf(checkpointIn(key)) > last) ||
      (kind === 'r' && key < runKey('', last)) ||
      (kind === 'i' && (row as PauseRecord).n > last)
    if (isNew || !has(shape, row)) throw new Unreadable(`row "${key}" has another shape`)
  }
  const rows = new Map(entries)
  if (head.key && !rows.has(head.key[0])) throw new Unreadable('its head names a row that is none')
  const { needed, journal } = follow(head, rows)
  for (const key of rows.keys())
    if (!needed.has(key)) throw new Unreadable(`nothing leads to row "${key}"`)
  return { head, rows: new Map(entries.filter(([key]) => !key.startsWith('w/'))), journal }
}

/** Follows everything, all of which has to be there. */
function follow(head: Portable, rows: ThreadRows): Reach {
  // Counted first: what a head says of its journal could be any number.
  const noted = head.entries.reduce((sum, [, count]) => sum + count, 0)
  const reached =
    noted <= rows.size
      ? reach(head, rows, (id, space) => space !== '-' || id <= head.checkpoint)
      : undefined
  if (!reached) throw new Unreadable('a journal entry is missing')
  for (const key of reached.needed)
    if (!rows.has(key)) throw new Unreadable(`row "${key}" is missing`)
  return reached
}

/** Picks what belongs to the thread. */
const portable = (head: Portable): Portable =>
  Object.fromEntries(
    Object.keys(HEAD).map((name) => [name, head[name as keyof Portable]]),
  ) as unknown as Portable

const sum = (graph: string, thread: string, entries: readonly unknown[]): Promise<string> =>
  digest(JSON.stringify([1, graph, thread, entries]))
