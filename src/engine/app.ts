import type {
  Interruption,
  Metadata,
  Run as RunRow,
  Snapshot,
  Status,
  Thread,
} from '../durable/records.ts'
import { fitted } from '../durable/fit.ts'
import { sealed } from '../durable/seal.ts'
import type { ThreadExport } from '../durable/transfer.ts'
import type { Graph } from '../graph/graph.ts'
import { plan } from '../graph/plan.ts'
import type { Fields, InputFor, StateOf } from '../graph/state.ts'
import { systemClock, whole, type Clock } from '../lib/clock.ts'
import { newId } from '../lib/ids.ts'
import { consoleLogger, guarded, type Logger } from '../lib/logger.ts'
import { memory } from '../store/memory.ts'
import type { Store } from '../store/store.ts'
import { NodeContext } from './context.ts'
import type { StreamEvent } from './event.ts'
import { fork } from './fork.ts'
import { execute, live, type LiveRun } from './live.ts'
import { runs, threads } from './list.ts'
import { cancel, remove } from './manage.ts'
import { checkOptions } from './options.ts'
import { prune } from './prune.ts'
import { interruptions } from './questions.ts'
import { checkRequest, type Durability, type Outcome, type RunRequest } from './request.ts'
import { Run, type App } from './run.ts'
import { history, state } from './snapshot.ts'
import { subscribe } from './subscribe.ts'
import { tick, type Ticked } from './tick.ts'
import { exportThread, importThread } from './transfer.ts'
import { runUntilDone } from './until-done.ts'

/** What runs threads of one graph: a compiled graph in this process, or a client of one elsewhere. */
export interface Runner<State = any, Input = any, Name extends string = any, Event = any> {
  /** Runs and reports. The request is checked first: a refusal rejects `id`, `outcome` and the first `next()`, and changes nothing. */
  stream(request: RunRequest<Input>): LiveRun<Name, State, Event>
  /** Runs until the next pause or the end. */
  run(request: RunRequest<Input>): Promise<Outcome<State>>
  /** Where a thread stands, now or at a checkpoint; `undefined` for an unknown one. */
  state(
    thread: string,
    options?: { readonly checkpoint?: string },
  ): Promise<Snapshot<State, Name> | undefined>
  /** The same inside a child graph, by the names of the nodes that lead to it. */
  state(
    thread: string,
    options: { readonly checkpoint?: string; readonly ns: readonly string[] },
  ): Promise<Snapshot | undefined>
  /** Checkpoints, newest first, read as far as you go. */
  history(
    thread: string,
    options?: { readonly limit?: number; readonly before?: string },
  ): AsyncIterable<Snapshot<State, Name>>
  history(
    thread: string,
    options: { readonly limit?: number; readonly before?: string; readonly ns: readonly string[] },
  ): AsyncIterable<Snapshot>
  /** Makes a new branch at a checkpoint, or a new thread with `to`; `update` replaces fields, past any reducer. Runs nothing: `run({ thread })` goes on from it. */
  fork(
    thread: string,
    options: { readonly from: string; readonly update?: Partial<State>; readonly to?: string },
  ): Promise<{ readonly thread: string; readonly checkpoint: string }>
  /** Events that are recorded after `after` (all by default), then those that come. Ends with the run if `run` is given, with `signal` otherwise. */
  subscribe(
    thread: string,
    options?: { readonly after?: number; readonly run?: string; readonly signal?: AbortSignal },
  ): AsyncIterable<StreamEvent<Name, State, Event>>
  /** The same inside a child graph. */
  subscribe(
    thread: string,
    options: {
      readonly after?: number
      readonly run?: string
      readonly signal?: AbortSignal
      readonly ns: readonly string[]
    },
  ): AsyncIterable<StreamEvent>
  /** Threads of this graph, newest first. */
  threads(options?: {
    readonly status?: Status
    readonly limit?: number
    readonly before?: string
  }): AsyncIterable<Thread>
  /** Runs of a thread, newest first. */
  runs(
    thread: string,
    options?: { readonly limit?: number; readonly before?: string },
  ): AsyncIterable<RunRow>
  /** Questions of one thread or of all, oldest first. @default the open ones, at most 100 */
  interruptions(options?: {
    readonly thread?: string
    readonly status?: Interruption['status']
    readonly limit?: number
  }): Promise<readonly Interruption[]>
  /** Stops the thread's run, wherever it runs, and voids its pauses. `run({ thread })` goes on from the last checkpoint, `input` starts a new turn. */
  cancel(thread: string, reason?: string): Promise<void>
  /** Removes a thread whole, child namespaces included. */
  delete(thread: string): Promise<void>
}

/** The runner type of a graph: `RunnerOf<typeof triage>`. */
export type RunnerOf<G extends Graph> =
  G extends Graph<infer F, infer Name, infer Event>
    ? Runner<StateOf<F>, InputFor<F>, Name, Event>
    : never

/** A runner in this process, for one tenant or for none. */
export interface LocalRunner<
  State = any,
  Input = any,
  Name extends string = any,
  Event = any,
