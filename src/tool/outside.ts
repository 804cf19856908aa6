import { decode, encode, type Cell } from '../durable/codec.ts'
import type { Use } from '../engine/meter.ts'
import { ApprovalPending, ToolUsageError } from '../errors.ts'
import type { CallOptions } from '../graph/context.ts'
import { newId } from '../lib/ids.ts'
import { tidy } from '../lib/tidy.ts'
import { openScope, type Room, type Scope } from '../scope/scope.ts'
import type { CallContext } from './executor.ts'
import { INSIDE } from '../hook/mark.ts'
import type { Generate } from '../model/ask.ts'
import type { Model } from '../model/model.ts'
import { askOutside } from './ask.ts'
import type { CallInside, Decision, Host, InnerContext, InputInside } from './inside.ts'
import type { Call, CallResult, Tool, ToolCall } from './tool.ts'

/** A call outside a thread. */
export interface Outside {
  readonly host: Host
  readonly call: ToolCall
  /** What its caller gave. */
  readonly given: CallContext
  /** Aborts with the caller's, and with the scope that was given. */
  readonly signal: AbortSignal
  readonly use: Use
  /** Begins a request to a model. */
  asks(): Use
  /** Decisions that stand for the rest of the thread. */
  readonly standing: Map<string, Decision> | undefined
  /** It got past all that could refuse it. */
  begun: boolean
  /** What it does now is nobody's business any more. */
  over: boolean
  /** Its own scope, once it was asked for. */
  room: Room | undefined
  report(event: unknown): void
  /** Run calls from inside this one. */
  callOne(tool: Tool | string, args: unknown, given: CallContext): Promise<unknown>
  callAll(calls: readonly Call[], given: CallContext): Promise<readonly CallResult[]>
}

/** Makes the context of a call outside a thread. */
export function outsideContext(own: Outside): InnerContext {
  const { host, call, given } = own
  const inside = insideOf(own)
  const memory = memo()
  const pause = (verb: string) => async (): Promise<never> => {
    const why = 'it runs outside a thread, where nothing can wait'
    throw new ToolUsageError(`Cannot ${verb} in tool "${call.tool}": ${why}`, { tool: call.tool })
  }
  const waits = {
    interrupt: pause('interrupt'),
    wait: pause('wait'),
    sleep: pause('sleep'),
    child: pause('run a child graph'),
  }
  const contextWith = (
    signal: AbortSignal,
    within: InputInside = inside,
    once = memory,
  ): InnerContext => {
    const inner = { ...given, signal }
    const ctx = {
      [INSIDE]: within,
      ...tidy({ thread: given.thread, run: given.run, user: given.user }),
      callId: call.id,
      ns: [],
      signal,
      get metadata(): unknown {
        return structuredClone(given.metadata ?? {})
      },
      get scope(): Scope {
        return given.scope ?? (own.room ??= openScope(own.signal, host.logger)).scope
      },
      now: () => host.clock.now(),
      async emit(data: unknown): Promise<void> {
        const copy = decode(encode(data, undefined, 'event'))
        if (!own.over && !signal.aborted) await given.emit?.(copy)
      },
      once,
      ...waits,
      call: (tool: Tool | string, args: unknown, { emit }: CallOptions = {}): Promise<unknown> =>
        own.callOne(tool, args, tidy<CallContext>({ ...inner, emit })),
      callAll: (calls: readonly Call[]): Promise<readonly CallResult[]> =>
        own.callAll(calls, tidy<CallContext>({ ...inner, emit: undefined })),
      generate: (model: Model, request: Generate<unknown>): Promise<unknown> =>
        askOutside(own, model, request, (around) => contextWith(signal, around, memo())),
    }
    return ctx as never
  }
  Object.assign(inside, { withSignal: (signal: AbortSignal) => contextWith(signal) })
  return contextWith(own.signal)
}

function insideOf(own: Outside): CallInside {
  const { host, given, standing } = own
  let id: string | undefined
  return {
    host,
    get used() {
      return own.use.used
    },
    report: own.report,
    phase: 'before',
    instead: undefined,
    decision: undefined,
    asked: false,
    depends: false,
    ran: undefined,
    whose: { runId: given.run, threadId: given.thread, tenant: undefined },
    begin: () => void (own.begun = true),
    keep: async () => {},
    onPause() {},
    approvalId: async () => (id ??= newId('apr_')),
    async ask(request) {
      throw new ApprovalPending(
        `Cannot call tool "${request.tool}": it needs an approval, and no thread can wait for it`,
        { thread: given.thread ?? '', interruptions: [request.id] },
      )
    },
    standing: (tool) => standing?.get(tool),
    stand: (tool, decision) => void standing?.set(tool, decision),
    record() {},
    withSignal: () => {
      throw new TypeError('Cannot make a context: the call has none yet')
    },
  }
}

/** What `once` is outside a thread: it holds for the call, whatever attempts that takes. A failure isn't kept. */
function memo(): (key: string, work: () => unknown) => Promise<unknown> {
  const works = new Map<string, Promise<Cell>>()
  return async (key, work) => {
    if (typeof key !== 'string' || typeof work !== 'function')
      throw new TypeError('Cannot call once: it takes a key and a function')
    const known = works.get(key)
    if (known) return decode(await known)
    const made = (async () => encode(await work(), undefined, 'once'))()
    works.set(key, made)
    made.catch(() => works.delete(key))
    return decode(await made)
  }
}
