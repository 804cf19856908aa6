import { toolsByName } from '../engine/tools.ts'
import type { Graph } from '../graph/graph.ts'
import type { Message } from '../model/message.ts'
import type { Tool } from '../tool/tool.ts'
import {
  deepInstructions,
  deepTools,
  taskInstructions,
  type DeepOptions,
  type DeepState,
} from './deep.ts'
import { insideOf, type AgentContext } from './inside.ts'
import type { Agent } from './spec.ts'
import type { AnyFields, AnyState } from './state.ts'

/** What an agent has to work with. */
export interface Toolbox {
  /** Whether it plans, keeps files and hands tasks on: it says so itself or, at the top, the run does. */
  isDeep(ctx: AgentContext): boolean
  /** What it may call. @param state Where deep tools read; those that are only offered read nothing */
  tools(ctx: AgentContext, state?: DeepState): ReadonlyMap<string, Tool>
  /** What it tells its model each time. */
  instructions(state: AnyState, ctx: AgentContext): Promise<string | undefined>
}

/**
 * Puts together what an agent has to work with.
 *
 * @param worker Makes the agent that does tasks
 */
export function toolboxOf(agent: Agent, worker: () => Graph<AnyFields>): Toolbox {
  const { name, own, handed, instructions } = agent
  const plain = [...own.values(), ...[...handed.values()].map(({ how }) => how)]
  const isDeep = (ctx: AgentContext): boolean =>
    agent.deep === true || (ctx.ns.length === 0 && insideOf(ctx).deep)
  let graph: Graph<AnyFields> | undefined
  const task: DeepOptions['task'] = async ({ description: text }, ctx, files) => {
    graph ??= worker()
    const end = await ctx.child(graph, { messages: [{ role: 'user', text }], files })
    return { text: lastWords(end.messages), files: end.files }
  }
  const options = agent.works ? {} : { task }
  return {
    isDeep,
    tools(ctx, state = {}) {
      const all = isDeep(ctx) ? [...plain, ...deepTools(state, options)] : plain
      return toolsByName(`Cannot run agent "${name}"`, all)
    },
    async instructions(state, ctx) {
      const given =
        typeof instructions === 'function' ? await instructions(state as never, ctx) : instructions
      if (instructions !== undefined && typeof given !== 'string')
        throw new TypeError(
          `Cannot ask the model of agent "${name}": instructions() gave back no text`,
        )
      if (!isDeep(ctx)) return given
      const parts = [given, deepInstructions, agent.works ? undefined : taskInstructions]
      return parts.filter((part) => part !== undefined).join('\n\n')
    },
  }
}

/** What an agent said in the end. */
const lastWords = (messages: readonly Message[]): string =>
  messages.findLast(({ role }) => role === 'assistant')?.text ?? ''
