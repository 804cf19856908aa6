import type { Hook } from '../hook/hook.ts'
import type { ToolInvocation } from '../hook/hook.ts'
import type { INSIDE } from '../hook/mark.ts'
import type { ToolResultCache } from '../cache/results.ts'
import type { ApprovalAnswer, ApprovalRequest } from './approval.ts'
import type { Calls } from '../engine/calls.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/logger.ts'
import type { Model } from '../model/model.ts'
import type { Schema } from '../schema.ts'
import type { Prices } from '../usage.ts'
import type { ToolContext } from './tool.ts'

/** What an app or an executor has for all its calls. */
export interface Host {
  readonly hooks: readonly Hook[]
  readonly cache: ToolResultCache | undefined
  /** Identical calls under way, by cache key. */
  readonly flights: Map<string, Promise<unknown>>
  readonly clock: Clock
  readonly random: () => number
  readonly logger: Logger
  /** How long work that ignores its signal is waited for, in milliseconds. */
  readonly graceMs: number
  /** What models cost: without it no tally has a `cost`. */
  readonly prices?: Prices | undefined
}

/** What has been used before the call, node or request at hand. */
export interface Tally {
  readonly toolCalls: number
  readonly modelCalls: number
  /** What nobody reported is absent. */
  readonly tokens?: number
  readonly cost?: number
  /** Milliseconds of running, waits not counted. */
  readonly ms: number
}

/** What hooks may reach through a context of the engine or of an executor, by `INSIDE`. */
export interface Inside {
  readonly host: Host
  /** `run`: since the last input, whatever resumed runs that took. */
  readonly used: { readonly run: Tally; readonly thread: Tally }
  /** Tells every `onEvent` of something that isn't the graph's, such as what a policy in shadow mode would have done. */
  report(event: unknown): void
}

/** What the context of a node has inside, for agents. */
export interface NodeInside extends Inside {
  readonly calls: Calls
  /** The model that the request of this run brought along; it goes before the agent's own. */
  readonly model: Model | undefined
  /** Whether the request asks agents to be deep. */
  readonly deep: boolean
}

/** A decision about a call, and whose it is. */
export interface Decision {
  readonly answer: ApprovalAnswer
  /** The user who answered, or the policy that decided. */
  readonly by?: string
  /** Milliseconds since 1970. */
  readonly at: number
}

/** What the context of one tool call, or of one request to a model, has inside. */
export interface InputInside extends Inside {
  /**
   * What goes in instead of the call's arguments, or of the request: what a guardrail put there, or a person who edited
   * arguments. The last to come counts. It is validated as what it replaces would have been, and `inv` stays as it was:
   * hooks that care for what goes in look here first.
   */
  instead: { readonly value: unknown } | undefined
}

/** How far a call is. */
export type Phase = 'before' | 'body' | 'after' | 'error'

/** What the context of one tool call has inside. */
export interface CallInside extends InputInside {
  /** The same context with a signal of its own: what one attempt of the body gets. */
  withSignal(signal: AbortSignal): InnerContext
  /** Who makes calls through the context now: hooks before the tool, the tool, hooks after it. What they ask and store is kept apart. */
  phase: Phase
  /** The call counts from here on: hooks, arguments and approval have let it through. Called once, if at all. */
  begin(): void
  /** Whose cached results it may use. An id that isn't known is absent. */
  readonly whose: {
    /** The root run, which others go on from. */
    readonly runId: string | undefined
    readonly threadId: string | undefined
    readonly tenant: string | undefined
  }
  /** Its body has been entered before, and what comes of it may depend on what was answered or stored since: nothing is cached. */
  readonly depends: boolean
  /** The call ran before a pause or a crash, and its hooks after it may not have: its stored value. */
  readonly ran: { readonly value: unknown } | undefined
  /** Stores that it ran. */
  keep(value: unknown): Promise<void>
  /** Tells when the call first waits for a person or a clock; it may never go on in this process. */
  onPause(call: () => void): void
  /** What was decided of this call, once something was. `approve` sets it, and puts edited arguments into `instead`. */
  decision: Decision | undefined
  /** Whether an approval of this call is on record, open or decided: `ask` finds it, whatever the rules say by now. */
  readonly asked: boolean
  /** The id that the approval of this call has or would have: `apr_…`. */
  approvalId(): Promise<string>
  /**
   * Asks a person, or finds what is on record. Never settles while it waits. `undefined`: nobody answered in time. Outside
   * a thread: rejects with `ApprovalPending`.
   *
   * @param schema An answer that doesn't fit it fails the run, and the question stays open
   */
  ask(
    request: ApprovalRequest,
    schema: Schema<ApprovalAnswer>,
    expires?: number,
  ): Promise<Decision | undefined>
  /** What was decided of this tool for the rest of the thread. */
  standing(tool: string): Decision | undefined
  /** Lets a decision stand for the rest of the thread. */
  stand(tool: string, decision: Decision): void
  /** Records a decision that nobody was asked for, as an answered interruption. */
  record(request: ApprovalRequest, decision: Decision): void
}

/** The context of one tool call. */
export type InnerContext = ToolContext & { readonly [INSIDE]: CallInside }

/** How an approval is come by. */
export interface ApprovalRule {
  /** Who decides if `decide` does: the name of the policy. */
  readonly by: string
  /** Whether the call needs one. What it throws fails the call. Not asked where the arguments were no JSON: that needs one. */
  readonly when: (inv: ToolInvocation) => boolean | Promise<boolean>
  /** Milliseconds until a request that nobody answered counts as denied. @default never */
  readonly expires?: number | undefined
  readonly decide?: Decide | undefined
  /** No hook puts other arguments in after it: what is on record of the call counts, whatever `when` says by now. */
  readonly last?: boolean
}

/** Decides without a person; `undefined` asks one. */
export type Decide = (
  request: ApprovalRequest,
  ctx: ToolInvocation['ctx'],
) => ApprovalAnswer | undefined | Promise<ApprovalAnswer | undefined>
