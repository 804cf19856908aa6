import { decode, encode } from '../durable/codec.ts'
import { OF_TOOL } from '../engine/approval.ts'
import type { Calls } from '../engine/calls.ts'
import { NodeContext } from '../engine/context.ts'
import type { Use } from '../engine/meter.ts'
import type { PauseOptions } from '../graph/context.ts'
import type { Graph } from '../graph/graph.ts'
import { INSIDE } from '../hook/mark.ts'
import type { CallInside, InnerContext } from './inside.ts'
import { approvalsOf } from './thread-approvals.ts'

/** What is told of a call by whoever runs it. */
export interface About extends Pick<CallInside, 'ran' | 'keep' | 'begin'> {
  readonly callId: string
  readonly use: Use
  readonly agent?: string | undefined
  readonly emit?: ((data: unknown) => void | Promise<void>) | undefined
}

/** What a tool gets inside a thread: what its node has, with calls, a signal and events of its own. */
class CallContext extends NodeContext {
  readonly #about: About

  /** @param own The signal of one attempt. Without, hooks have it as well: each in its phase */
  constructor(calls: Calls, about: About, inside: CallInside, own?: AbortSignal) {
    super(calls.execution, {
      calls: () => (own || inside.phase === 'body' ? calls : calls.apart(inside.phase)),
      signal: own ?? calls.signal,
      inside,
      agent: about.agent,
      alive: calls.life(own ? 'one' : 'all'),
    })
    this.#about = about
  }

  get callId(): string {
    return this.#about.callId
  }

  /** Shows how far it is. */
  override get emit(): (data: unknown) => Promise<void> {
    return async (data) => {
      const copy = decode(encode(data, this.node, 'event'))
      if (this.alive()) await this.#about.emit?.(copy)
    }
  }

  /** What a child graph emits says how far the tool is. */
  override child(
    graph: Graph,
    input: unknown,
    options: PauseOptions & { readonly emit?: (event: unknown) => unknown } = {},
  ): Promise<unknown> {
    const emit = (event: unknown): undefined => {
      const told = options.emit ? options.emit(event) : event
      if (told !== undefined) this.emit(told).catch(() => {})
    }
    return super.child(graph, input, { ...options, emit })
  }
}

/** Makes the context of one call. */
export function contextOf(calls: Calls, about: About): InnerContext {
  const node = new NodeContext(calls.execution)[INSIDE]
  const { claim, journal } = calls.execution.step.level.run
  const { root, thread, tenant } = claim.head
  let attempts = 0
  const inside: CallInside = {
    ...approvalsOf(calls, about.agent),
    host: node.host,
    get used() {
      return about.use.used
    },
    report: (event) => node.report(event),
    whose: { runId: root, threadId: thread, tenant: tenant || undefined },
    phase: 'before',
    instead: undefined,
    decision: undefined,
    depends: [...(journal.of(calls.id)?.places.keys() ?? [])].some((place) => place !== OF_TOOL),
    ran: about.ran,
    keep: about.keep,
    begin: about.begin,
    onPause: (call) => calls.onWait(call),
    withSignal(signal) {
      // What the attempt before has under way doesn't count any more.
      if (attempts++ > 0) {
        calls.over('one', signal.reason)
        calls.again()
      }
      return new CallContext(calls, about, inside, signal) as never
    },
  }
  return new CallContext(calls, about, inside) as never
}
