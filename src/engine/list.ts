import type { Claim } from '../durable/claim.ts'
import type { Head } from '../durable/head.ts'
import { address, directoryPrefix, runPrefix, toldBy, type Address } from '../durable/keys.ts'
import { iso } from '../durable/pause.ts'
import type { Run as RunRow, Status, Thread } from '../durable/records.ts'
import {
  readEnd,
  readServed,
  readStart,
  runRecord,
  type RunEnd,
  type RunStart,
  type Served,
} from '../durable/run-record.ts'
import { CorruptCheckpoint, GraphMismatch } from '../errors.ts'
import { tidy } from '../lib/tidy.ts'
import type { Entry, Key } from '../store/store.ts'
import { find, findAt, readable } from './find.ts'
import { checkLimit } from './check.ts'
import { usageOfThread } from './meter.ts'
import type { App } from './run.ts'

/** What part of a list is read. */
export interface Part {
  readonly limit?: number
  /** The one after which it begins. */
  readonly before?: string
}

/** Reads everything under a prefix, a page at a time, as far as the reader goes. */
export async function* rows(
  { owner }: App,
  prefix: Key,
  after?: Key,
  limit = 100,
): AsyncGenerator<Entry> {
  for (let from = after, full = true; full;) {
    const page = await owner.store.list({
      prefix,
      limit,
      ...(from !== undefined && { after: from }),
    })
    yield* page
    full = page.length === limit
    from = page.at(-1)?.key
  }
}

/**
 * What `show` makes of the values of a list: `undefined` is left out.
 *
 * @param name Names a value, as `before` does
 */
export async function* shownOf<From, Value>(
  values: AsyncIterable<From>,
  { limit = Infinity, before }: Part,
  show: (value: From) => Value | undefined | Promise<Value | undefined>,
  name?: (value: From) => string,
): AsyncGenerator<Value> {
  checkLimit(limit)
  let left = limit
  let passed = before === undefined
  if (left === 0) return
  for await (const value of values) {
    const shown = passed ? await show(value) : undefined
    passed ||= name?.(value) === before
    if (shown === undefined) continue
    yield shown
    if (--left === 0) return
  }
}

/** What comes of the thread that a row of a list leads to. One that can't be read is passed over, so that the others are found. */
export async function passing<Value>(
  app: App,
  place: string,
  use: (claim: Claim) => Value | Promise<Value>,
  gone?: () => Promise<Value>,
): Promise<Value | undefined> {
  try {
    const claim = await findAt(app, place)
    return claim ? await use(claim) : await gone?.()
  } catch (error) {
    if (!(error instanceof CorruptCheckpoint) && !(error instanceof GraphMismatch)) throw error
    app.logger.warn('A list leaves out a thread that can not be read', { place, error })
    return undefined
  }
}

/**
 * Removes a row of an index that says nothing any more. Who has the thread may be about to make it true; where reads may
 * lag, what isn't seen proves nothing.
 */
export async function forget(
  { owner: { store } }: App,
  { key, revision }: Entry,
  head?: Head,
): Promise<void> {
  if (store.caps.consistency === 'strong' && !head?.owner)
    await store.commit({ checks: [{ key, revision }], deletes: [key] })
}

/** Where the lists of a tenant are. */
export const listsOf = (app: App, tenant: string): Promise<Address> =>
  address(app.plan.name, tenant, '')

/** The place of the thread that a row of the directory leads to. */
export const placeIn = ({ key }: Entry): string => key.slice(key.lastIndexOf('/') + 1)

/** A thread as its readers see it. */
export const threadOf = (head: Head): Thread =>
  tidy<Thread>({
    id: head.thread,
    tenant: head.tenant || undefined,
    graph: head.graph,
    status: head.status as Status,
    checkpoint: head.checkpoint,
    metadata: head.metadata,
    usage: usageOfThread(head),
    createdAt: iso(head.created),
    updatedAt: iso(head.updated),
  })

/** Threads of the app's graph, newest first. */
export async function* threads(
  app: App,
  tenant: string,
  { status, limit, before }: Part & { readonly status?: Status } = {},
): AsyncGenerator<Thread> {
  const last = before === undefined ? undefined : (await address('', tenant, before)).place
  const prefix = directoryPrefix(await listsOf(app, tenant))
  const show = (row: Entry): Promise<Thread | undefined> =>
    passing(app, placeIn(row), ({ head }) => {
      if (status !== undefined && head.status !== status) return undefined
      return threadOf(head)
    })
  yield* shownOf(rows(app, prefix), { limit, before: last } as Part, show, placeIn)
}

/** Runs of a thread, newest first. */
export async function* runs(
  app: App,
  tenant: string,
  thread: string,
  part: Part = {},
): AsyncGenerator<RunRow> {
  const claim = await find(app, tenant, thread)
  if (!claim) return
  const { run, status, usage } = claim.head
  const show = ([start, end, after, models]: Recorded): RunRow =>
    start.id === run
      ? runRecord(thread, start, end, status as Status, usage, models)
      : runRecord(thread, start, end, undefined, after?.before, models)
  yield* shownOf(pairs(app, claim), part, show, ([{ id }]) => id)
}

type Recorded = readonly [
  start: RunStart,
  end: RunEnd | undefined,
  after: RunStart | undefined,
  models: readonly Served[],
]

/** The rows of runs, newest first, each with the start of the next: those of the end and of models follow that of the start. */
export async function* pairs(app: App, { root, head }: Claim): AsyncGenerator<Recorded> {
  let start: RunStart | undefined
  let end: RunEnd | undefined
  let after: RunStart | undefined
  let models: Served[] = []
  const read = <Row>(make: (text: string) => Row, text: string): Promise<Row> =>
    readable(head.thread, () => make(text))
  for await (const { key, value } of rows(app, runPrefix(root))) {
    const told = toldBy(key)
    if (told === 'end') end = await read(readEnd, value)
    else if (told === 'model') models.push(await read(readServed, value))
    else {
      if (start) yield [start, end, after, models]
      after = start
      start = await read(readStart, value)
      end = undefined
      models = []
    }
  }
  if (start) yield [start, end, after, models]
}
