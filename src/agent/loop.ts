import { AGENT, type AgentMark } from '../graph/agent-mark.ts'
import { isHeddleError } from '../errors.ts'
import { graph, type Graph, type Retry } from '../graph/graph.ts'
import { field } from '../schema.ts'
import type { AgentEvent } from './event.ts'
import { openCalls } from './history.ts'
import { leftIn } from './left.ts'
import { modelNode } from './model-node.ts'
import { workerOf, type Agent } from './spec.ts'
import { fieldsOf, type AnyFields, type AnyState } from './state.ts'
import { toolboxOf } from './toolbox.ts'
import { toolsNode } from './tools-node.ts'

/** The failures of a provider are what may pass; a function of the agent's own that fails is a mistake. */
const patience = ({ retry }: Agent): { readonly retry?: Retry } =>
  retry
    ? {
        retry: {
          ...retry,
          when: (error) => isHeddleError(error, 'model_error') && (retry.when?.(error) ?? true),
        },
      }
    : {}

/** The graph of an agent: its model, its tools, and the loop between them. */
export function loopOf(agent: Agent): Graph<AnyFields, 'model' | 'tools', AgentEvent> {
  const { name, model } = agent
  const stops = agent.stopWhen as ((state: AnyState) => boolean) | undefined
  const toolbox = toolboxOf(agent, () => loopOf(workerOf(agent)))
  const loop = graph({
    name,
    state: fieldsOf(),
    events: field<AgentEvent>(),
    nodes: {
      model: { run: modelNode(agent, toolbox), ...patience(agent) },
      tools: toolsNode(agent, toolbox),
    },
    edges: {
      start: 'model',
      model: {
        to: ['tools', 'end'],
        pick: ({ messages }) => (openCalls(messages).length > 0 ? 'tools' : 'end'),
      },
      tools: {
        to: ['model', 'end'],
        pick: (state) => (state.handoff !== undefined || stops?.(state) ? 'end' : 'model'),
      },
    },
  })
  const mark: AgentMark = { name, model, left: leftIn(agent) }
  return { ...loop, ...{ [AGENT]: mark } }
}
