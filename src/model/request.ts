import { ToolUsageError } from '../errors.ts'
import { anything, call, check, wholeFrom, type Rule } from '../lib/check.ts'
import { LONGEST } from '../lib/clock.ts'
import { jsonSchemaOf } from '../lib/json-schema.ts'
import { tidy } from '../lib/tidy.ts'
import type { Schema } from '../schema.ts'
import type { Tool } from '../tool/tool.ts'
import type { Generate } from './ask.ts'
import type { Message, NewMessage } from './message.ts'
import type { Model, ModelRequest } from './model.ts'

/** A request that makes sense. */
export interface Asked {
  readonly model: Model
  /** `provider/model` */
  readonly name: string
  /** Frozen, all the way down. */
  readonly request: ModelRequest
  readonly schema: Schema | undefined
  readonly onEvent: Generate<unknown>['onEvent']
  readonly cache: boolean
  readonly timeout: number | undefined
  readonly stamp: Stamp
}

/** Gives messages that are new an id and a time. */
export type Stamp = () => { readonly id: string; readonly createdAt: string }

const text: Rule = [(value) => typeof value === 'string', 'a string']
const list: Rule = [Array.isArray, 'a list']
const record: Rule = [(value) => Object(value) === value && !Array.isArray(value), 'an object']
const number: Rule = [Number.isFinite, 'a number', RangeError]
const texts: Rule = [
  (value: unknown) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
  'a list of strings',
]

/** What models are asked. */
const REQUEST: { readonly [member: string]: Rule } = {
  instructions: text,
  messages: list,
  tools: list,
  toolChoice: anything,
  output: record,
  temperature: number,
  maxTokens: wholeFrom(1),
  stop: texts,
  seed: wholeFrom(-Number.MAX_VALUE),
  extra: record,
}

const ROLES = ['system', 'user', 'assistant', 'tool']

/**
 * Reads what `generate` is asked for. Nothing of it is changed, and nothing of it is shared with what models and hooks see.
 *
 * @throws TypeError or RangeError for what makes no sense, ToolUsageError for a tool that no model could call
 */
export function asked(model: Model, given: Generate<any>, stamp: Stamp): Asked {
  const { provider, model: id, stream } = Object(model) as Partial<Model>
  if (typeof provider !== 'string' || typeof id !== 'string' || typeof stream !== 'function')
    throw new TypeError('Cannot ask a model: it has no provider, model and stream()')
  const name = `${provider}/${id}`
  const cannot = `Cannot ask model "${name}"`
  const own: { readonly [member: string]: Rule } = {
    onEvent: call,
    cache: [(value) => typeof value === 'boolean', 'true or false'],
    timeout: [
      (ms) => typeof ms === 'number' && ms > 0 && ms <= LONGEST,
      'a positive number of milliseconds',
      RangeError,
    ],
    output: [
      (value) => typeof Object(Object(value)['~standard']).validate === 'function',
      'a schema',
    ],
  }
  const { onEvent, cache = false, timeout, output: schema, messages, tools, ...rest } = given ?? {}
  check(cannot, own, tidy({ onEvent, cache, timeout, output: schema }))
  check(cannot, { tools: list }, tidy({ tools }))
  const output = jsonSchemaOf(schema)
  if (schema && !output) throw new TypeError(`${cannot}: its output tells no JSON Schema`)
  const request = requestFrom(
    name,
    {
      ...rest,
      messages: typeof messages === 'string' ? [{ role: 'user', text: messages }] : messages,
      output,
      tools: tools && offered(name, tools),
    },
    stamp,
  )
  return { model, name, request, schema, onEvent, cache, timeout, stamp }
}

/**
 * A request as models get it.
 *
 * @param name The model's, for errors
 * @throws TypeError or RangeError for what makes no sense
 */
export function requestFrom(name: string, given: object, stamp: Stamp): ModelRequest {
  const cannot = `Cannot ask model "${name}"`
  const request = { messages: null, ...given } as unknown as ModelRequest
  check(cannot, REQUEST, request)
  const { messages, tools = [], toolChoice } = request
  const choices: readonly unknown[] = [undefined, 'auto', 'none', 'required']
  const { tool: chosen } = Object(toolChoice) as { readonly tool?: unknown }
  if (!choices.includes(toolChoice) && !tools.some((one) => one.name === chosen))
    throw new TypeError(`${cannot}: its toolChoice is none of its tools`)
  const stamped = messages.map((one: Message | NewMessage, at) => {
    const { role, text: said } = Object(one) as Message
    if (!ROLES.includes(role) || typeof said !== 'string')
      throw new TypeError(`${cannot}: message ${at + 1} has no role or no text`)
    return { ...stamp(), ...tidy<object>({ ...one }) } as Message
  })
  return apart(cannot, tidy({ ...request, messages: stamped }))
}

/** Tools as models read them. */
function offered(name: string, tools: readonly Tool[]): ModelRequest['tools'] {
  const names = new Set<string>()
  return tools.map((one) => {
    const { name: tool, description, parameters } = Object(one) as Partial<Tool>
    if (typeof tool !== 'string') throw new TypeError(`Cannot ask model "${name}": a tool is none`)
    const refuse = (why: string): never => {
      throw new ToolUsageError(`Cannot offer tool "${tool}" to model "${name}": ${why}`, { tool })
    }
    if (names.has(tool)) refuse('there are two of that name')
    names.add(tool)
    return {
      name: tool,
      description: description ?? '',
      parameters: parameters ?? refuse('its input tells no JSON Schema, and it has no parameters'),
    }
  })
}

/** A copy that shares no list, no object and no bytes, frozen. What else there is, such as a function in `extra`, stays what it is. */
function apart<Value>(cannot: string, value: Value, depth = 0): Value {
  if (depth > 1000) throw new TypeError(`${cannot}: it is nested deeper than 1,000`)
  if (value instanceof Uint8Array) return value.slice() as Value
  if (Array.isArray(value))
    return Object.freeze(value.map((one) => apart(cannot, one, depth + 1))) as Value
  const plain: unknown[] = [Object.prototype, null]
  if (Object(value) !== value || !plain.includes(Object.getPrototypeOf(value))) return value
  const copy = Object.entries(value as object).map(([key, one]) => [
    key,
    apart(cannot, one, depth + 1),
  ])
  return Object.freeze(Object.fromEntries(copy)) as Value
}
