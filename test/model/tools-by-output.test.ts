import { Validator, type Schema } from '@cfworker/json-schema'
import { scriptedModel, type ScriptedReply } from 'heddle/testing'
import { toolsByOutput, type JsonSchema, type Message, type ModelRequest } from 'heddle'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

const weather = {
  name: 'weather',
  description: 'Tells the weather',
  parameters: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
  },
} as const
const mail = { name: 'mail', description: 'Sends mail', parameters: { type: 'object' } } as const
const say = (text: string): Message => ({ role: 'user', id: 'u', createdAt: '', text })
const asked: ModelRequest = { messages: [say('Hi')], tools: [weather, mail] }

describe('what the model is asked', () => {
  it('is an answer or calls, by schema, and never gets the tools themselves', async () => {
    const { request } = await ask(asked, { text: '{"answer":"Hello"}' })
    expect(Object.keys(request).toSorted()).toEqual(['instructions', 'messages', 'output'])
    expect(request.instructions).toContain('- weather: Tells the weather\n- mail: Sends mail')
    expect(fits(request.output, { answer: 'Hello' })).toBe(true)
    expect(fits(request.output, { calls: [{ tool: 'weather', args: { city: 'Oslo' } }] })).toBe(
      true,
    )
    for (const wrong of [
      {},
      { answer: 1 },
      { answer: 'a', calls: [{ tool: 'mail', args: {} }] },
      { calls: [] },
      { calls: [{ tool: 'weather', args: {} }] },
      { calls: [{ tool: 'weather', args: { city: 'Oslo' }, more: 1 }] },
      { calls: [{ tool: 'other', args: {} }] },
    ])
      expect(fits(request.output, wrong), JSON.stringify(wrong)).toBe(false)
  })

  it('is as it was where there are no tools', async () => {
    const output = { type: 'object' }
    for (const more of [{}, { tools: [] }, { tools: [mail], toolChoice: 'none' }] as const) {
      const given = { instructions: 'Be brief', messages: [say('Hi')], output }
      const { request, events } = await ask({ ...given, ...more }, { text: '{"a":1}' })
      expect(request).toEqual(given)
      expect(textOf(events)).toBe('{"a":1}')
    }
  })

  it('is nothing but calls where a tool must be called', async () => {
    const call = { calls: [{ tool: 'mail', args: {} }] }
    for (const toolChoice of ['required', { tool: 'mail' }] as const) {
      const { request } = await ask({ ...asked, toolChoice }, { text: JSON.stringify(call) })
      expect(fits(request.output, { answer: 'No' })).toBe(false)
      expect(fits(request.output, call)).toBe(true)
      const other = { calls: [{ tool: 'weather', args: { city: 'Oslo' } }] }
      expect(fits(request.output, other)).toBe(toolChoice === 'required')
      expect(request.instructions).not.toContain('"answer"')
    }
  })

  it('keeps the references inside of schemas right, recursive ones too', async () => {
    interface Tree {
      name: string
      under: Tree[]
    }
    const tree: z.ZodType<Tree> = z.lazy(() => z.object({ name: z.string(), under: z.array(tree) }))
    const parameters = z.toJSONSchema(z.object({ tree })) as JsonSchema
    expect(JSON.stringify(parameters)).toContain('$ref')
    const plant = { name: 'plant', description: '', parameters }
    const output = z.toJSONSchema(tree) as JsonSchema
    const { request } = await ask(
      { ...asked, tools: [mail, plant], output },
      { text: '{"answer":{"name":"a","under":[]}}' },
    )
    const good = { name: 'a', under: [{ name: 'b', under: [] }] }
    const bad = { name: 'a', under: [{ name: 'b' }] }
    const call = (value: unknown): unknown => ({
      calls: [{ tool: 'plant', args: { tree: value } }],
    })
    expect([good, bad].map((value) => fits(request.output, call(value)))).toEqual([true, false])
    expect([good, bad].map((answer) => fits(request.output, { answer }))).toEqual([true, false])
  })

  it('tells calls and results of before as text, results that follow each other in one message', async () => {
    const at = { id: '', createdAt: '' }
    const call = { id: 'c', tool: 'weather', raw: '{"city":"Oslo"}', args: { city: 'Oslo' } }
    const broken = { id: 'd', tool: 'mail', raw: '{"to' }
    const messages: Message[] = [
      say('Hi'),
      { ...at, role: 'assistant', text: 'Wait.', calls: [call, broken] },
      { ...at, role: 'tool', call: 'c', tool: 'weather', status: 'success', text: 'Rain' },
      { ...at, role: 'tool', call: 'd', tool: 'mail', status: 'error', text: 'No JSON' },
      { ...at, role: 'assistant', text: 'It rains.' },
      { ...at, role: 'tool', call: 'e', tool: 'mail', status: 'denied', text: 'Not now' },
    ]
    const { request } = await ask({ ...asked, messages }, { text: '{"answer":""}' })
    expect(request.messages.map(({ role, text }) => [role, text])).toEqual([
      ['user', 'Hi'],
      [
        'assistant',
        'Wait.\n{"calls":[{"tool":"weather","args":{"city":"Oslo"}},{"tool":"mail","args":"{\\"to"}]}',
      ],
      ['user', 'Tool "weather" gave: Rain\nTool "mail" failed: No JSON'],
      ['assistant', 'It rains.'],
      ['user', 'Tool "mail" was denied: Not now'],
    ])
    expect(JSON.stringify(request)).not.toContain('"tool":"mail","status"')
  })
})

