import type { RunContext } from '../graph/context.ts'
import type { Retry } from '../graph/graph.ts'
import type { Message } from '../model/message.ts'
import type { Model } from '../model/model.ts'
import type { Schema } from '../schema.ts'
import type { Tool } from '../tool/tool.ts'
import { loopOf } from './loop.ts'
import { agentFrom, type AgentSettings, type AnySpec } from './spec.ts'
import type { AgentGraph, AgentState } from './state.ts'

/** What `agent` takes. */
export interface AgentSpec<Output = undefined, Handoff extends string = never> {
  /** Names the agent in errors, pictures and storage; threads belong to it. */
  readonly name: string
  /** Asked for every request; a run may bring another one along, and has to if there is none. */
  readonly model?: Model | ((ctx: RunContext) => Model | Promise<Model>)
  /** Sent with every request and never stored as a message. */
  readonly instructions?:
    | string
    | ((state: AgentState<Output, Handoff>, ctx: RunContext) => string | Promise<string>)
  readonly tools?: readonly Tool[]
  /** Agents this one may hand over to, with when: adds one tool each, whose call ends this agent with `handoff` set. */
  readonly handoffs?: { readonly [K in Handoff]: string }
  /** Asks for a final answer of this shape, checked; one repair is tried. */
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever the schema takes
  readonly output?: Schema<any, Output>
  /** Model turns in one run. @default 20 */
  readonly maxTurns?: number
  /** Tool calls of one turn at a time. @default 4 */
  readonly concurrency?: number
  /** Ends the loop early, after the tools of a turn have run. */
  readonly stopWhen?: (state: AgentState<Output, Handoff>) => boolean
  /** Adds a to-do list, files in state, and `task` for sub-agents. @default false */
  readonly deep?: boolean
  /** What the model gets to read, when that isn't every message. */
  readonly compact?: (
    messages: readonly Message[],
    ctx: RunContext,
  ) => readonly Message[] | Promise<readonly Message[]>
  /** Asks the model again when its provider fails (`model_error`), as a node's `retry` does; other failures aren't retried. @default one attempt */
  readonly retry?: Retry
  /** Settings every request gets. */
  readonly settings?: AgentSettings
}

/**
 * Makes an agent: a model, its tools, and the loop between them. It is a graph like any other.
 *
 * @throws TypeError for what is missing, misspelt or of another type, RangeError for a number out of range,
 * ToolUsageError for two tools of one name
 */
export function agent<Output = undefined, const Handoff extends string = never>(
  spec: AgentSpec<Output, Handoff>,
): AgentGraph<Output, Handoff> {
  return loopOf(agentFrom(spec as AnySpec)) as never
}
