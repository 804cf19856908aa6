// Requests to models in threads: each reply is stored before anybody sees it, and no request is made twice for a pause.
import {
  compile,
  field,
  graph,
  isHeddleError,
  tool,
  type Context,
  type Hook,
  type Model,
  type ModelRequest,
  type Reply,
  type Tool,
} from 'heddle'
import { scriptedModel } from 'heddle/testing'
import { silent } from '../fakes/silent.ts'
import { numbered, same } from '../model/parts.ts'
import { counted, Counts, openIn, resultOf, Thread } from './calls-parts.ts'
import { all, casesOf, equal, refusedWith, type Case, type Cases, type Open } from './portable.ts'

const hi = { messages: 'hi' } as const
const asked = ({ messages }: ModelRequest): string => messages.at(-1)?.text ?? ''

/** Says again what it is asked, with the number of the request. */
const echo = (): ReturnType<typeof scriptedModel> => {
  let n = 0
  return scriptedModel((request) => ({ text: `${asked(request)} ${++n}`, usage: { input: 1 } }))
}

/** A tool that models can call. */
const offered = (counts: Counts, name: string, run: Parameters<typeof counted>[2]): Tool =>
  tool({
    name,
    description: '',
    input: numbered,
    run: (args, ctx) => (counts.add(name), run(args, ctx)),
  })

