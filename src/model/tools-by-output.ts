import { ModelError } from '../errors.ts'
import type { JsonSchema } from '../schema.ts'
import { AnswerReader } from './answer-reader.ts'
import type { Message } from './message.ts'
import type { Model, ModelEvent, ModelRequest } from './model.ts'

type Spec = NonNullable<ModelRequest['tools']>[number]

/**
 * Lets a model call tools that has no way of its own to, but can hold what it says to a JSON Schema (`request.output`): it
 * is asked for either an answer or calls, as JSON, and that is read back. It never gets the tools themselves, so nothing
 * runs inside it. Calls and results of before are retold as text. An answer in text streams as it comes; one by schema,
 * and calls, come when they are whole.
 *
 * @param model The same model, without tools. Requests that have none reach it as they are, calls of before retold
 */
export function toolsByOutput(model: Model): Model {
  return {
    provider: model.provider,
    model: model.model,
    stream(request, options) {
      const tools = wanted(request)
      const events = model.stream(reworded(request, tools), options)
      return tools.length === 0 ? events : read(model, events, request.output === undefined)
    },
  }
}

function wanted({ tools = [], toolChoice = 'auto' }: ModelRequest): readonly Spec[] {
  if (typeof toolChoice === 'object') return tools.filter(({ name }) => name === toolChoice.tool)
  return toolChoice === 'none' ? [] : tools
}

function reworded(request: ModelRequest, tools: readonly Spec[]): ModelRequest {
  const { tools: _, toolChoice = 'auto', messages, ...rest } = request
  const told = { ...rest, messages: retold(messages) }
  if (tools.length === 0) return told
  const must = toolChoice === 'required' || typeof toolChoice === 'object'
  const { instructions = '', output } = request
  return {
    ...told,
    instructions: `${instructions}\n\n${howTo(tools, must)}`.trim(),
    output: shape(tools, must ? undefined : (output ?? { type: 'string' })),
  }
}

function howTo(tools: readonly Spec[], must: boolean): string {
  const list = tools.map(({ name, description }) => `- ${name}: ${description}`).join('\n')
  const call = '{"calls":[{"tool":"…","args":{…}}]}; the results come with the next message.'
  const say = `To use tools, say ${call}`
  return `Speak JSON only. ${must ? say : `${say} To answer, say {"answer":…}.`}\nTools:\n${list}`
}

/** An answer, unless a tool must be called, or calls. `anyOf`: no value fits two of them, and more engines know it than `oneOf`. */
function shape(tools: readonly Spec[], answer: JsonSchema | undefined): JsonSchema {
  const defs: Record<string, unknown> = {}
  const hoisted = (name: string, { $schema: _, ...schema }: JsonSchema): unknown => {
    if (!JSON.stringify(schema).includes('"$ref"')) return schema
    // References lead from the root of the document, which is elsewhere now.
    defs[name] = moved(schema, `#/$defs/${name}`)
    return { $ref: `#/$defs/${name}` }
  }
  const calls = tools.map(({ name, parameters }, n) =>
    record({ tool: { const: name }, args: hoisted(`args${n}`, parameters) }),
  )
  const ways = [
    ...(answer ? [record({ answer: hoisted('answer', answer) })] : []),
    record({ calls: { type: 'array', minItems: 1, items: either(calls) } }),
  ]
  return { ...either(ways), ...(Object.keys(defs).length > 0 && { $defs: defs }) }
}

const record = (properties: { readonly [name: string]: unknown }): JsonSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
})

const either = (ways: readonly JsonSchema[]): JsonSchema =>
  ways.length === 1 ? ways[0]! : { anyOf: ways }

function moved(schema: unknown, to: string): unknown {
  if (Array.isArray(schema)) return schema.map((one) => moved(one, to))
  if (typeof schema !== 'object' || schema === null) return schema
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      key === '$ref' && typeof value === 'string' ? value.replace(/^#/, to) : moved(value, to),
    ]),
  )
}

/** The messages without calls and results: they are text. Results that follow each other are one message. */
function retold(messages: readonly Message[]): readonly Message[] {
  const told: Message[] = []
  let results: string | undefined
  for (const message of messages) {
    if (message.role !== 'tool') results = undefined
    if (message.role === 'assistant' && message.calls?.length) {
      const { calls, ...rest } = message
      const said = calls.map(({ tool, raw, args = raw }) => ({ tool, args }))
      told.push({ ...rest, text: `${rest.text}\n${JSON.stringify({ calls: said })}`.trim() })
    } else if (message.role === 'tool') {
      const { tool, status, text, id, createdAt } = message
      const way = { success: 'gave', error: 'failed', denied: 'was denied' }[status]
      const line = `Tool "${tool}" ${way}: ${text}`
      if (results !== undefined) told.pop()
      results = results === undefined ? line : `${results}\n${line}`
      told.push({ role: 'user', text: results, id, createdAt })
    } else told.push(message)
  }
  return told
}

async function* read(
  { provider, model }: Model,
  events: AsyncIterable<ModelEvent>,
  isText: boolean,
): AsyncGenerator<ModelEvent> {
  const reader = new AnswerReader(isText)
  for await (const event of events) {
    if (event.kind === 'text') {
      const delta = reader.take(event.delta)
      if (delta) yield { kind: 'text', delta }
    } else if (event.kind === 'finish') {
      const { text, calls, whole } = reader.end()
      // Cut short: what there is of it is shown, and no call of it runs.
      if (!whole && event.reason === 'stop')
        throw new ModelError(
          `Cannot read what model "${provider}/${model}" says: it is neither an answer nor calls`,
          { provider, model },
        )
      if (text) yield { kind: 'text', delta: text }
      for (const [n, { tool, args = {} }] of calls.entries())
        yield { kind: 'call', id: String(n), tool, raw: JSON.stringify(args) }
      yield calls.length > 0 ? { ...event, reason: 'calls' } : event
    } else yield event
  }
}