> extends Runner<State, Input, Name, Event> {
  /** As `run`, sleeping in this process until nothing but questions is open. It keeps the process. */
  runUntilDone(request: RunRequest<Input>): Promise<Outcome<State>>
  /** Drops old checkpoints of a thread that nobody runs; what is kept is read as before. Tells how many are gone. */
  prune(
    thread: string,
    kept: { readonly keepLast?: number; readonly olderThan?: Date },
  ): Promise<{ readonly removed: number }>
  /** A thread as one portable value, and back; the other side refuses a thread that it already has. */
  exportThread(thread: string): Promise<ThreadExport>
  importThread(
    value: ThreadExport,
    arrival?: { readonly to?: string; readonly metadata?: Metadata },
  ): Promise<Thread>
}

/** A graph that runs in this process. */
export interface CompiledGraph<
  State = any,
  Input = any,
  Name extends string = any,
  Event = any,
> extends LocalRunner<State, Input, Name, Event> {
  readonly name: string
  /** The same app for one tenant: only its threads, lists and questions; ids are unique within it. `tick` serves all. */
  tenant(id: string): LocalRunner<State, Input, Name, Event>
  /** Continues due waits, earliest first, and recovers runs whose owner died; resolves when those runs have paused or ended. `next`: when to come again. A failing run is recorded, not thrown. */
  tick(options?: { readonly now?: number; readonly limit?: number }): Promise<Ticked>
}

/** What a graph runs with. */
export interface CompileOptions {
  /** @default memory() */
  readonly store?: Store
  /** @default the platform's */
  readonly clock?: Clock
  /** 0 ≤ x < 1, for jitter and the ends of ids. @default Math.random */
  readonly random?: () => number
  /** @default the prefix and a nanoid */
  readonly newId?: (prefix: string) => string
  /** @default warnings and errors to the console */
  readonly logger?: Logger
  /** Steps in one run of a graph; a child graph counts its own. @default 100 */
  readonly stepLimit?: number
  /** Node tasks of one graph at a time; a child graph counts its own. @default no limit */
  readonly concurrency?: number
  /** How long a silent owner keeps a thread, in milliseconds; renewed at half of it. @default 60_000 */
  readonly leaseMs?: number
  /** How long a stopped node or hook may go on before it is given up, in milliseconds. Nothing waits yet: a node is given up at once. @default 5_000 */
  readonly graceMs?: number
  /** @default 'step' */
  readonly durability?: Durability
}

/**
 * Makes a graph runnable. Checks names, joins and settings; does no I/O.
 *
 * @param graph What to run. Graphs can share a store; a thread belongs to the graph that started it (`GraphMismatch`)
 * @param options Where to keep threads, and what to run them with
 * @throws GraphInvalid if the graph can't work, RangeError or TypeError for a wrong option
 */
export function compile<F extends Fields, Name extends string, Event = never>(
  graph: Graph<F, Name, Event>,
  options?: CompileOptions,
): CompiledGraph<StateOf<F>, InputFor<F>, Name, Event>
export function compile(graph: Graph, options: CompileOptions = {}): CompiledGraph {
  const app = appOf(graph, options)
  return {
    name: graph.name,
    ...runner(app, ''),
    tenant(id) {
      if (typeof id !== 'string')
        throw new TypeError(`Cannot serve a tenant of graph "${graph.name}": its id is no string`)
      return runner(app, id)
    },
    tick: (request) => tick(app, request),
  }
}

function runner(app: App, tenant: string): LocalRunner {
  return {
    stream: (request) => live(app, request, tenant) as LiveRun<any, any, any>,
    async run(request) {
      checkRequest(request)
      return execute(new Run(app, request), { ...request, tenant })
    },
    state: (thread, at) => state(app, tenant, thread, at),
    history: (thread, range) => history(app, tenant, thread, range),
    fork: (thread, options) => fork(app, tenant, thread, options),
    subscribe: (thread, options) => subscribe(app, tenant, thread, options) as AsyncIterable<any>,
    threads: (range) => threads(app, tenant, range),
    runs: (thread, range) => runs(app, tenant, thread, range),
    interruptions: (filter) => interruptions(app, tenant, filter),
    cancel: (thread, reason) => cancel(app, tenant, thread, reason),
    delete: (thread) => remove(app, tenant, thread),
    async runUntilDone(request) {
      checkRequest(request)
      return runUntilDone(app, { ...request, tenant })
    },
    prune: (thread, kept) => prune(app, tenant, thread, kept),
    exportThread: (thread) => exportThread(app, tenant, thread),
    importThread: (value, arrival) => importThread(app, tenant, value, arrival),
  }
}

function appOf(graph: Graph, options: CompileOptions): App {
  checkOptions(graph, options)
  const {
    store = memory(),
    clock = systemClock,
    random = Math.random,
    stepLimit = 100,
    concurrency = Infinity,
    leaseMs = 60_000,
    durability = 'step',
  } = options
  const make = options.newId ?? newId
  let owner: string | undefined
  return {
    plan: plan(graph),
    owner: {
      store: sealed(fitted(store)),
      clock: whole(clock),
      random,
      leaseMs,
      listeners: new Map(),
      // Made when first needed: a Worker may not use randomness while it loads.
      get name() {
        return (owner ??= make('own_'))
      },
    },
    newId: make,
    context: (execution) => new NodeContext(execution),
    logger: guarded(options.logger ?? consoleLogger),
    stepLimit,
    concurrency,
    durability,
    active: new Map(),
  }
}
