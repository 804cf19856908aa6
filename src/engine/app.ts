import type { CachePort } from '../cache/port.ts'
import { ToolResultCache } from '../cache/results.ts'
import { cacheOn } from '../cache/store-cache.ts'
import { fitted } from '../durable/fit.ts'
import { sealed } from '../durable/seal.ts'
import type { Graph } from '../graph/graph.ts'
import { agentOf } from '../graph/agent-mark.ts'
import { plan } from '../graph/plan.ts'
import type { Fields, InputFor, StateOf } from '../graph/state.ts'
import { systemClock, whole, type Clock } from '../lib/clock.ts'
import { newId } from '../lib/ids.ts'
import { consoleLogger, guarded, type Logger } from '../lib/logger.ts'
import { memory } from '../store/memory.ts'
import type { Hook } from '../hook/hook.ts'
import type { Scope } from '../scope/scope.ts'
import type { Store } from '../store/store.ts'
import type { Tool } from '../tool/tool.ts'
import type { Prices } from '../usage.ts'
import type { Monitor, Presence } from './monitor.ts'
import { NodeContext } from './context.ts'
import { fork } from './fork.ts'
import { hookedBy } from './hooked.ts'
import { execute, live, type LiveRun } from './live.ts'
import { runs, threads } from './list.ts'
import { cancel, remove } from './manage.ts'
import { messages } from './messages.ts'
import { checkOptions } from './options.ts'
import { prune } from './prune.ts'
import { interruptions } from './questions.ts'
import { checkRequest, type Durability } from './request.ts'
import { Run, type App } from './run.ts'
import { IDS, type CompiledGraph, type LocalRunner } from './runner.ts'
import { history, state } from './snapshot.ts'
import { subscribe } from './subscribe.ts'
import { tick } from './tick.ts'
import { toolsByName } from './tools.ts'
import { exportThread, importThread } from './transfer.ts'
import { runUntilDone } from './until-done.ts'

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
  /** Are asked and told around every run of the app, resumed and recovered ones too, in this order. */
  readonly hooks?: readonly Hook[]
  /** Tools that nodes call by name. */
  readonly tools?: readonly Tool[]
  /** Where results of nodes and tools are cached. @default kept in `store` */
  readonly cache?: CachePort
  /** What tokens cost, for `usage.cost` and budgets, by `provider/model`. @default nothing has a cost */
  readonly prices?: Prices
  /** Is told of every run of the app. One that throws changes nothing; it is logged. */
  readonly monitor?: Monitor
  /** Shows what each run seems to be doing. One that throws changes nothing; it is logged. */
  readonly presence?: Presence
  /** What nodes and tools get as `ctx.scope`: one per request or Durable Object on Workers. @default one per run, closed before its outcome is there */
  readonly scope?: Scope
  /** @default warnings and errors to the console */
  readonly logger?: Logger
  /** Steps in one run of a graph; a child graph counts its own. @default 100 */
  readonly stepLimit?: number
  /** Node tasks of one graph at a time; a child graph counts its own. @default no limit */
  readonly concurrency?: number
  /** How long a silent owner keeps a thread, in milliseconds; renewed at half of it. @default 60_000 */
  readonly leaseMs?: number
  /** How long the outcome of a run waits for `onEvent` hooks that are behind, and for what its scope closes, in milliseconds. A stopped node is given up at once. @default 5_000 */
  readonly graceMs?: number
  /** @default 'step' */
  readonly durability?: Durability
}

/**
 * Makes a graph runnable. Checks names, joins and settings; does no I/O.
 *
 * @param graph What to run. Graphs can share a store; a thread belongs to the graph that started it (`GraphMismatch`)
 * @param options Where to keep threads, and what to run them with
 * @throws GraphInvalid if the graph can't work, RangeError or TypeError for a wrong option, ToolUsageError for two tools of one name
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
    messages: (thread, part) => messages(app, tenant, thread, part),
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
    [IDS]: app.newId,
  } as LocalRunner
}

function appOf(graph: Graph, options: CompileOptions): App {
  const cannot = checkOptions(graph, options)
  const {
    store = memory(),
    clock = systemClock,
    random = Math.random,
    stepLimit = 100,
    concurrency = Infinity,
    leaseMs = 60_000,
    graceMs = 5000,
    durability = 'step',
    scope,
    prices,
  } = options
  const make = options.newId ?? newId
  const time = whole(clock)
  const rows = sealed(fitted(store))
  const logger = guarded(options.logger ?? consoleLogger)
  const hooks = [...(options.hooks ?? [])]
  const cache = new ToolResultCache(options.cache ?? cacheOn(rows, time), { logger, clock: time })
  let owner: string | undefined
  return {
    plan: plan(graph),
    agent: agentOf(graph),
    owner: {
      store: rows,
      clock: time,
      random,
      leaseMs,
      listeners: new Map(),
      // Made when first needed: a Worker may not use randomness while it loads.
      get name() {
        return (owner ??= make('own_'))
      },
    },
    newId: make,
    context: (execution, within) => new NodeContext(execution, within),
    logger,
    ...hookedBy(
      {
        cache,
        flights: new Map(),
        clock: time,
        random,
        logger,
        graceMs,
        prices,
      },
      hooks,
    ),
    scope,
    tools: toolsByName(cannot, options.tools),
    monitor: options.monitor,
    presence: options.presence,
    stepLimit,
    concurrency,
    durability,
    active: new Map(),
  }
}