describe('what the model says', () => {
  it('streams as it comes, whatever pieces it comes in', async () => {
    const answer = 'He said "no"\n\t\\ café 🌍 end\u2028.'
    for (const raw of [
      JSON.stringify({ answer }),
      ` { "answer" : ${JSON.stringify(answer).replace('é', '\\u00e9').replace('🌍', '\\ud83c\\udf0d')} } `,
    ])
      for (let size = 1; size < 9; size++) {
        const events = await said(pieces(raw, size))
        expect(textOf(events), `${raw} by ${size}`).toBe(answer)
        const deltas = events.flatMap((event) => (event.kind === 'text' ? [event.delta] : []))
        expect(deltas.length).toBeGreaterThan(2)
        // It throws for half a character.
        for (const delta of deltas) expect(encodeURIComponent(delta)).not.toBe('')
        expect(events.at(-1)).toEqual({ kind: 'finish', reason: 'stop' })
      }
  })

  it('is calls when it is whole, and only then', async () => {
    const raw = '{"calls":[{"tool":"mail","args":{"to":"a"}},{"tool":"weather"}]}'
    expect(await said(pieces(raw, 5))).toEqual([
      { kind: 'call', id: '0', tool: 'mail', raw: '{"to":"a"}' },
      { kind: 'call', id: '1', tool: 'weather', raw: '{}' },
      { kind: 'finish', reason: 'calls' },
    ])
    expect(await said(pieces(raw.slice(0, -1), 5), 'length')).toEqual([
      { kind: 'finish', reason: 'length' },
    ])
    await expect(said(pieces(raw.slice(0, -1), 5))).rejects.toMatchObject({
      code: 'model_error',
      message: 'Cannot read what model "a/b" says: it is neither an answer nor calls',
    })
  })

  it('that was cut short is shown as far as it came', async () => {
    const events = await said(['{"answer":"It ra'], 'length')
    expect(textOf(events)).toBe('It ra')
    expect(events.at(-1)).toEqual({ kind: 'finish', reason: 'length' })
    await expect(said(['{"answer":"It ra'])).rejects.toMatchObject({ code: 'model_error' })
  })

  it('is what it is where it is no JSON', async () => {
    expect(await said([' ', 'Just', ' words {"answer":1}'])).toEqual([
      { kind: 'text', delta: ' Just' },
      { kind: 'text', delta: ' words {"answer":1}' },
      { kind: 'finish', reason: 'stop' },
    ])
  })

  it('is refused where it makes no sense', async () => {
    for (const raw of ['{}', '{"calls":{}}', '{"calls":[1]}', '{"calls":[{"args":{}}]}', '{"ans'])
      await expect(said([raw]), raw).rejects.toMatchObject({ code: 'model_error' })
  })

  it('by a schema comes as the JSON of the answer', async () => {
    const { events } = await ask(
      { ...asked, output: { type: 'object' } },
      { text: '{"answer": {"city":"Oslo"}}' },
    )
    expect(events).toEqual([
      { kind: 'text', delta: '{"city":"Oslo"}' },
      { kind: 'finish', reason: 'stop' },
    ])
  })

  it('beside the text is passed on', async () => {
    const reply = { reasoning: 'Hm', text: '{"answer":"A"}', usage: { input: 1, output: 2 } }
    const { events } = await ask(asked, reply)
    expect(events).toEqual([
      { kind: 'reasoning', delta: 'Hm' },
      { kind: 'text', delta: 'A' },
      { kind: 'usage', usage: { input: 1, output: 2 } },
      { kind: 'finish', reason: 'stop', usage: { input: 1, output: 2 } },
    ])
  })
})

type Events = Awaited<ReturnType<typeof said>>

async function ask(request: ModelRequest, reply: ScriptedReply) {
  const model = scriptedModel([reply], { provider: 'a', model: 'b' })
  const events = await all(toolsByOutput(model).stream(request, options()))
  return { request: model.requests[0]!, events }
}

function said(deltas: readonly string[], reason: 'stop' | 'length' = 'stop') {
  const model = toolsByOutput({
    provider: 'a',
    model: 'b',
    async *stream() {
      for (const delta of deltas) yield { kind: 'text' as const, delta }
      yield { kind: 'finish' as const, reason }
    },
  })
  return all(model.stream(asked, options()))
}

const options = () => ({ signal: new AbortController().signal, call: 'call_1' })

async function all<Each>(events: AsyncIterable<Each>): Promise<Each[]> {
  const list: Each[] = []
  for await (const event of events) list.push(event)
  return list
}

const textOf = (events: Events): string =>
  events.map((event) => (event.kind === 'text' ? event.delta : '')).join('')

const pieces = (text: string, size: number): string[] =>
  Array.from({ length: Math.ceil(text.length / size) }, (_, n) =>
    text.slice(n * size, (n + 1) * size),
  )

const fits = (schema: JsonSchema | undefined, value: unknown): boolean =>
  new Validator(schema as Schema, '2020-12').validate(value).valid
