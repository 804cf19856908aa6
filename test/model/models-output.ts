// Answers of a shape: asked for, read, checked, and mended once.
import { isHeddleError, shortCircuit, type Message, type NewMessage, type Schema } from 'heddle'
import { z } from 'zod'
import { equal } from '../behaviours/portable.ts'
import { thrown } from '../tool/parts.ts'
import { asking, bare, callable, finish, numbered, same, says, telling, text } from './parts.ts'

type Cases = Readonly<Record<string, () => Promise<void>>>

const used = (input: number): object => ({ kind: 'finish', reason: 'stop', usage: { input } })
const wanted = { messages: 'how many?', output: numbered }
const reply = { text: '{"n":1}', calls: [], usage: {}, finish: 'stop' } as const

export const outputCases: Cases = {
  async 'an answer is read as JSON, in a fence or not, and given as its schema makes it'() {
    const texts = [
      '{"n":4}',
      ' \n{ "n": 4 }\n',
      '```json\n{"n":4}\n```',
      '```\n{"n":4}```',
      'Sure, here it is:\n```JSON\n{\n"n":4}\n```\nIs that good?',
    ]
    for (const said of texts) {
      const model = says([text(said), finish])
      const answer = await asking(model, wanted)
      equal([answer.output, answer.text], [{ n: 4 }, said], 'the answer')
      equal(model.requests.length, 1, 'requests')
    }
    const shape = z.object({ at: z.iso.datetime().transform((at) => new Date(at)) })
    const { output } = await asking(says([text('{"at":"2026-03-01T08:00:00Z"}'), finish]), {
      messages: 'when?',
      output: shape,
    })
    equal(output, { at: new Date('2026-03-01T08:00:00Z') }, 'what the schema makes of it')
  },

  async 'an answer of another shape is sent back once, with what is wrong with it'() {
    const shape = z.object({ order: z.object({ total: z.number() }) })
    const model = says(
      [text('{"order":{"total":"4"}}'), used(5)],
      [text('{"order":{"total":4}}'), used(7)],
    )
    const answer = await asking(model, { messages: 'how much?', output: shape, temperature: 0 })
    equal(answer.output, { order: { total: 4 } }, 'the answer')
    same(answer.usage, { input: 12, total: 12, requests: 2 }, 'usage of both')
    same(answer.message.usage, answer.usage, 'usage of the message')
    const [first, second] = model.requests as [{ messages: Message[] }, { messages: Message[] }]
    equal(second.messages[0], first.messages[0], 'the message before')
    const [, bad, repair] = bare(second.messages) as [unknown, unknown, NewMessage]
    equal(bad, { role: 'assistant', text: '{"order":{"total":"4"}}' }, 'the bad answer')
    equal(repair.role === 'user' && repair.text.includes('at "order.total"'), true, repair.text)
    equal(model.requests[1]?.output, model.requests[0]?.output, 'the shape')
    equal(model.requests[1]?.temperature, 0, 'the settings')
    equal(new Set(model.ids).size, 2, 'ids')
  },

  async 'text that is no JSON is mended as well'() {
    const model = says([text('four'), finish], [text('{"n":4}'), finish])
    equal((await asking(model, wanted)).output, { n: 4 }, 'the answer')
    const repair = model.requests[1]?.messages.at(-1)
    equal(repair?.text.includes('it is not JSON'), true, `${repair?.text}`)
  },

  async 'an answer that is bad twice is refused, by model and place'() {
    const shape = z.object({ list: z.array(z.number()) })
    const model = says(
      [text('{"list":["a"]}'), finish],
      [text('{"list":[1,"b"]}'), finish],
      [finish],
    )
    const error = await thrown(() => asking(model, { messages: 'hi', output: shape }))
    if (!isHeddleError(error, 'schema_error')) throw error
    equal(
      error.message.startsWith('Cannot accept the output of model "p/m": at "list.1": '),
      true,
      error.message,
    )
    equal([error.details.issues.length, model.requests.length], [1, 2], 'issues, requests')
  },

  async 'calls come before an answer: there is none yet'() {
    const model = says([
      text('let me see'),
      { kind: 'call', id: 'x', tool: 'look_up', raw: '{"n":1}' },
      { kind: 'finish', reason: 'calls' },
    ])
    const answer = await asking(model, { ...wanted, tools: [callable] })
    equal([answer.output, answer.calls.length, model.requests.length], [undefined, 1, 1], 'answer')
  },

  async 'what a hook gives instead of an answer is held to the shape, too'() {
    const model = says()
    const hook = { beforeLlm: () => shortCircuit(reply) }
    equal((await asking(model, wanted, { hooks: [hook] })).output, { n: 1 }, 'before')
    const broken = says([new Error('busy')])
    const heals = { onLlmError: () => shortCircuit(reply) }
    equal((await asking(broken, wanted, { hooks: [heals] })).output, { n: 1 }, 'on an error')
    const bad = { beforeLlm: () => shortCircuit({ ...reply, text: '{}' }) }
    const error = await thrown(() => asking(model, wanted, { hooks: [bad] }))
    equal(isHeddleError(error, 'schema_error'), true, String(error))
    equal(model.requests.length, 0, 'requests')
  },

  async 'what a hook makes of an answer is what is checked'() {
    const model = says([text('{"n":1}'), finish])
    const hook = { afterLlm: () => ({ ...reply, text: '{"n":2}' }) as never }
    equal((await asking(model, wanted, { hooks: [hook] })).output, { n: 2 }, 'the answer')
  },

  async 'a schema that breaks fails the request, and may take no longer than the request'() {
    const own = new RangeError('out of order')
    const breaks: Schema<unknown, unknown> = telling(() => {
      throw own
    })
    const model = says([text('{}'), finish])
    const error = await thrown(() => asking(model, { messages: 'hi', output: breaks }))
    equal([error === own, model.requests.length], [true, 1], 'error, requests')
  },
}