const cases: Cases = {
  async 'a reply is on record: a node that is entered again gets the same, and nobody hears of it again'(
    reopen,
  ) {
    const model = echo()
    const log: string[] = []
    const hook: Hook = {
      beforeLlm: () => void log.push('before'),
      afterLlm: () => void log.push('after'),
    }
    const replies: Reply[] = []
    const thread = new Thread(
      reopen,
      [],
      async (ctx) => {
        const reply = await ctx.generate(model, {
          ...hi,
          onEvent: ({ kind }) => void log.push(kind),
        })
        replies.push(structuredClone(reply))
        // What a node does to it is its own business.
        Object.assign(reply, { text: 'spoilt', message: {} })
        return [replies.at(-1)?.text, await ctx.interrupt('ok?')]
      },
      { hooks: [hook] },
    )
    const paused = await thread.start()
    same(paused.usage, { input: 1, total: 1, requests: 1 }, 'usage of the run that asked')
    const done = await thread.answerOne(true)
    equal(resultOf(done), ['hi 1', true], 'the result')
    same(done.usage, {}, 'usage of the run that went on')
    equal(replies[1], replies[0], 'the reply')
    equal(log, ['before', 'text', 'text', 'usage', 'finish', 'after'], 'what was told')
    equal(model.requests.length, 1, 'requests')
  },

  async 'requests of one node keep apart, also those that are made at once and come in another order'(
    reopen,
  ) {
    const model = echo()
    let entered = 0
    const thread = new Thread(reopen, [], async (ctx) => {
      const first = entered++ === 0
      const texts = first ? ['a', 'b', 'a'] : ['b', 'a', 'a']
      const replies = await Promise.all(texts.map((messages) => ctx.generate(model, { messages })))
      const said = Object.fromEntries(replies.map(({ text }, at) => [`${texts[at]}${at}`, text]))
      await ctx.interrupt('ok?')
      return said
    })
    await thread.start()
    const said = resultOf(await thread.answerOne(true)) as Record<string, string>
    equal(model.requests.length, 3, 'requests')
    equal(Object.keys(said).sort(), ['a1', 'a2', 'b0'], 'the requests that came again')
    const first = model.requests.map((request, at) => `${asked(request)} ${at + 1}`)
    equal(Object.values(said).sort(), first.sort(), 'replies')
    equal(said['b0']?.startsWith('b '), true, `the reply to b: ${said['b0']}`)
  },

  async 'one that is asked for something new counts as the one that was recorded in its place'(
    reopen,
  ) {
    const model = echo()
    let entered = 0
    const thread = new Thread(reopen, [], async (ctx) => {
      const { text } = await ctx.generate(model, { messages: `at ${++entered}` })
      return [text, await ctx.interrupt('ok?')]
    })
    await thread.start()
    equal(resultOf(await thread.answerOne(1)), ['at 1 1', 1], 'the result')
    equal(model.requests.length, 1, 'requests')
  },

  async 'a node that is tried again asks again for what failed, and for nothing else'(reopen) {
    const turns = [{ text: 'one' }, { text: 'tw', error: new Error('busy') }, { text: 'two' }]
    const model = scriptedModel(turns)
    const twice = graph({
      name: 'twice',
      state: { out: field<unknown>(undefined) },
      nodes: {
        ask: {
          retry: { attempts: 2, delay: 0 },
          run: async (_, ctx) => ({
            out: [
              (await ctx.generate(model, { messages: '1' })).text,
              (await ctx.generate(model, { messages: '2' })).text,
            ],
          }),
        },
      },
      edges: { start: 'ask', ask: 'end' },
    })
    const app = compile(twice, { store: await reopen(), logger: silent })
    equal(resultOf(await app.run({ thread: 't', input: {} })), ['one', 'two'], 'the result')
    equal(model.requests.map(asked), ['1', '2', '2'], 'requests')
  },

  async 'a failure is not stored: going on asks again'(reopen) {
    const model = scriptedModel([{ text: 'tw', error: new Error('busy') }, { text: 'two' }])
    const thread = new Thread(reopen, [], async (ctx) => (await ctx.generate(model, hi)).text, {
      logger: silent,
    })
    const error = await refusedWith('model_error', () => thread.start())
    equal(error.details, { provider: 'scripted', model: 'script' }, 'the failure')
    equal(resultOf(await thread.goOn()), 'two', 'the result')
  },

  async 'a failure that was caught before a pause is the same after it'(reopen) {
    const model = scriptedModel([{ error: new RangeError('key sk-1 is no good') }])
    const thread = new Thread(reopen, [], async (ctx) => {
      const failed = await ctx.generate(model, hi).catch((error: unknown) => error)
      await ctx.interrupt('ok?')
      return [isHeddleError(failed, 'model_error') && failed.details, (failed as Error).message]
    })
    await thread.start()
    equal(
      resultOf(await thread.answerOne(true)),
      [
        { provider: 'scripted', model: 'script' },
        'Cannot ask model "scripted/script": it failed with RangeError',
      ],
      'the failure',
    )
    model.assertComplete()
  },

  async 'a hook that asks a person before a request sends it when the answer is there, once'(
    reopen,
  ) {
    const model = echo()
    const hook: Hook = {
      async beforeLlm({ request, ctx }) {
        if ((await ctx.interrupt(`send ${asked(request)}?`)) !== true) throw new Error('refused')
      },
    }
    const thread = new Thread(
      reopen,
      [],
      async (ctx) => {
        const replies = await Promise.all(
          ['a', 'b'].map((messages) => ctx.generate(model, { messages })),
        )
        return replies.map(({ text }) => text[0])
      },
      { hooks: [hook] },
    )
    const open = openIn(await thread.start())
    equal([Object.keys(open).sort(), model.requests.length], [['send a?', 'send b?'], 0], 'asked')
    await thread.answer({ [open['send b?'] as string]: true })
    equal(model.requests.map(asked), ['b'], 'what was sent')
    equal(
      resultOf(await thread.answer({ [open['send a?'] as string]: true })),
      ['a', 'b'],
      'result',
    )
    equal(model.requests.map(asked), ['b', 'a'], 'what was sent')
  },

  async 'a hook that asks a person after a request does not have it made again'(reopen) {
    const model = echo()
    const hook: Hook = {
      async afterLlm({ ctx }, reply) {
        const text = (await ctx.interrupt(`show ${reply.text}?`)) as string
        return { ...reply, text, message: { ...reply.message, text } }
      },
    }
    const thread = new Thread(reopen, [], async (ctx) => ctx.generate(model, hi), { hooks: [hook] })
    const paused = await thread.start()
    same(paused.usage, { input: 1, total: 1, requests: 1 }, 'usage')
    const done = await thread.answerOne('hidden')
    const { text, message } = resultOf(done) as Reply
    equal([text, message.text], ['hidden', 'hidden'], 'the result')
    equal(model.requests.length, 1, 'requests')
  },

  async 'a hook that asks before a repair does not have the first request made again'(reopen) {
    const model = scriptedModel([{ text: 'four' }, { text: '{"n":4}' }])
    const hook: Hook = {
      async beforeLlm({ request, ctx }) {
        if (request.messages.length > 1) await ctx.interrupt('again?')
      },
    }
    const thread = new Thread(
      reopen,
      [],
      async (ctx) => (await ctx.generate(model, { ...hi, output: numbered })).output,
      { hooks: [hook] },
    )
    await thread.start()
    equal(model.requests.length, 1, 'requests by then')
    equal(resultOf(await thread.answerOne(true)), { n: 4 }, 'the result')
    model.assertComplete()
  },

  async 'calls of one id run once each, and have the same ids when the node is entered again (B32)'(
    reopen,
  ) {
    const counts = new Counts()
    const ids = new Map<string, Set<string>>()
    const say = offered(counts, 'say', async ({ n }, ctx) => {
      ids.set(`${n}`, (ids.get(`${n}`) ?? new Set()).add(ctx.callId))
      return n === 2 ? ctx.interrupt('two?') : n
    })
    const model = scriptedModel([
      {
        calls: [
          { id: 'x', tool: 'say', args: { n: 1 } },
          { id: 'x', tool: 'say', args: { n: 2 } },
          { id: '', tool: 'say', args: { n: 3 } },
        ],
      },
    ])
    const seen: unknown[] = []
    const thread = new Thread(reopen, [say], async (ctx) => {
      const { calls } = await ctx.generate(model, { ...hi, tools: [say] })
      seen.push(calls.map(({ id, wireId }) => [id, wireId]))
      const results = await ctx.callAll(calls)
      return results.map((one) => one.status === 'success' && one.value)
    })
    await thread.start()
    equal(resultOf(await thread.answerOne('yes')), [1, 'yes', 3], 'results')
    equal(seen[1], seen[0], 'ids on re-entry')
    equal(
      (seen[0] as [string, string | undefined][]).map(([, wireId]) => wireId),
      ['x', 'x-2', undefined],
      'ids of the wire',
    )
    equal(
      [...ids.values()].map(({ size }) => size),
      [1, 1, 1],
      'ids that each was called under',
    )
    equal([counts.of('say'), model.requests.length], [4, 1], 'bodies entered, requests')
  },

  async 'turns that repeat an id are two calls (B32)'(reopen) {
    const counts = new Counts()
    const tools = ['a', 'b'].map((name) =>
      offered(counts, name, async (_, ctx) => ctx.interrupt(`${name}?`)),
    )
    const model = scriptedModel(
      ['a', 'b'].map((name) => ({ calls: [{ id: '0', tool: name, args: { n: 1 } }] })),
    )
    const ids: string[] = []
    const thread = new Thread(reopen, tools, async (ctx) => {
      const results: unknown[] = []
      for (const messages of ['first', 'second']) {
        const { calls } = await ctx.generate(model, { messages, tools })
        ids.push(...calls.map(({ id }) => id))
        const [result] = await ctx.callAll(calls)
        results.push(result?.status === 'success' && result.value)
      }
      return results
    })
    const first = openIn(await thread.start())
    equal(Object.keys(first), ['a?'], 'the first question')
    const second = openIn(await thread.answer({ [first['a?'] as string]: 'yes' }))
    equal(Object.keys(second), ['b?'], 'the second question')
    equal(resultOf(await thread.answer({ [second['b?'] as string]: 'no' })), ['yes', 'no'], 'end')
    equal(new Set(ids).size, 2, 'ids')
  },

  async 'a tool in a thread asks as its node does'(reopen) {
    const model = echo()
    const asks = counted(new Counts(), 'asks', async (_, ctx) => {
      const { text } = await ctx.generate(model, hi)
      return [text, await ctx.interrupt('ok?')]
    })
    const thread = new Thread(reopen, [asks], async (ctx) => [
      await ctx.call('asks', {}),
      (await ctx.generate(model, hi)).text,
    ])
    same((await thread.start()).usage, { input: 1, total: 1, requests: 1 }, 'usage')
    equal(resultOf(await thread.answerOne(1)), [['hi 1', 1], 'hi 2'], 'the result')
    equal(model.requests.length, 2, 'requests')
  },

  async 'what stops a run stops its request, and what was used by then is counted'(reopen) {
    const caller = new AbortController()
    const reason = new Error('enough')
    const told: unknown[] = []
    const endless: Model = {
      provider: 'p',
      model: 'm',
      async *stream() {
        yield { kind: 'text', delta: 'half' }
        yield { kind: 'usage', usage: { input: 3, output: 1 } }
        await new Promise(() => {})
      },
    }
    const work = async (ctx: Context): Promise<unknown> =>
      ctx.generate(endless, {
        ...hi,
        onEvent(event) {
          told.push(event.kind)
          if (event.kind === 'usage') caller.abort(reason)
        },
      })
    const thread = new Thread(reopen, [], work)
    const app = await thread.app()
    const error = await app
      .run({ thread: 't', input: {}, signal: caller.signal })
      .catch((thrown: unknown) => thrown)
    equal([error === reason, told], [true, ['text', 'usage']], 'the reason')
    const [run] = await all(app.runs('t'))
    equal(run?.status, 'cancelled', 'the status of the run')
    same(run?.usage, { input: 3, output: 1, total: 4, requests: 1 }, 'its usage')
  },
}

/** The cases, against stores of the place we run in. */
export function suite(open: Open): readonly Case[] {
  return casesOf('generate', open, cases)
}
