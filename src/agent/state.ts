import type { Graph } from '../graph/graph.ts'
import { messages } from '../graph/messages.ts'
import type { Reduced, StateOf } from '../graph/state.ts'
import type { Message, NewMessage, RemoveMessage } from '../model/message.ts'
import { field, type Schema } from '../schema.ts'
import type { DeepState } from './deep.ts'
import type { AgentEvent } from './event.ts'

/** What an agent remembers. A type alias, so that it counts as `Fields`. */
export type AgentFields<Output, Handoff extends string> = {
  readonly messages: Reduced<
    readonly NewMessage[] | undefined,
    readonly Message[],
    readonly (NewMessage | RemoveMessage)[]
  >
  /** The structured answer of the last turn, once there is one. */
  readonly output: Schema<Output | undefined, Output | undefined>
  /** Which agent should go on; set when this one handed over in the last turn. */
  readonly handoff: Schema<Handoff | undefined, Handoff | undefined>
}

/** An agent is an ordinary graph. */
export type AgentGraph<Output = undefined, Handoff extends string = never> = Graph<
  AgentFields<Output, Handoff>,
  'model' | 'tools',
  AgentEvent
>

/** The state of an agent. */
export type AgentState<Output = undefined, Handoff extends string = never> = StateOf<
  AgentFields<Output, Handoff>
>

/** The fields of any agent, with those that only a deep one fills. */
export type AnyFields = AgentFields<unknown, string> & {
  readonly [K in keyof DeepState]-?: Schema<DeepState[K], DeepState[K]>
}

/** The state of any agent. */
export type AnyState = StateOf<AnyFields>

/** The fields of an agent. */
export const fieldsOf = (): AnyFields => ({
  messages: messages(),
  output: field<unknown>(undefined),
  handoff: field<string | undefined>(undefined),
  todos: field<DeepState['todos']>(undefined),
  files: field<DeepState['files']>(undefined),
})
