import { nodeOf, readCheckpoint, type Checkpoint } from '../durable/checkpoint.ts'
import { Unreadable } from '../durable/codec.ts'
import type { Head } from '../durable/head.ts'
import {
  address,
  checkpointIn,
  checkpointKey,
  checkpointPrefix,
  directoryPrefix,
  headKey,
  inboxPrefix,
  part,
  pauseKey,
  pausePrefix,
  rootPrefix,
  runPrefix,
  spacePrefix,
  type Address,
} from '../durable/keys.ts'
import { interruption, iso, readPause, readSettlement, type PauseRecord } from '../durable/pause.ts'
import type { Interruption, Run as RunRow, Snapshot, Status, Thread } from '../durable/records.ts'
import { readEnd, readStart, runRecord, type RunEnd, type RunStart } from '../durable/run-record.ts'
import { State } from '../durable/state.ts'
import { isHeddleError } from '../errors.ts'
import type { Entry, Key, Store } from '../store/store.ts'
import { corrupt, find, hinted, readable } from './open.ts'
import { checkLimit } from './request.ts'
import type { App } from './run.ts'
import { shown } from './suspend.ts'
import { snapshot } from './view.ts'

const PAGE = 100

/** Reads everything under a prefix, a page at a time, as far as the reader goes. */
async function* rows(
  store: Store,
  prefix: Key,
  { page: size = PAGE, after }: { readonly page?: number; readonly after?: Key | undefined } = {},
): AsyncGenerator<Entry> {
  for (let limit = size, from = after; ; limit = PAGE) {
    const page = await store.list({ prefix, limit, ...(from !== undefined && { after: from }) })
    yield* page
    if (page.length < limit) return
    from = (page.at(-1) as Entry).key
  }
}

/** The first `limit` of a sequence. */
async function* first<Value>(limit: number, values: AsyncIterable<Value>): AsyncGenerator<Value> {
  checkLimit(limit)
  let left = limit
  if (left === 0) return
  for await (const value of values) {
    yield value
    if (--left <= 0) return
  }
}

/** A store that also knows the rows a claim may not have written yet. */
const patient = (store: Store, { redo }: Head): Pick<Store, 'get'> => ({
  async get(keys) {
    const known = new Map(redo)
    return (await store.get(keys)).map((entry, i) => {
      const value = known.get(keys[i] as Key)
      return (
        entry ?? (value === undefined ? undefined : { key: keys[i] as Key, value, revision: '' })
      )
    })
  },
})

/** What a reader may ask of a namespace: the thread's own graph, or a child by its path. */
interface Within {
  readonly ns?: readonly string[]
}

/** The name of a namespace's rows; of a child graph that ran more than once, the newest. */
async function spaceOf(
  app: App,
  root: Key,
  ns: readonly string[] = [],
): Promise<string | undefined> {
  if (ns.length === 0) return '-'
  const prefix = await spacePrefix(root, ns)
  return (await app.owner.store.list({ prefix, limit: 1 }))[0]?.value
}

/** The thread that a row of a list leads to. One that can't be read is passed over, so that the others are found. */
async function listed(
  app: App,
  place: string,
  text: string,
): Promise<{ readonly at: Address; readonly head: Head } | undefined> {
  const names = await hinted(app, place, text)
  try {
    const { at, head } = names ? await find(app, names[1], names[0]) : {}
    if (at && head) return { at, head }
    if (!names) app.logger.warn('A row of a list leads to no thread that can be read', { place })
  } catch (error) {
    if (!isHeddleError(error, 'corrupt_checkpoint') && !isHeddleError(error, 'graph_mismatch'))
      throw error
    app.logger.warn('A thread can not be listed', { thread: names?.[1], error })
  }
  return undefined
}

/** Where a thread stands, now or at a checkpoint. */
export async function state(
  app: App,
  tenant: string,
  thread: string,
  { checkpoint, ns }: Within & { readonly checkpoint?: string } = {},
): Promise<Snapshot | undefined> {
  const { at, head } = await find(app, thread, tenant)
  if (!head) return undefined
  if (ns?.length && checkpoint === undefined) {
    for await (const newest of history(app, tenant, thread, { ns, limit: 1 })) return newest
    return undefined
  }
  const id = checkpoint ?? head.checkpoint
  const root = rootPrefix(at.place, head.born)
  const space = await spaceOf(app, root, ns)
  if (!space || !/^[0-9a-z]{14}$/.test(id)) return undefined
  const store = patient(app.owner.store, head)
  const [entry] = await store.get([checkpointKey(root, space, id)])
  if (!entry && id !== head.checkpoint) return undefined
  return show(app, head, root, id, entry, space)
}

