import { decode, encode } from '../durable/codec.ts'
import { ToolUsageError } from '../errors.ts'
import { anything, call, check, wholeFrom, type Rule } from '../lib/check.ts'
import { LONGEST } from '../lib/clock.ts'
import { jsonSchemaOf } from '../lib/json-schema.ts'
import { tidy } from '../lib/tidy.ts'
import type { Schema } from '../schema.ts'
import type { Tool } from '../tool/tool.ts'
import type { Generate } from './ask.ts'
import { frozen } from './frozen.ts'
import type { Message } from './message.ts'
import type { Model, ModelRequest } from './model.ts'

/** A request that makes sense. */
export interface Asked {
  readonly model: Model
  /** `provider/model` */
  readonly name: string
  /** Shared with nobody, and frozen, `extra` excepted: that is what it was. */
  readonly request: ModelRequest
  readonly schema: Schema | undefined
  readonly onEvent: Generate<unknown>['onEvent']
  readonly cache: boolean | undefined
  readonly timeout: number | undefined
  readonly stamp: Stamp
}

/** Gives messages that are new an id and a time. */
export type Stamp = () => Pick<Message, 'id' | 'createdAt'>

const list: Rule = [Array.isArray, 'a list']
const record: Rule = [(value) => Object(value) === value && !Array.isArray(value), 'an object']
const number: Rule = [Number.isFinite, 'a number', RangeError]

const RULES: { readonly [member: string]: Rule } = {
  instructions: [(value) => typeof value === 'string', 'a string'],
  messages: list,
  tools: list,
  toolChoice: anything,
  output: record,
  temperature: number,
  maxTokens: /* @__PURE__ */ wholeFrom(1),
  stop: list,
  seed: number,
  extra: record,
  onEvent: call,
  cache: [(value) => typeof value === 'boolean', 'true or false'],
  timeout: [(ms) => ms > 0 && ms <= LONGEST, 'a positive number of milliseconds', RangeError],
}

/**
 * Reads what `generate` is asked for.
 *
 * @throws TypeError or RangeError for what makes no sense, ToolUsageError for a tool that no model could call,
 *   UnserializableValue for a message that could not be stored
 */
export function asked(model: Model, given: Generate<unknown>, stamp: Stamp): Asked {
  const { provider, model: id, stream } = Object(model) as Partial<Model>
  if (typeof provider !== 'string' || typeof id !== 'string' || typeof stream !== 'function')
    throw new TypeError('Cannot ask a model: it has no provider, model and stream()')
  const name = `${provider}/${id}`
  const { onEvent, cache, timeout, output: schema, messages, tools } = Object(given) as Generate
  const output = jsonSchemaOf(schema)
  if (schema && !output)
    throw new TypeError(
      `Cannot ask model "${name}": its output is no schema that tells JSON Schema`,
    )
  const request = requestFrom(
    name,
    {
      ...given,
      messages: typeof messages === 'string' ? [{ role: 'user', text: messages }] : messages,
      tools: Array.isArray(tools) ? offered(name, tools) : tools,
      output,
    },
    stamp,
  )
  return { model, name, request, schema, onEvent, cache, timeout, stamp }
}

/**
 * A request as models get it.
 *
 * @param name The model's, for errors
 * @throws as `asked` does
 */
export function requestFrom(name: string, given: object, stamp: Stamp): ModelRequest {
  const cannot = `Cannot ask model "${name}"`
  const all = { ...given, messages: Object(given).messages ?? null } as Generate & ModelRequest
  check(cannot, RULES, all)
  const { onEvent: _, cache: __, timeout: ___, messages, extra, ...rest } = all
  const { tools = [], toolChoice = 'auto' } = rest
  const { tool } = Object(toolChoice) as { readonly tool?: unknown }
  const choices: unknown[] = ['auto', 'none', 'required']
  if (!choices.includes(toolChoice) && !tools.some((one) => one.name === tool))
    throw new TypeError(`${cannot}: its toolChoice is none of its tools`)
  const stamped = messages.map((one, at) => {
    const { role, text } = Object(one) as Message
    if (!['system', 'user', 'assistant', 'tool'].includes(role) || typeof text !== 'string')
      throw new TypeError(`${cannot}: message ${at + 1} has no role or no text`)
    const { id, createdAt } = one as Partial<Message>
    return {
      ...((id === undefined || createdAt === undefined) && stamp()),
      ...tidy<object>({ ...one }),
    }
  })
  const copy = decode(encode({ ...tidy<object>(rest), messages: stamped })) as ModelRequest
  return Object.freeze({ ...frozen(copy), ...(extra && { extra }) })
}

/** Tools as models read them. */
function offered(name: string, tools: readonly Tool[]): ModelRequest['tools'] {
  const names = new Set<unknown>()
  return tools.map((one) => {
    const { name: tool, description, parameters } = Object(one) as Tool
    if (typeof tool === 'string' && parameters && !names.has(tool) && names.add(tool))
      return { name: tool, description, parameters }
    const why = names.has(tool) ? 'there are two of that name' : 'it tells no JSON Schema'
    throw new ToolUsageError(`Cannot offer tool "${tool}" to model "${name}": ${why}`, { tool })
  })
}
