import type { Message, ToolMessage } from './message.ts'

/**
 * The messages as a provider takes them: every call has one result, which stands right behind the message that called.
 *
 * - The `wireId` of a call is the provider's own, made unique among all (`x`, `x-2`); its result's `call` is the same.
 *   The same messages give the same ids, and messages that follow change none of them.
 * - Left out: calls without a result, results without a call, the calls of a partial message, and messages of the
 *   assistant in which no text and no call is left.
 */
export function pairCalls(messages: readonly Message[]): readonly Message[] {
  const results = new Map<string, ToolMessage>()
  for (const message of messages) if (message.role === 'tool') results.set(message.call, message)
  const taken = new Set<string>()
  return messages.flatMap((message): readonly Message[] => {
    if (message.role === 'tool') return []
    if (message.role !== 'assistant') return [message]
    const { calls = [], ...rest } = message
    const pairs = calls.flatMap((call) => {
      const result = results.get(call.id)
      if (!result || message.partial) return []
      results.delete(call.id)
      const wireId = unique(call.wireId || call.id, taken)
      return [{ call: { ...call, wireId }, result: { ...result, call: wireId } }]
    })
    if (pairs.length === 0) return rest.text === '' ? [] : [rest]
    return [{ ...rest, calls: pairs.map(({ call }) => call) }, ...pairs.map(({ result }) => result)]
  })
}

function unique(id: string, taken: Set<string>): string {
  let free = id
  for (let n = 2; taken.has(free); n++) free = `${id}-${n}`
  taken.add(free)
  return free
}
