import type { Message, ToolMessage } from './message.ts'

/**
 * The results of the calls of each message, in the order of its calls. A result is of the call before it that has its id
 * and no result yet, nearest first, as providers may number calls anew in each turn; one more for the same call replaces
 * the one before. A partial message has no calls.
 */
export function answersOf(
  messages: readonly Message[],
): readonly (readonly (ToolMessage | undefined)[])[] {
  const answers: (ToolMessage | undefined)[][] = messages.map(() => [])
  const open = new Map<string, (readonly [message: number, call: number])[]>()
  const latest = new Map<string, readonly [message: number, call: number]>()
  for (const [at, message] of messages.entries()) {
    if (message.role === 'assistant' && !message.partial) {
      const { calls = [] } = message
      answers[at] = calls.map(() => undefined)
      for (const [n, { id }] of [...calls.entries()].toReversed())
        open.set(id, [...(open.get(id) ?? []), [at, n]])
    } else if (message.role === 'tool') {
      const place = open.get(message.call)?.pop() ?? latest.get(message.call)
      if (!place) continue
      latest.set(message.call, place)
      answers[place[0]]![place[1]] = message
    }
  }
  return answers
}

/**
 * The messages as a provider takes them: every call has one result, which stands right behind the message that called.
 *
 * - A result is of the nearest call before it that has its id and no result yet.
 * - The `wireId` of a call is the provider's own, made unique among all (`x`, `x-2`); its result's `call` is the same.
 *   The same messages give the same ids, and messages that follow change none of them.
 * - Left out: calls without a result, results without a call, the calls of a partial message, and messages of the
 *   assistant in which no text and no call is left.
 */
export function pairCalls(messages: readonly Message[]): readonly Message[] {
  const answers = answersOf(messages)
  const taken = new Set<string>()
  return messages.flatMap((message, at): readonly Message[] => {
    if (message.role === 'tool') return []
    if (message.role !== 'assistant') return [message]
    const { calls = [], ...rest } = message
    const pairs = calls.flatMap((call, n) => {
      const result = answers[at]![n]
      if (!result) return []
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
