import type { CachePort } from '../cache/port.ts'
import { ToolResultCache } from '../cache/results.ts'
import { encode } from '../durable/codec.ts'
import type { Metadata } from '../durable/records.ts'
import { Reports } from '../engine/reports.ts'
import { toolsByName } from '../engine/tools.ts'
import type { CallOptions } from '../graph/context.ts'
import type { Hook } from '../hook/hook.ts'
import { systemClock, type Clock } from '../lib/clock.ts'
import { newId } from '../lib/ids.ts'
import { consoleLogger, guarded, type Logger } from '../lib/logger.ts'
import { tidy } from '../lib/tidy.ts'
import { roomOf, type Scope } from '../scope/scope.ts'
import type { Host } from './inside.ts'
import { ledger } from './ledger.ts'
import { linked } from './linked.ts'
import { told, valueOf } from './outcome.ts'
import { inTurns } from './turns.ts'
import { outsideContext, type Outside } from './outside.ts'
import { perform } from './perform.ts'
import { checkCaller, checkExecutor } from './rules.ts'
import type { Call, CallResult, Tool } from './tool.ts'
import { isOurs, wantedFrom, type Wanted } from './wanted.ts'

/** What a caller outside a thread can give. Without `run` or `thread` a cache of that scope isn't used. */
export interface CallContext extends CallOptions {
  readonly run?: string
  readonly thread?: string
  readonly user?: string
  readonly metadata?: Metadata
  /** Owns what tools keep in `ctx.scope`; its end aborts them. @default one per call, closed before the call settles */
  readonly scope?: Scope
  readonly signal?: AbortSignal
}

/** What an executor runs with. */
export interface ExecutorOptions {
  readonly tools: readonly Tool[]
  /** In this order before a tool, in the reverse order after it. @default none */
  readonly hooks?: readonly Hook[]
  /** Where results are kept of tools that say `cache`. @default nowhere */
  readonly cache?: CachePort
  /** Calls of one `runAll` at a time. @default 4 */
  readonly concurrency?: number
  /** The scope of calls that bring none. @default one per call */
  readonly scope?: Scope
  /** @default warnings and errors to the console */
  readonly logger?: Logger
  /** @default the platform's */
  readonly clock?: Clock
  /** 0 ≤ x < 1, for the jitter of retries. @default Math.random */
  readonly random?: () => number
}

/** Runs tools under hooks, policies and cache, outside of threads. */
export interface Executor {
  readonly tools: ReadonlyMap<string, Tool>
  /** Runs one call. Rejects with what went wrong, with `ApprovalDenied` if it was denied. */
  run<Input, Result>(tool: Tool<Input, Result>, args: Input, context?: CallContext): Promise<Result>
  run(tool: string, args: unknown, context?: CallContext): Promise<unknown>
  /** Runs calls at once, waits for all and keeps their order; failures are results, not rejections. */
  runAll(calls: readonly Call[], context?: CallContext): Promise<readonly CallResult[]>
}

/**
 * Makes an executor.
 *
 * @throws ToolUsageError if two tools have one name, TypeError or RangeError for options that make no sense
 */
export function createExecutor(options: ExecutorOptions): Executor {
  checkExecutor('Cannot make an executor', options)
  const { hooks = [], cache, concurrency = 4, scope, clock = systemClock } = options
  const tools = toolsByName('Cannot make an executor', options.tools)
  const logger = guarded(options.logger ?? consoleLogger)
  const host: Host = {
    hooks: [...hooks],
    cache: cache && new ToolResultCache(cache, { logger, clock }),
    flights: new Map(),
    clock,
    random: options.random ?? Math.random,
    logger,
    graceMs: 5000,
  }
  const books = ledger(clock)
  const reports = new Reports({ logger, listeners: host.hooks.filter(({ onEvent }) => onEvent) })

  async function one(
    { call, given: id }: Wanted,
    given: CallContext,
    spec = tools.get(call.tool),
  ): Promise<CallResult> {
    const link = linked(given.signal, given.scope?.signal)
    const own: Outside = {
      host,
      call: { ...call, id: isOurs(id) ? id : newId('call_') },
      given,
      signal: link.signal,
      use: books.begin(given.run, given.thread),
      asks: () => books.begin(given.run, given.thread, 'model'),
      standing: books.standing(given.thread),
      begun: false,
      over: false,
      room: undefined,
      report: (event) => reports.add(whose(given), encode(event)),
      callOne,
      callAll,
    }
    try {
      const ending = await perform(spec, own.call, outsideContext(own), tools.keys())
      return told({ id: id ?? own.call.id, tool: call.tool }, ending)
    } finally {
      own.over = true
      own.use.end(own.begun)
      link.end()
      await own.room?.close()
    }
  }

  async function callOne(tool: Tool | string, args: unknown, given: CallContext): Promise<unknown> {
    const name = typeof tool === 'string' ? tool : tool.name
    const [wanted] = wantedFrom([{ tool: name, args }]) as [Wanted]
    return valueOf(await one(wanted, given, typeof tool === 'string' ? undefined : tool), name)
  }

  async function callAll(
    calls: readonly Call[],
    given: CallContext,
  ): Promise<readonly CallResult[]> {
    return inTurns(wantedFrom(calls), concurrency, (call) => one(call, given))
  }

  const checked = (given: CallContext): CallContext => {
    checkCaller('Cannot call a tool', given)
    encode(given.metadata, undefined, 'metadata')
    const shared = given.scope ?? scope
    if (shared) roomOf(shared)
    return tidy<CallContext>({ ...given, scope: shared })
  }
  return {
    tools,
    run: async (tool: Tool | string, args: unknown, context: CallContext = {}) =>
      callOne(tool, args, checked(context)) as never,
    runAll: async (calls, context = {}) => callAll(calls, checked(context)),
  }
}

/** Where what policies report comes from. */
const whose = ({
  thread = '',
  run = '',
}: CallContext): {
  readonly thread: string
  readonly run: string
  readonly ns: readonly string[]
  readonly step: number
  readonly node: string
} => ({ thread, run, ns: [], step: 0, node: '' })
