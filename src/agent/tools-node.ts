import { leave } from '../engine/leave.ts'
import { tidy } from '../lib/tidy.ts'
import type { NewMessage } from '../model/message.ts'
import { machine } from '../tool/thread.ts'
import type { CallResult } from '../tool/tool.ts'
import { answerOf, fatal, resultEvent } from './answer.ts'
import { deepUpdate, type DeepState } from './deep.ts'
import { handOver } from './handoff.ts'
import { openCalls } from './history.ts'
import { insideOf, type AgentContext } from './inside.ts'
import type { Agent } from './spec.ts'
import type { AnyState } from './state.ts'
import type { Toolbox } from './toolbox.ts'

/** What it changes. */
interface Update extends DeepState {
  readonly messages: readonly NewMessage[]
  readonly handoff?: string
}

/** Makes the node that runs the calls of the model's last message. Each gets one answer, in the order of the calls. */
export function toolsNode(
  agent: Agent,
  toolbox: Toolbox,
): (state: AnyState, ctx: AgentContext) => Promise<Update> {
  const { name, concurrency } = agent
  return async (state, ctx) => {
    const { calls } = insideOf(ctx)
    const { signal } = ctx
    const open = openCalls(state.messages)
    const ended: CallResult[] = []
    // What has ended when the run does is told to whoever goes on, unless it changes the state: that it hasn't done.
    const keep = (): void => {
      const own = ended.filter(({ tool }) => agent.own.has(tool))
      if (own.length > 0) leave(calls.execution, { messages: own.map(answerOf) })
    }
    signal.addEventListener('abort', keep)
    try {
      const results = await machine.callAll(calls, open, {
        tools: toolbox.tools(ctx, state),
        concurrency,
        agent: name,
        returns: true,
        emit: (data, call) => ctx.emit({ kind: 'tool_progress', call, data }),
        ended(result) {
          if (fatal(result)) return
          ended.push(result)
          // Not waited for: they are to be stored first.
          void ctx.emit(resultEvent(result))
        },
      })
      const failed = results.find(fatal)
      if (failed) {
        keep()
        throw fatal(failed)?.error
      }
      // Replayed ones may be those of a run that was deep where this one isn't.
      const { results: ran, ...changed } = deepUpdate(state, results, agent.own)
      const { to, results: told } = handOver(agent.handed, ran)
      return { messages: told.map(answerOf), ...tidy({ handoff: to }), ...changed }
    } finally {
      signal.removeEventListener('abort', keep)
    }
  }
}