/** Checkpoints, newest first. */
export async function* history(
  app: App,
  tenant: string,
  thread: string,
  {
    limit = Infinity,
    before,
    ns,
  }: Within & { readonly limit?: number; readonly before?: string } = {},
): AsyncGenerator<Snapshot> {
  const { at, head } = await find(app, thread, tenant)
  if (!head) return
  const root = rootPrefix(at.place, head.born)
  const space = await spaceOf(app, root, ns)
  if (!space) return
  const after = before === undefined ? undefined : checkpointKey(root, space, before)
  const entries = rows(app.owner.store, checkpointPrefix(root, space), {
    page: Math.max(1, Math.min(limit, PAGE)),
    after,
  })
  for await (const entry of first(limit, entries))
    yield await show(app, head, root, undefined, entry, space)
}

async function show(
  app: App,
  head: Head,
  root: Key,
  id: string | undefined,
  entry: Entry | undefined,
  space: string,
): Promise<Snapshot> {
  try {
    if (!entry) throw new Unreadable('its row is missing')
    const row = readCheckpoint(entry.value, checkpointIn(entry.key))
    const store = patient(app.owner.store, head)
    const current = await State.load(
      space === '-' ? app.plan.fields : undefined,
      root,
      row.state,
      store,
      false,
    )
    const newest = row.id === head.checkpoint
    const open = newest ? await store.get(head.open.map((one) => pauseKey(root, one.id))) : []
    const records = open.map((one): PauseRecord => {
      if (!one) throw new Unreadable('the record of a pause is missing')
      return readPause(one.value)
    })
    return snapshotOf(
      head,
      row,
      snapshot(current),
      shown(head.thread, records, app.owner.clock.now()),
    )
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    throw corrupt(head.thread, id ?? (entry && checkpointIn(entry.key)), error)
  }
}

function snapshotOf(
  head: Head,
  row: Checkpoint,
  values: Record<string, unknown>,
  pauses: Pick<Snapshot, 'interruptions' | 'timers'>,
): Snapshot {
  const newest = row.id === head.checkpoint
  const status = newest ? (head.status as Status) : row.next.length > 0 ? 'running' : 'success'
  return {
    thread: head.thread,
    ns: row.ns,
    checkpoint: row.id,
    ...(row.parent !== undefined && { parent: row.parent }),
    step: row.step,
    source: row.source,
    run: row.run,
    createdAt: iso(row.time),
    status,
    state: values,
    next: [...new Set(row.next.map(({ key }) => nodeOf(key)).filter((name) => name !== 'start'))],
    ...pauses,
    ...(newest && head.error && { error: head.error }),
    metadata: head.metadata,
  }
}

const list = ({ plan }: App, tenant: string): Promise<{ graph: string; tenant: string }> =>
  Promise.all([part(plan.name), part(tenant)]).then(([graph, encoded]) => ({
    graph,
    tenant: encoded,
  }))

/** Threads of the app's graph, newest first. */
export async function* threads(
  app: App,
  tenant: string,
  {
    status,
    limit = Infinity,
    before,
  }: { readonly status?: Status; readonly limit?: number; readonly before?: string } = {},
): AsyncGenerator<Thread> {
  const prefix = directoryPrefix(await list(app, tenant))
  yield* first(limit, found())
  async function* found(): AsyncGenerator<Thread> {
    let passed = before === undefined
    const last = passed ? undefined : (await address('', tenant, before as string)).place
    for await (const { key, value } of rows(app.owner.store, prefix)) {
      const place = key.slice(key.lastIndexOf('/') + 1)
      if (!passed) {
        passed = place === last
        continue
      }
      const { head } = (await listed(app, place, value)) ?? {}
      if (head && (status === undefined || head.status === status)) yield threadOf(head)
    }
  }
}

const threadOf = (head: Head): Thread => ({
  id: head.thread,
  ...(head.tenant && { tenant: head.tenant }),
  graph: head.graph,
  status: head.status as Status,
  ...(head.checkpoint && { checkpoint: head.checkpoint }),
  metadata: head.metadata,
  createdAt: iso(head.created),
  updatedAt: iso(head.updated),
})

