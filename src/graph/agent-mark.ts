import type { Journal } from '../durable/journal.ts'
import type { Model } from '../model/model.ts'
import type { RunContext } from './context.ts'
import type { Graph } from './graph.ts'

/** What a graph says of itself that is an agent. */
export interface AgentMark {
  readonly name: string
  /** Absent: only runs that bring a model along can ask one. */
  readonly model: Model | ((ctx: RunContext) => Model | Promise<Model>) | undefined
  /** What the journal has of a task that new input drops, as an update that goes before it. */
  readonly left: (state: object, task: string, journal: Journal) => object | undefined
}

/** Where an agent's graph keeps that. */
export const AGENT: unique symbol = /* @__PURE__ */ Symbol.for('heddle.agent') as never

/** What a graph says of itself if it is an agent. */
export const agentOf = (graph: Graph): AgentMark | undefined =>
  (graph as { readonly [AGENT]?: AgentMark })[AGENT]
