// What a model is asked: as it was given, checked before anything runs, and shared with nobody.
import { tool, type Generate, type Message, type ModelRequest, type NewMessage } from 'heddle'
import { manualClock } from 'heddle/testing'
import { equal } from '../behaviours/portable.ts'
import { anything, thrown } from '../tool/parts.ts'
import { asking, bare, callable, finish, numbered, same, says, text, type Told } from './parts.ts'

type Cases = Readonly<Record<string, () => Promise<void>>>

/** What a model gets when it is asked for this. */
async function got(request: object): Promise<ModelRequest> {
  const model = says([text('{"n":1}'), finish])
  await asking(model, request)
  return model.requests[0] as ModelRequest
}

export const requestCases: Cases = {
  async 'a text is the message of a user, and messages without an id get one'() {
    const clock = manualClock('2026-03-01T08:00:00Z')
    const model = says([finish], [finish])
    await asking(model, { messages: 'hi' }, { clock })
    const [{ id, ...message }] = (model.requests[0] as ModelRequest).messages as [Message]
    equal(/^msg_.+/.test(id), true, `the id ${id}`)
    same(message, { createdAt: '2026-03-01T08:00:00.000Z', role: 'user', text: 'hi' }, 'a text')
    const given: readonly NewMessage[] = [
      { role: 'user', text: 'new', id: 'mine' },
      { role: 'system', text: 'stored', id: 'msg_1', createdAt: '2026-01-01T00:00:00.000Z' },
      { role: 'user', text: 'neither' },
    ]
    await asking(model, { messages: given }, { clock })
    same(
      model.requests[1]?.messages.slice(0, 2),
      [
        { id: 'mine', createdAt: '2026-03-01T08:00:00.000Z', role: 'user', text: 'new' },
        { id: 'msg_1', createdAt: '2026-01-01T00:00:00.000Z', role: 'system', text: 'stored' },
      ],
      'messages',
    )
  },

  async 'everything that is said is passed on, and nothing else'() {
    const given = {
      instructions: 'Be kind',
      toolChoice: { tool: 'look_up' },
      temperature: 0,
      maxTokens: 100,
      stop: ['\n'],
      seed: -4,
    } as const
    const request = await got({
      ...given,
      messages: 'hi',
      tools: [callable],
      output: numbered,
      timeout: 1000,
      cache: false,
      onEvent: () => {},
    })
    const { messages, ...rest } = request
    equal(bare(messages), [{ role: 'user', text: 'hi' }], 'messages')
    const parameters = { type: 'object', title: 'told' }
    equal(
      new Map(Object.entries(rest).sort()),
      new Map(
        Object.entries({
          ...given,
          tools: [{ name: 'look_up', description: 'Looks things up', parameters }],
          output: parameters,
        }).sort(),
      ),
      'the rest',
    )
    equal(Object.keys(await got({ messages: 'hi', seed: undefined })), ['messages'], 'what is not')
  },

  async 'nothing is shared with who asks, nothing can be changed, and extra is what it was'() {
    const bytes = new Uint8Array([1, 2])
    const extra = { provider: { deep: [1] }, call: () => 1 }
    const given = {
      messages: [{ role: 'user', text: 'hi', files: [{ mediaType: 'image/png', data: bytes }] }],
      stop: ['a'],
      extra,
    } as const
    const before = JSON.stringify(given)
    const request = await got(given)
    equal(JSON.stringify(given), before, 'what was given')
    equal([Object.isFrozen(given.stop), Object.isFrozen(extra.provider)], [false, false], 'freedom')
    const [message] = request.messages as [Message & { role: 'user' }]
    const data = message.files?.[0]?.data as Uint8Array
    equal([data, data === bytes], [bytes, false], 'bytes')
    equal(request.extra === extra, true, 'extra')
    for (const part of [request, request.messages, message, message.files, request.stop])
      equal(Object.isFrozen(part), true, 'that it is frozen')
  },

  async 'what makes no sense is refused before anything is asked'() {
    const model = says()
    const table: readonly (readonly [given: unknown, name: string, words: string])[] = [
      [null, 'TypeError', 'messages is not a list'],
      [{}, 'TypeError', 'messages is not a list'],
      [{ messages: null }, 'TypeError', 'messages is not a list'],
      [{ messages: [7] }, 'TypeError', 'message 1 has no role or no text'],
      [{ messages: [{ role: 'user' }] }, 'TypeError', 'message 1 has no role or no text'],
      [{ messages: [{ role: 'bot', text: '' }] }, 'TypeError', 'message 1 has no role or no text'],
      [{ messages: 'a', message: 'b' }, 'TypeError', '"message" is not known here'],
      [{ messages: 'a', instructions: 4 }, 'TypeError', 'instructions is not a string'],
      [{ messages: 'a', temperature: 'hot' }, 'RangeError', 'temperature is not a number'],
      [{ messages: 'a', maxTokens: 0 }, 'RangeError', 'maxTokens is not a whole number from 1 on'],
      [{ messages: 'a', seed: NaN }, 'RangeError', 'seed is not a number'],
      [{ messages: 'a', stop: 'b' }, 'TypeError', 'stop is not a list'],
      [{ messages: 'a', extra: [] }, 'TypeError', 'extra is not an object'],
      [{ messages: 'a', cache: 'run' }, 'TypeError', 'cache is not true or false'],
      [{ messages: 'a', onEvent: {} }, 'TypeError', 'onEvent is not a function'],
      [{ messages: 'a', timeout: 0 }, 'RangeError', 'timeout is not a positive number'],
      [{ messages: 'a', timeout: 2 ** 31 }, 'RangeError', 'timeout is not a positive number'],
      [{ messages: 'a', toolChoice: 'any' }, 'TypeError', 'its toolChoice is none of its tools'],
      [{ messages: 'a', toolChoice: { tool: 'b' } }, 'TypeError', 'its toolChoice is none of'],
      [{ messages: 'a', tools: 'look_up' }, 'TypeError', 'tools is not a list'],
      [{ messages: 'a', tools: [{}] }, 'ToolUsageError', 'it tells no JSON Schema'],
      [{ messages: 'a', tools: [callable, callable] }, 'ToolUsageError', 'there are two of that'],
      [{ messages: 'a', output: anything() }, 'TypeError', 'its output is no schema that tells'],
      [{ messages: 'a', output: { type: 'object' } }, 'TypeError', 'its output is no schema that'],
      [
        { messages: [{ role: 'user', text: '', files: [() => 1] }] },
        'UnserializableValue',
        'messages[0].files[0]',
      ],
    ]
    for (const [given, name, words] of table) {
      const error = (await thrown(() => asking(model, given as Generate))) as Error
      equal(error.name, name, `${JSON.stringify(given)}: ${error.message}`)
      equal(error.message.includes(words), true, error.message)
    }
    equal(model.requests.length, 0, 'requests')
  },

  async 'a tool that no model could call is refused by name'() {
    const opaque = tool({ name: 'opaque', description: '', input: anything(), run: () => 1 })
    const error = (await thrown(() => asking(says(), { messages: 'a', tools: [opaque] }))) as Error
    equal(
      error.message,
      'Cannot offer tool "opaque" to model "p/m": it tells no JSON Schema',
      'the message',
    )
  },

  async 'what is no model is refused'() {
    const { stream } = says()
    const table = [
      undefined,
      {},
      { provider: 'p', model: 'm' },
      { provider: 1, model: 'm', stream },
    ]
    for (const model of table) {
      const error = await thrown(() => asking(model as unknown as Told))
      equal(error instanceof TypeError, true, String(error))
    }
  },

  async 'each request has an id of its own, of ours'() {
    const model = says([finish], [finish])
    await asking(model)
    await asking(model)
    equal([new Set(model.ids).size, model.ids.every((id) => /^call_./.test(id))], [2, true], 'ids')
  },
}
