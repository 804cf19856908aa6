import type { Context } from '../graph/context.ts'
import { INSIDE } from '../hook/mark.ts'
import type { NodeInside } from '../tool/inside.ts'
import type { AgentEvent } from './event.ts'

/** The context of a node of an agent. */
export type AgentContext = Context<AgentEvent>

/** What the context of a node has inside. */
export const insideOf = (ctx: AgentContext): NodeInside =>
  (ctx as unknown as { readonly [INSIDE]: NodeInside })[INSIDE]
