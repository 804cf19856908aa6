import { agent, compile, memory, ToolUsageError } from 'heddle'
import { scriptedModel } from 'heddle/testing'
import { describe, expect, it } from 'vitest'
import { failure, keepBooks, rowsOf } from '../behaviours/harness.ts'
import { silent } from '../fakes/silent.ts'
import { noting, say } from './parts.ts'

keepBooks()

const model = scriptedModel([])
const wrong: readonly (readonly [what: string, spec: object, refusal: string, says: string])[] = [
  ['no name', { model }, 'TypeError', 'name'],
  ['an empty name', { name: '', model }, 'TypeError', 'name'],
  ['a model that is none', { name: 'a', model: 'gpt' }, 'TypeError', 'model'],
  [
    'instructions of another type',
    { name: 'a', model, instructions: 1 },
    'TypeError',
    'instructions',
  ],
  ['tools that are no list', { name: 'a', model, tools: {} }, 'TypeError', 'tools'],
  ['a tool that is none', { name: 'a', model, tools: [{}] }, 'TypeError', 'tools'],
  ['a hand-off without a text', { name: 'a', model, handoffs: { b: 1 } }, 'TypeError', 'handoffs'],
  ['a hand-off to nobody', { name: 'a', model, handoffs: { '': 'x' } }, 'TypeError', 'handoffs'],
  ['an output that is no schema', { name: 'a', model, output: {} }, 'TypeError', 'output'],
  ['no turn', { name: 'a', model, maxTurns: 0 }, 'RangeError', 'maxTurns'],
  ['half a turn', { name: 'a', model, maxTurns: 1.5 }, 'RangeError', 'maxTurns'],
  ['no call at a time', { name: 'a', model, concurrency: 0 }, 'RangeError', 'concurrency'],
  ['a stopWhen that is no function', { name: 'a', model, stopWhen: true }, 'TypeError', 'stopWhen'],
  ['a compact that is no function', { name: 'a', model, compact: 5 }, 'TypeError', 'compact'],
  ['a deep that is neither', { name: 'a', model, deep: 'yes' }, 'TypeError', 'deep'],
  ['settings that are none', { name: 'a', model, settings: 1 }, 'TypeError', 'settings'],
  ['a setting that is not known', { name: 'a', model, settings: { t: 1 } }, 'TypeError', '"t"'],
  [
    'a temperature that is no number',
    { name: 'a', model, settings: { temperature: NaN } },
    'TypeError',
    'temperature',
  ],
  ['no token at most', { name: 'a', model, settings: { maxTokens: 0 } }, 'RangeError', 'maxTokens'],
  ['a member that is not known', { name: 'a', model, tool: [] }, 'TypeError', '"tool"'],
]

describe('agent() refuses', () => {
  it.each(wrong)('%s', (_, spec, refusal, says) => {
    const make = (): unknown => agent(spec as never)
    expect(make).toThrow(expect.objectContaining({ name: refusal }))
    expect(make).toThrow(says)
    if ('name' in spec && spec.name !== '') expect(make).toThrow('agent "a"')
  })

  it('two tools of one name', () => {
    const tools = [noting('look', []), noting('look', [])]
    expect(() => agent({ name: 'a', model, tools })).toThrow(ToolUsageError)
    expect(() => agent({ name: 'a', model, tools })).toThrow(
      'agent "a": there are two tools "look"',
    )
  })

  it('a tool that is named as a hand-off is', () => {
    const tools = [noting('transfer_to_b', [])]
    const make = (): unknown => agent({ name: 'a', model, tools, handoffs: { b: 'always' } })
    expect(make).toThrow(ToolUsageError)
    expect(make).toThrow('"transfer_to_b"')
  })
})

describe('a function that gives back rubbish fails the run, and is named', () => {
  const rubbish: readonly (readonly [given: object, says: string])[] = [
    [{ compact: () => undefined }, 'compact() gave back no list of messages'],
    [{ compact: async () => [1] }, 'compact() gave back no list of messages'],
    [{ compact: () => ({ messages: [] }) }, 'compact() gave back no list of messages'],
    [{ instructions: () => undefined }, 'instructions() gave back no text'],
    [{ instructions: async () => 7, deep: true }, 'instructions() gave back no text'],
  ]
  it.each(rubbish)('%o', async (given, says) => {
    const app = compile(agent({ name: 'a', model, ...given } as never), { logger: silent })
    const error = await failure(app.run({ thread: 't', input: say('Hi') } as never))
    expect(error).toBeInstanceOf(TypeError)
    expect(error).toHaveProperty('message', `Cannot ask the model of agent "a": ${says}`)
    expect(model.requests).toEqual([])
  })
})

describe('an agent without a model', () => {
  it('is told of when its function gives none', async () => {
    const app = compile(agent({ name: 'a', model: (() => undefined) as never }))
    const error = await failure(app.run({ thread: 't', input: say('Hi') }))
    expect(error).toMatchObject({ code: 'no_model', details: { agent: 'a' } })
    expect((await app.state('t'))?.status).toBe('error')
  })

  it('is refused before anything is stored, unless the run brings one', async () => {
    const store = memory()
    const app = compile(agent({ name: 'a' }), { store })
    const error = await failure(app.run({ thread: 't', input: say('Hi') }))
    expect(error).toMatchObject({ code: 'no_model', details: { agent: 'a' } })
    expect(await rowsOf(store)).toEqual([])
    const { status } = await app.run({
      thread: 't',
      input: say('Hi'),
      model: scriptedModel([{ text: 'Hi.' }]),
    })
    expect(status).toBe('success')
  })
})
