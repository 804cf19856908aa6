import { decode, encode } from '../durable/codec.ts'
import { ToolUsageError } from '../errors.ts'
import { callId } from '../lib/ids.ts'
import { tidy } from '../lib/tidy.ts'
import type { ToolCall } from '../tool/tool.ts'
import { addUsage, costOf, type Prices, type TokenUsage } from '../usage.ts'
import { argsOf } from './args.ts'
import type { Heard } from './collect.ts'
import type { Reply } from './model.ts'

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

/** What calls get ids by. */
interface Minting {
  /** Our id of the request: those of its calls are made from it. */
  readonly id: string
  /** Those that its calls have by now. */
  readonly ids: Set<string>
}

/** The reply in what was heard. */
export function replyOf(
  { text, reasoning, calls, finish = 'other' }: Heard,
  { name, usage, ...minting }: Minting & { readonly name: string; readonly usage: TokenUsage },
): Reply<unknown> {
  const made = calls.map(({ id, tool, raw }) => ({ id, tool, ...argsOf({ raw }), raw }))
  return whole({ text, reasoning, calls: minted(made, minting), usage, finish, name })
}

/** Calls with ids of ours, each of which is there once. What else they had as an id is that of the wire, made unique. */
function minted(
  calls: readonly (Omit<ToolCall, 'id'> & { readonly id?: string | undefined })[],
  { id: request, ids }: Minting,
): ToolCall[] {
  const [free, taken] = [new Set(ids), new Set<string>()]
  return calls.map(({ id: given, wireId, ...call }) => {
    if (given !== undefined && free.delete(given)) return tidy({ id: given, ...call, wireId })
    const wire = wireId ?? given
    let own = wire
    for (let n = 2; own && taken.has(own); n++) own = `${wire}-${n}`
    if (own !== undefined) taken.add(own)
    const id = callId(request, `${ids.size}`)
    ids.add(id)
    return tidy({ id, ...call, wireId: own || undefined })
  })
}

interface Parts extends Pick<Reply, 'text' | 'calls' | 'finish'> {
  readonly usage: TokenUsage | undefined
  readonly reasoning: string | undefined
  readonly name: string
}

/** A reply, with the message that it comes to. */
function whole({ text, calls, usage = {}, finish, ...parts }: Parts): Reply<unknown> {
  const message = { ...said(text, parts.reasoning, parts.name, usage) }
  if (calls.length > 0) Object.assign(message, { calls })
  return { message, text, output: undefined, calls, usage, finish }
}

/** What was heard of a message that never ended. */
export const partOf = (
  { text, reasoning }: Pick<Said, 'text' | 'reasoning'>,
  name: string,
  usage: TokenUsage | undefined,
): Said => ({ ...said(text, reasoning, name, usage), partial: true })

const said = (
  text: string,
  reasoning: string | undefined,
  model: string,
  usage: TokenUsage | undefined,
): Said => tidy<Said>({ role: 'assistant', text, reasoning: reasoning || undefined, model, usage })

/**
 * The reply that a hook gave, as a copy. It needs a `text`; what else it lacks is filled in. Calls keep ids that calls of
 * this request have by now; others get one, as those of a model do.
 *
 * @throws ToolUsageError for what is no reply, and for one whose message says something else than it does
 */
export function replyFrom(
  value: unknown,
  { name, whose, ...minting }: Minting & { readonly name: string; readonly whose: string },
): Reply<unknown> {
  const given = Object(decode(encode(value, undefined, 'reply'))) as Partial<Reply<unknown>>
  const { text, calls = [], usage = {}, message, cached } = given
  const assert = (good: unknown, why: string): void => {
    if (good) return
    throw new ToolUsageError(
      `Cannot use the reply that ${whose} gave for model "${name}": ${why}`,
      {},
    )
  }
  assert(typeof text === 'string', 'it has no text')
  const isCall = (call: unknown): boolean => {
    const { id = '', tool, raw, wireId = '' } = Object(call) as Partial<ToolCall>
    return [id, tool, raw, wireId].every((one) => typeof one === 'string')
  }
  assert(Array.isArray(calls) && calls.every(isCall), 'its calls are none')
  assert(Object(usage) === usage, 'its usage is none')
  const told = { text, calls, ...message }
  const ids = (of: readonly Partial<ToolCall>[]): string =>
    of.map((call) => `${Object(call).id ?? ''} ${Object(call).tool}`).join()
  const alike = told.text === text && ids(message ? (message.calls ?? []) : calls) === ids(calls)
  assert(alike, 'its message says something else than it does')
  const { finish = calls.length > 0 ? 'calls' : 'stop' } = given
  const { reasoning, model = name } = { ...message }
  return {
    ...whole({
      text: text as string,
      calls: minted(calls, minting),
      usage,
      finish,
      reasoning,
      name: model,
    }),
    ...tidy({ cached }),
  }
}
