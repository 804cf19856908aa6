import { decode, encode } from '../durable/codec.ts'
import { ToolUsageError } from '../errors.ts'
import { callId } from '../lib/ids.ts'
import { tidy } from '../lib/tidy.ts'
import type { ToolCall } from '../tool/tool.ts'
import { addUsage, costOf, type Prices, type TokenUsage } from '../usage.ts'
import { argsOf } from './args.ts'
import type { Heard } from './collect.ts'
import type { FinishReason, Reply } from './model.ts'

/** What an assistant's message is before it has an id. */
type Said = Reply['message']

/** What a request used, with what it costs. */
export function usageOf(
  reported: TokenUsage | undefined,
  name: string,
  prices: Prices | undefined,
): TokenUsage {
  const { cost: _, requests = 1, ...figures } = reported ?? {}
  const usage = addUsage({ ...figures, requests }, {})
  return tidy<TokenUsage>({ ...usage, cost: costOf(usage, name, prices) })
}

/**
 * The reply in what was heard.
 *
 * @param id Our id of the request: those of its calls are made from it
 */
export async function replyOf(
  { text, reasoning, calls, finish = 'other' }: Heard,
  { name, id, usage }: { readonly name: string; readonly id: string; readonly usage: TokenUsage },
): Promise<Reply<unknown>> {
  const taken = new Set<string>()
  const made = await Promise.all(
    calls.map(async ({ id: given, tool, raw }, at): Promise<ToolCall> => {
      let wireId = given
      for (let n = 2; wireId !== undefined && taken.has(wireId); n++) wireId = `${given}-${n}`
      if (wireId !== undefined) taken.add(wireId)
      const own = await callId(id, String(at))
      return tidy<ToolCall>({ id: own, tool, ...argsOf({ raw }), raw, wireId })
    }),
  )
  return whole({ text, calls: made, usage, finish, reasoning: reasoning || undefined, name })
}

/** A reply, with the message that it comes to. */
function whole(parts: {
  readonly text: string
  readonly calls: readonly ToolCall[]
  readonly usage: TokenUsage
  readonly finish: FinishReason
  readonly reasoning: string | undefined
  readonly name: string
}): Reply<unknown> {
  const { text, calls, usage, finish, reasoning, name: model } = parts
  const message = tidy<Said>({
    role: 'assistant',
    text,
    reasoning,
    calls: calls.length > 0 ? calls : undefined,
    model,
    usage,
  })
  return { message, text, output: undefined, calls, usage, finish }
}

/** What was heard of a message that never ended; nothing if that is nothing. */
export const partOf = (
  { text, reasoning }: Heard,
  name: string,
  usage: TokenUsage | undefined,
): Said | undefined =>
  text || reasoning
    ? tidy<Said>({
        role: 'assistant',
        text,
        reasoning: reasoning || undefined,
        partial: true,
        model: name,
        usage,
      })
    : undefined

/**
 * The reply that a hook gave, as a copy. It needs a `text`; what else it lacks is filled in.
 *
 * @throws ToolUsageError for what is no reply, and for one whose message says something else than it does
 */
export function replyFrom(value: unknown, name: string, whose: string): Reply<unknown> {
  const given = decode(encode(value, undefined, 'reply')) as Partial<Reply<unknown>>
  const { text, calls = [], usage = {}, finish, message, cached } = Object(given) as typeof given
  const refuse = (why: string): never => {
    throw new ToolUsageError(
      `Cannot use the reply that ${whose} gave for model "${name}": ${why}`,
      {},
    )
  }
  if (typeof text !== 'string') return refuse('it has no text')
  const good =
    Array.isArray(calls) &&
    calls.every(({ id, tool, raw }) => [id, tool, raw].every((one) => typeof one === 'string'))
  if (!good) return refuse('its calls are none')
  if (Object(usage) !== usage) return refuse('its usage is none')
  const said = Object(message ?? { text, calls }) as Partial<Said>
  const ids = (of: readonly ToolCall[]): string => JSON.stringify(of.map(({ id }) => id))
  if (said.text !== text || ids(said.calls ?? []) !== ids(calls))
    return refuse('its message says something else than it does')
  const usual = calls.length > 0 ? 'calls' : 'stop'
  const reply = whole({
    ...{ text, calls, usage, finish: finish ?? usual },
    reasoning: said.reasoning,
    name: said.model ?? name,
  })
  return tidy<Reply<unknown>>({ ...reply, cached })
}
