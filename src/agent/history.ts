import type { AssistantMessage, Message, NewMessage } from '../model/message.ts'
import { answersOf } from '../model/wire.ts'
import type { ToolCall } from '../tool/tool.ts'
import { isOurs } from '../tool/wanted.ts'

/** What a call is answered with that has no answer and gets none any more. @param why What is known of it */
export const cancelled = (
  { id, tool }: ToolCall,
  why = 'what came of it is not known',
): NewMessage => ({
  ...named(id),
  role: 'tool',
  call: id,
  tool,
  status: 'error',
  text: `Cancelled: ${why}`,
})

/** The id of the message that answers a call of ours: the same however often it is made. */
export const named = (call: string): { readonly id?: string } =>
  isOurs(call) ? { id: call.replace('call_', 'msg_') } : {}

/** The calls that have no answer, in their order. Those of a message that broke off count as none. */
export function unanswered(messages: readonly Message[]): ToolCall[] {
  const answers = answersOf(messages)
  return messages.flatMap((message, at) => {
    if (message.role !== 'assistant' || message.partial) return []
    return (message.calls ?? []).filter((_, n) => !answers[at]![n])
  })
}

/** The calls of the last message of the model that no tool has answered yet. */
export function openCalls(messages: readonly Message[]): ToolCall[] {
  const last = messages.findLastIndex(({ role }) => role === 'assistant')
  return last < 0 ? [] : unanswered(messages.slice(last))
}

/**
 * What a model reads of a history: every call has its answer right behind it, or is told as cancelled. A message that broke
 * off is read as text once somebody has spoken after it; a model that spoke next hasn't seen it either.
 */
export function readable(messages: readonly Message[]): NewMessage[] {
  const answers = answersOf(messages)
  return messages.flatMap((message, at): NewMessage[] => {
    if (message.role === 'tool') return []
    if (message.role !== 'assistant') return [message]
    const { partial, calls = [], text } = message
    if (!partial && calls.length > 0)
      return [message, ...calls.map((call, n) => answers[at]![n] ?? cancelled(call))]
    return text !== '' && isGoneOnFrom(messages, at) ? [withoutCalls(message)] : []
  })
}

/** What is left of a message without its calls. */
export const withoutCalls = <Said extends Pick<AssistantMessage, 'calls'>>({
  calls: _,
  ...said
}: Said): Omit<Said, 'calls'> => said

/** Whether a message of the model counts: one that broke off does once somebody else has spoken. */
const isGoneOnFrom = (messages: readonly Message[], at: number): boolean => {
  if (!(messages[at] as AssistantMessage).partial) return true
  const next = messages.slice(at + 1).find(({ role }) => role !== 'tool')
  return next !== undefined && next.role !== 'assistant'
}