/** Runs of a thread, newest first. */
export async function* runs(
  app: App,
  tenant: string,
  thread: string,
  { limit = Infinity, before }: { readonly limit?: number; readonly before?: string } = {},
): AsyncGenerator<RunRow> {
  const { at, head } = await find(app, thread, tenant)
  if (!head) return
  const prefix = runPrefix(rootPrefix(at.place, head.born))
  yield* first(limit, found(head))
  async function* found({ run, status }: Head): AsyncGenerator<RunRow> {
    let start: RunStart | undefined
    let passed = before === undefined
    const made = (end?: RunEnd): RunRow[] => {
      const row =
        start && runRecord(thread, start, end, start.id === run ? (status as Status) : start.status)
      start = undefined
      if (row && !passed) {
        passed = row.id === before
        return []
      }
      return row ? [row] : []
    }
    // The row of the end follows that of the start.
    for await (const { key, value } of rows(app.owner.store, prefix)) {
      if (key.endsWith('.e')) yield* made(readable(thread, () => readEnd(value)))
      else {
        yield* made()
        start = readable(thread, () => readStart(value))
      }
    }
    yield* made()
  }
}

/** Questions of one thread or of all, oldest first. */
export async function interruptions(
  app: App,
  tenant: string,
  {
    thread,
    status = 'open',
    limit = 100,
  }: {
    readonly thread?: string
    readonly status?: Interruption['status']
    readonly limit?: number
  } = {},
): Promise<readonly Interruption[]> {
  checkLimit(limit)
  const found: Interruption[] = []
  if (thread === undefined && status === 'open') {
    // Index rows are hints: whether a question is open stands in the head.
    for await (const { key, value } of rows(
      app.owner.store,
      inboxPrefix(await list(app, tenant)),
    )) {
      if (found.length >= limit) break
      const [place, pause] = key.split('/').slice(-2) as [string, string]
      const { head, at } = (await listed(app, place, value)) ?? {}
      if (!head || !at || !head.open.some((open) => open.id === pause)) continue
      const [entry] = await patient(app.owner.store, head).get([
        pauseKey(rootPrefix(at.place, head.born), pause),
      ])
      const now = app.owner.clock.now()
      try {
        if (entry)
          found.push(interruption(head.thread, readPause(entry.value), undefined, now, false))
      } catch (error) {
        app.logger.warn('A question can not be listed', { thread: head.thread, error })
      }
    }
    return found.filter((one) => one.status === 'open')
  }
  if (thread !== undefined) return (await ofThread(app, tenant, thread, status)).slice(0, limit)
  for await (const { id } of threads(app, tenant))
    found.push(...(await ofThread(app, tenant, id, status)))
  return found
    .sort((a, b) => (a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0))
    .slice(0, limit)
}

async function ofThread(
  app: App,
  tenant: string,
  thread: string,
  status: Interruption['status'],
): Promise<Interruption[]> {
  const { at, head } = await find(app, thread, tenant)
  if (!head) return []
  const store = patient(app.owner.store, head)
  const root = rootPrefix(at.place, head.born)
  const found: PauseRecord[] = []
  const settled = new Map<string, string>()
  if (status === 'open') {
    for (const entry of await store.get(head.open.map(({ id }) => pauseKey(root, id))))
      if (entry) found.push(readable(thread, () => readPause(entry.value)))
  } else {
    for await (const { key, value } of rows(app.owner.store, pausePrefix(root))) {
      if (key.endsWith('.a')) settled.set(key.slice(pausePrefix(root).length, -2), value)
      else found.push(readable(thread, () => readPause(value)))
    }
  }
  const now = app.owner.clock.now()
  return found
    .filter(({ kind }) => kind === 'question')
    .sort((a, b) => a.n - b.n)
    .map((record) => {
      const end = settled.get(record.id)
      return interruption(
        thread,
        record,
        end === undefined ? undefined : readable(thread, () => readSettlement(end)),
        now,
        !head.open.some(({ id }) => id === record.id),
      )
    })
    .filter((one) => one.status === status)
}

/** The head's key of a thread, for those who only look. */
export const headOf = async ({ plan }: App, tenant: string, thread: string): Promise<Key> =>
  headKey((await address(plan.name, tenant, thread)).place)
