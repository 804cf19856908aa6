import { decode, type Cell } from '../durable/codec.ts'
import type { Journal } from '../durable/journal.ts'
import { again } from '../engine/replay.ts'
import type { AgentMark } from '../graph/agent-mark.ts'
import { callId } from '../lib/ids.ts'
import { groupOf, wantedFrom } from '../tool/wanted.ts'
import type { CallResult, ToolCall } from '../tool/tool.ts'
import { answerOf } from './answer.ts'
import { deepUpdate } from './deep.ts'
import { cancelled, openCalls } from './history.ts'
import type { Agent } from './spec.ts'
import type { AnyState } from './state.ts'

/**
 * What is on record of a step that new input drops: what a node returned, or what its calls came to. Hand-offs that were
 * called don't count any more.
 */
export function leftIn(agent: Agent): AgentMark['left'] {
  return (given, task, journal) => {
    const known = journal.of(task)
    if (known?.result)
      return Object.fromEntries(known.result.update.map(([name, value]) => [name, plain(value)]))
    if (!known) return undefined
    const state = given as AnyState
    const calls = openCalls(state.messages)
    const ended = calls.map((call, n) => endOf(call, wantedFrom(calls)[n]?.given, task, journal))
    const told = ended.filter((one) => typeof one === 'object' && !agent.handed.has(one.tool))
    const { results, ...changed } = deepUpdate(state, told as CallResult[], agent.own)
    const answers = new Map(results.map((result) => [result.id, answerOf(result)]))
    const messages = calls.flatMap((call, n) => {
      if (ended[n] === undefined) return []
      if (ended[n] === 'never') return cancelled(call, 'it never ran')
      return answers.get(call.id) ?? cancelled(call, 'nobody was handed over to')
    })
    return { messages, ...changed }
  }
}

const plain = (value: Cell | readonly Cell[]): unknown =>
  Array.isArray(value) ? value.map(decode) : decode(value as Cell)

/** How a call ended, as far as that is known: `never` if it waited to begin, and nothing has come for it. */
function endOf(
  { id, tool }: ToolCall,
  given = id,
  task: string,
  journal: Journal,
): CallResult | 'never' | undefined {
  const place = `${groupOf(given, tool)}0`
  const entry = journal.of(task)?.places.get(place)
  if (entry?.kind === 'call') return { id, tool, ...again(entry.value) }
  if (entry?.kind === 'ran') return { id, tool, status: 'success', value: decode(entry.value) }
  if (entry?.kind !== 'past' || entry.value !== false) return undefined
  const own = callId(task, place)
  const came = journal.called().some((one) => one === own || one.startsWith(`${own}.`))
  return came ? undefined : 'never'
}
