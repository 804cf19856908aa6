// What the suites of faults share: a place where processes die and come back, and a try at every operation.
import {
  compile,
  isHeddleError,
  type CompiledGraph,
  type CompileOptions,
  type Graph,
  type RunRequest,
  type Store,
  type StreamEvent,
} from 'heddle'
import {
  manualClock,
  withFaults,
  type Fault,
  type FaultyStore,
  type Operation,
} from 'heddle/testing'
import { all, equal, rowsOf } from './portable.ts'
import { silent } from '../fakes/silent.ts'

/** A way to fail at an operation. */
export type Way = 'crash before' | 'crash after' | 'lost reply' | 'error' | 'torn'

const FAULTS: Readonly<Record<Way, (at: number) => readonly Fault[]>> = {
  'crash before': (at) => [{ at, crash: 'before' }],
  'crash after': (at) => [{ at, crash: 'after' }],
  'lost reply': (at) => [{ at, lose: 'reply' }],
  error: (at) => [{ at, error: new Error('out of order') }],
  torn: (at) => [
    { at, tear: 1 },
    { at, crash: 'after' },
  ],
}

/** How many tries run side by side: what they wait for is the store. */
const LANES = 8
/** How long a dead process keeps a thread. */
export const LEASE = 60_000
/** One machine: its processes die with their store, and others follow. */
export interface Machine {
  /** The app of the process that runs now. */
  readonly app: CompiledGraph
  readonly store: FaultyStore
  /** Lets time pass. A new process goes on then. */
  later(ms: number): void
}

/** A machine on a store. */
export function machine(
  store: Store,
  graph: Graph,
  faults: readonly Fault[] = [],
  more: CompileOptions = {},
): Machine {
  let faulty = withFaults(store, faults)
  let clock = manualClock()
  const open = (): CompiledGraph =>
    compile(graph, { ...more, store: faulty, clock, logger: silent, leaseMs: LEASE })
  let app = open()
  return {
    get app() {
      return app
    },
    get store() {
      return faulty
    },
    later(ms) {
      if (faulty.crashed) faulty = faulty.restart()
      // A new clock: what the old process still waits for never comes.
      clock = manualClock(new Date(clock.now() + ms))
      app = open()
    },
  }
}

/**
 * One try on a store with these faults: it resolves with the operations that could fail. Its thread, and its graph, are
 * named as it is, so that many share a store and none ticks another's threads; it deletes what it made.
 */
export type Try = (
  store: Store,
  name: string,
  faults: readonly Fault[],
) => Promise<readonly Operation[]>

/**
 * Does a try without a fault, then one for every commit that it had, failing there; an error is tried at every read as
 * well. A crash at a read is one before the next commit. At the end nothing may be left in the store.
 */
export async function atEveryOperation(store: Store, way: Way, attempt: Try): Promise<void> {
  const log = await attempt(store, `${way} never`, [])
  const ats = log.flatMap(({ n, op, keys }) => {
    if (op !== 'commit') return way === 'error' ? n : []
    return way === 'torn' && keys.length < 2 ? [] : n
  })
  if (ats.length < 5) throw new Error(`it has ${ats.length} operations only`)
  const lane = async (): Promise<void> => {
    for (let at = ats.shift(); at !== undefined; at = ats.shift()) {
      const n = at
      await attempt(store, `${way} ${at}`, FAULTS[way](at)).catch((error: unknown) => {
        throw new Error(`${way} at ${n} (${log[n - 1]!.op}): ${String(error)}`, { cause: error })
      })
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  // Without atomic batches a row of an index may lead nowhere, until somebody reads it who can trust what he reads.
  const { atomic } = store.caps
  const left = [...(await rowsOf(store)).keys()].filter((key) => atomic || !/^[do]\//.test(key))
  equal(left, [], 'rows that are left')
}

/** Cases that do a try after each kind of fault, on a store that is opened for each. */
export const afterFaults = (
  named: (what: string) => string,
  attempt: Try,
): Readonly<Record<string, (reopen: () => Promise<Store>) => Promise<void>>> =>
  Object.fromEntries(
    Object.entries({
      'a crash before any commit': 'crash before',
      'a crash after any commit': 'crash after',
      'a lost reply of any commit': 'lost reply',
      'an error at any operation': 'error',
    } as const).map(([what, way]) => [
      named(what),
      async (reopen: () => Promise<Store>) => {
        const store = await reopen()
        await atEveryOperation(store, way, attempt)
        if (way === 'crash before' && !store.caps.atomic)
          await atEveryOperation(store, 'torn', attempt)
      },
    ]),
  )

/** Fails unless every checkpoint but the first follows the one before it. */
export async function oneLine(app: CompiledGraph, thread: string): Promise<void> {
  const history = await all(app.history(thread))
  const ids = history.map(({ checkpoint }) => checkpoint)
  const parents = history.map(({ parent }) => parent)
  equal(parents, [...ids.slice(1), undefined], 'parents, newest first')
}

/** What a request tells and how it ends: a status, or what it was refused or failed with. */
export async function told(
  app: CompiledGraph,
  request: RunRequest,
): Promise<{ readonly events: readonly StreamEvent[]; readonly end: string }> {
  const events: StreamEvent[] = []
  const run = app.stream(request)
  try {
    for await (const event of run) events.push(event)
    return { events, end: (await run.outcome).status }
  } catch (error) {
    return { events, end: isHeddleError(error) ? error.code : String(error) }
  }
}
