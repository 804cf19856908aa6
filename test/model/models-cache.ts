// What is cached of models: off by default, by what is said alone, and never where tools come in.
import {
  cacheKey,
  compile,
  envelope,
  field,
  graph,
  tool,
  type CachePort,
  type Hook,
  type Message,
} from 'heddle'
import { equal } from '../behaviours/portable.ts'
import { anything, executorOf, does, thrown, turn } from '../tool/parts.ts'
import { silent } from '../fakes/silent.ts'
import { asking, callable, finish, numbered, same, says, text, within } from './parts.ts'

type Cases = Readonly<Record<string, () => Promise<void>>>

/** A cache that can be looked into. */
function port(): CachePort & { readonly rows: Map<string, string> } {
  const rows = new Map<string, string>()
  return {
    rows,
    get: async (key) => rows.get(key),
    set: async (key, value) => void rows.set(key, value),
    delete: async (key) => void rows.delete(key),
  }
}

const cached = { messages: 'hi', cache: true }
const used = { kind: 'finish', reason: 'stop', usage: { input: 4 } } as const

export const cacheCases: Cases = {
  async 'an answer is used again for nothing, and only if that is asked for'() {
    const cache = port()
    const model = says([text('yes'), used], [text('no'), used])
    const first = await asking(model, cached, { cache })
    const again = await asking(model, cached, { cache })
    same(first.usage, { input: 4, total: 4, requests: 1 }, 'usage of the first')
    same(
      again,
      {
        text: 'yes',
        message: { role: 'assistant', text: 'yes', model: 'p/m', usage: { requests: 0 } },
        calls: [],
        usage: { requests: 0 },
        finish: 'stop',
        cached: true,
      },
      'the second',
    )
    equal((await asking(model, { messages: 'hi' }, { cache })).text, 'no', 'without a word of it')
    equal([model.requests.length, cache.rows.size], [2, 1], 'requests, entries')
  },

  async 'its key and its envelope are those of the seed'() {
    const cache = port()
    const extra = { reasoning: 'low' }
    await asking(
      says([text('yes'), finish]),
      { ...cached, instructions: 'Be kind', temperature: 0, extra },
      { cache },
    )
    const payload = {
      instructions: 'Be kind',
      messages: [{ role: 'user', text: 'hi' }],
      temperature: 0,
      extra,
    }
    const key = await cacheKey.llm({ ns: 'heddle', provider: 'p', model: 'm', payload })
    equal([...cache.rows.keys()], [key], 'the key')
    const hit = envelope.decode(cache.rows.get(key) as string, 'llm')
    same(hit?.value, { text: 'yes', reasoning: '', finish: 'stop' }, 'the entry')
  },

  async 'whatever is said differently is another question, ids and times are not'() {
    const cache = port()
    const model = says(...Array.from({ length: 9 }, () => [text('yes'), finish]))
    const message = { role: 'user', text: 'hi' } as const
    const other = { ...model, model: 'n' }
    const ask = async (request: object, whom = model): Promise<unknown> =>
      (await asking(whom, { cache: true, ...request }, { cache })).cached
    equal(await ask({ messages: 'hi' }), undefined, 'the first')
    equal(await ask({ messages: [message] }), true, 'the same as a message')
    equal(await ask({ messages: [{ ...message, id: 'mine' }] }), true, 'with another id')
    equal(await ask({ messages: 'hi!' }), undefined, 'another text')
    equal(await ask({ messages: 'hi', seed: 1 }), undefined, 'another seed')
    equal(await ask({ messages: 'hi', instructions: '' }), undefined, 'instructions')
    equal(await ask({ messages: 'hi', extra: {} }), undefined, 'extra')
    equal(await ask({ messages: 'hi' }, other as never), undefined, 'another model')
  },

  async 'nothing is looked up or kept where tools come in, and no call is kept'() {
    const cache = port()
    const result = { role: 'tool', call: 'c', tool: 'look_up', status: 'success', text: '4' }
    const call = { kind: 'call', id: 'x', tool: 'look_up', raw: '{}' }
    const turns = Array.from({ length: 3 }, () => [text('yes'), finish])
    const model = says(...turns, [call, { kind: 'finish', reason: 'calls' }], [finish])
    for (let n = 0; n < 2; n++) await asking(model, { ...cached, tools: [callable] }, { cache })
    await asking(model, { cache: true, messages: [result as Message] }, { cache })
    await asking(model, cached, { cache })
    equal([model.requests.length, cache.rows.size], [4, 0], 'requests, entries')
  },

  async 'what failed, was cut short or was of no use is not kept'() {
    const cache = port()
    const model = says(
      [text('half'), new Error('busy')],
      [text('half'), { kind: 'finish', reason: 'length' }],
      [{ kind: 'finish', reason: 'filter' }],
      [text('four'), finish],
      [text('{"n":4}'), finish],
      [text('{"n":5}'), finish],
    )
    await thrown(() => asking(model, cached, { cache }))
    await asking(model, cached, { cache })
    await asking(model, cached, { cache })
    equal(cache.rows.size, 0, 'entries')
    const first = await asking(model, { ...cached, output: numbered }, { cache })
    equal([first.output, cache.rows.size], [{ n: 4 }, 1], 'only the repair is kept')
    const again = await asking(model, { ...cached, output: numbered }, { cache })
    equal([again.output, again.cached], [{ n: 5 }, undefined], 'the question is asked again')
  },

  async 'hooks are around an answer from the cache as around any other, and it is held to its shape'() {
    const cache = port()
    const request = { ...cached, output: numbered }
    await asking(says([text('{"n":1}'), finish]), request, { cache })
    const log: unknown[] = []
    const hook: Hook = {
      beforeLlm: () => void log.push('before'),
      afterLlm: (_, { text: said, cached: hit }) => void log.push(said, hit),
    }
    const answer = await asking(says(), request, { cache, hooks: [hook] })
    equal([answer.output, answer.cached], [{ n: 1 }, true], 'the answer')
    equal(log, ['before', '{"n":1}', true], 'what hooks see')
    const [key] = cache.rows.keys()
    cache.rows.set(key as string, envelope.encode('llm', { text: '{}', finish: 'stop' }))
    const mended = says([text('{"n":2}'), finish])
    equal((await asking(mended, request, { cache })).output, { n: 2 }, 'one of another shape')
    for (const broken of [
      '',
      '{',
      envelope.encode('tool', { text: 'a' }),
      envelope.encode('llm', 4),
    ]) {
      cache.rows.clear()
      cache.rows.set(key as string, broken)
      const asked = await asking(says([text('{"n":3}'), finish]), request, { cache })
      equal(asked.output, { n: 3 }, `a broken entry: ${broken}`)
    }
  },

  async 'those who ask the same at once share one request, and each is asked again if it fails'() {
    const cache = port()
    let release = (): void => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    const model = says([held, text('yes'), used], [text('no'), used])
    const replies = within((ctx) => Promise.all([1, 2, 3].map(() => ctx.generate(model, cached))), {
      cache,
    }) as Promise<readonly { readonly text: string; readonly cached?: true }[]>
    for (let n = 0; n < 100; n++) await turn()
    release()
    // Which of them leads is up to the platform's digest.
    equal(
      (await replies).map(({ text: said }) => said),
      ['yes', 'yes', 'yes'],
      'replies',
    )
    const hits = (await replies).filter(({ cached: hit }) => hit === true)
    equal([hits.length, model.requests.length], [2, 1], 'replies of another, requests')
    const fails = says([new Error('busy')], [text('yes'), used], [text('yes'), used])
    const outcomes = await within(
      (ctx) =>
        Promise.all(
          [1, 2].map(() =>
            ctx.generate(fails, { messages: 'other', cache: true }).catch(() => undefined),
          ),
        ),
      { cache },
    )
    const said = (outcomes as ({ readonly text: string } | undefined)[]).map((one) => one?.text)
    equal(
      said.filter((one) => one !== undefined),
      ['yes'],
      'what is said',
    )
    equal(fails.requests.length, 2, 'requests')
  },

  async 'a cache that fails knows nothing, and what cannot be a key is not cached'() {
    const broken = (): never => {
      throw new Error('out of order')
    }
    const cache = { get: broken, set: broken, delete: broken }
    equal((await asking(says([text('a'), finish]), cached, { cache })).text, 'a', 'a broken one')
    const good = port()
    const model = says([finish], [finish])
    const data = new Uint8Array([1])
    const messages = [
      { role: 'user', text: '', files: [{ mediaType: 'image/png', data }] },
    ] as const
    for (let n = 0; n < 2; n++) await asking(model, { messages, cache: true }, { cache: good })
    equal([model.requests.length, good.rows.size], [2, 0], 'requests, entries')
    equal((await asking(says([text('a'), finish]), cached)).text, 'a', 'none at all')
  },

  async 'no tenant gets what another has cached'() {
    const cache = port()
    const asked: unknown[] = []
    const model = says([text('1'), finish], [text('2'), finish])
    const asks = graph({
      name: 'asks',
      state: { said: field('') },
      nodes: {
        ask: async (_, ctx) => {
          const reply = await ctx.generate(model, cached)
          asked.push(reply.cached)
          return { said: reply.text }
        },
      },
      edges: { start: 'ask', ask: 'end' },
    })
    const app = compile(asks, { cache, logger: silent })
    const said: unknown[] = []
    for (const [n, tenant] of ['a', 'b', 'a'].entries()) {
      const { state } = await app.tenant(tenant).run({ thread: `t${n}`, input: {} })
      said.push(state.said)
    }
    equal(
      [said, asked],
      [
        ['1', '2', '1'],
        [undefined, undefined, true],
      ],
      'who got what',
    )
  },

  async 'a tool that asks may be cached itself'() {
    const cache = port()
    const model = says([text('yes'), used])
    const asks = tool({
      name: 'asks',
      description: '',
      input: anything(),
      cache: { scope: 'global' },
      run: async (_, ctx) => (await ctx.generate(model, { messages: 'hi' })).text,
    })
    const executor = executorOf([asks, does('other', () => 1)], { cache })
    equal([await executor.run('asks', {}), await executor.run('asks', {})], ['yes', 'yes'], 'both')
    equal(model.requests.length, 1, 'requests')
  },
}
