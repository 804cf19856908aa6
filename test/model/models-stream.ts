// What is heard of a model: text, reasoning, calls, usage; streams that break, hang, or make no sense (B32).
import { isHeddleError, type ModelEvent } from 'heddle'
import { manualClock } from 'heddle/testing'
import { equal } from '../behaviours/portable.ts'
import { passing, thrown, turn } from '../tool/parts.ts'
import { asking, callable, finish, never, same, says, text, within, type Deed } from './parts.ts'

type Cases = Readonly<Record<string, () => Promise<void>>>

const turns = async (): Promise<void> => {
  for (let n = 0; n < 50; n++) await turn()
}

export const streamCases: Cases = {
  async 'text and reasoning add up, and the last report of usage is the one that counts'() {
    const model = says([
      { kind: 'reasoning', delta: 'it is ' },
      { kind: 'reasoning', delta: 'a greeting' },
      text('Good '),
      { kind: 'usage', usage: { input: 7, output: 1 } },
      text('day'),
      { kind: 'usage', usage: { input: 7, output: 3, reasoning: 2 } },
      finish,
    ])
    const usage = { input: 7, output: 3, reasoning: 2, total: 10, requests: 1 }
    same(
      await asking(model),
      {
        text: 'Good day',
        message: {
          role: 'assistant',
          text: 'Good day',
          reasoning: 'it is a greeting',
          model: 'p/m',
          usage,
        },
        calls: [],
        usage,
        finish: 'stop',
      },
      'the reply',
    )
    equal(model.returns, 1, 'streams that were left')
  },

  async 'usage at the end replaces what came before it, and what is no number was not reported'() {
    const odd = { input: null, output: 4, total: NaN, cacheRead: -1, reasoning: '2' }
    const model = says([
      { kind: 'usage', usage: { input: 100 } },
      { kind: 'finish', reason: 'length', usage: odd },
    ])
    const reply = await asking(model)
    same([reply.usage, reply.finish], [{ output: 4, total: 4, requests: 1 }, 'length'], 'the end')
  },

  async 'every call has an id of ours and one of the wire, and each is there once (B32)'() {
    const call = (id: unknown, raw: string): object => ({ kind: 'call', id, tool: 'look_up', raw })
    const model = says([
      call('x', '{"n":1}'),
      call('x', '{"n":2}'),
      call('x-2', ''),
      call('', '{"n":'),
      call(undefined, '[]'),
      call(null, 'null'),
      { kind: 'finish', reason: 'calls' },
    ])
    const {
      calls,
      message,
      finish: reason,
    } = await asking(model, {
      messages: 'hi',
      tools: [callable],
    })
    equal(
      calls.map(({ id: _, tool: __, ...one }) => one),
      [
        { args: { n: 1 }, raw: '{"n":1}', wireId: 'x' },
        { args: { n: 2 }, raw: '{"n":2}', wireId: 'x-2' },
        { args: {}, raw: '', wireId: 'x-2-2' },
        { raw: '{"n":' },
        { args: [], raw: '[]' },
        { args: null, raw: 'null' },
      ],
      'calls',
    )
    equal(new Set(calls.map(({ id }) => id)).size, 6, 'ids')
    equal(
      calls.every(({ id }) => /^call_[\da-f]{32}$/.test(id)),
      true,
      'ids of ours',
    )
    equal([message.calls, reason], [calls, 'calls'], 'the message')
  },

  async 'what is not known is passed over, and only what is known is told'() {
    const told: ModelEvent[] = []
    const known: ModelEvent[] = [
      { kind: 'download', loaded: 1, total: 2 },
      { kind: 'args', id: 'a', tool: 'look_up', delta: '{' },
      text('hi'),
      finish,
    ]
    const model = says([{ kind: 'citation', delta: 4 }, ...known.slice(0, 3), { kind: 7 }, finish])
    const reply = await asking(model, {
      messages: 'hi',
      onEvent: (event: ModelEvent) => void told.push(event),
    })
    equal([reply.text, reply.calls], ['hi', []], 'the reply')
    equal(told, known, 'what was told')
  },

  async 'a reason that is not known is "other"'() {
    const model = says([{ kind: 'finish', reason: 'pause_turn' }], [{ kind: 'finish' }])
    equal((await asking(model)).finish, 'other', 'the reason')
    equal((await asking(model)).finish, 'other', 'no reason')
  },

  async 'events that make no sense are a failure of the model'() {
    const table: readonly unknown[] = [
      null,
      7,
      {},
      { kind: 'text' },
      { kind: 'reasoning', delta: 4 },
      { kind: 'args', id: 'x', delta: undefined },
      { kind: 'args', id: 'x', tool: 4, delta: '' },
      { kind: 'call', id: 'x', tool: 'look_up' },
      { kind: 'call', id: 'x', raw: '{}' },
      { kind: 'call', id: 4, tool: 'look_up', raw: '{}' },
      { kind: 'download' },
      { kind: 'usage' },
      { kind: 'usage', usage: 12 },
      { kind: 'finish', reason: 4 },
      { kind: 'finish', reason: 'stop', usage: 'none' },
      { kind: 'finish', reason: 'error' },
    ]
    for (const event of table) {
      const model = says([text('half'), event as Deed, finish])
      const error = await thrown(() => asking(model))
      equal(isHeddleError(error, 'model_error'), true, `${JSON.stringify(event)}: ${String(error)}`)
      equal(model.returns, 1, 'streams that were left')
    }
  },

  async 'a stream whose steps or events throw when they are looked at is a failure of the model'() {
    const secret = 'sk-123'
    const fails = (): never => {
      throw new Error(secret)
    }
    const steps: readonly unknown[] = [
      null,
      undefined,
      7,
      Object.defineProperty({}, 'done', { get: fails }),
      Object.defineProperty({ done: false }, 'value', { get: fails }),
      ...['kind', 'delta'].map((member) => ({
        done: false,
        value: Object.defineProperty({ kind: 'text' }, member, { get: fails }),
      })),
      {
        done: false,
        value: {
          kind: 'usage',
          usage: Object.defineProperty({}, 'input', { get: fails, enumerable: true }),
        },
      },
    ]
    for (const [at, step] of steps.entries()) {
      const stream = () => ({ [Symbol.asyncIterator]: () => ({ next: async () => step }) })
      const error = await thrown(() => asking({ provider: 'p', model: 'm', stream } as never))
      equal(isHeddleError(error, 'model_error'), true, `${at}: ${String(error)}`)
      equal(String(error).includes(secret), false, 'its words')
    }
  },

  async 'a stream that ends without its finish is broken'() {
    const model = says([text('half'), { kind: 'call', id: 'x', tool: 'look_up', raw: '{}' }])
    const error = await thrown(() => asking(model, { messages: 'hi', tools: [callable] }))
    equal(
      [(error as Error).message, isHeddleError(error, 'model_error') && error.details],
      ['Cannot ask model "p/m": its stream ended without "finish"', { provider: 'p', model: 'm' }],
      'the error',
    )
  },

  async 'what a model throws is the cause of a ModelError, and its words are not repeated'() {
    const cause = new RangeError('key sk-123 is no good')
    const error = (await thrown(() => asking(says([text('half'), cause])))) as Error
    equal(
      [error.message, error.cause === cause],
      ['Cannot ask model "p/m": it failed with RangeError', true],
      'the error',
    )
    const aborted = new DOMException('gone', 'AbortError')
    const other = await thrown(() => asking(says([aborted])))
    equal(isHeddleError(other, 'model_error'), true, 'an abort that nobody asked for')
  },

  async 'a model that has no stream to give fails like one whose stream breaks'() {
    const made: readonly (() => unknown)[] = [
      () => undefined,
      () => [finish],
      () => {
        throw new TypeError('no network')
      },
      () => ({
        [Symbol.asyncIterator]() {
          throw new Error('no iterator')
        },
      }),
      () => ({ [Symbol.asyncIterator]: () => ({ next: () => ({ done: false, value: finish }) }) }),
    ]
    const outcomes: unknown[] = []
    for (const stream of made) {
      const model = { provider: 'p', model: 'm', stream } as never
      const outcome = await asking(model).then(
        ({ finish: reason }) => reason,
        (error: unknown) => isHeddleError(error, 'model_error'),
      )
      outcomes.push(outcome)
    }
    equal(outcomes, [true, true, true, true, 'stop'], 'outcomes')
  },

  async 'what comes after the finish is not waited for'() {
    const model = says([text('hi'), finish, never()])
    equal((await asking(model)).text, 'hi', 'the reply')
    equal(model.returns, 1, 'streams that were left')
  },

  async 'who reads slowly slows the model, and whose reading fails has failed'() {
    const order: string[] = []
    const model = says([text('a'), text('b'), finish])
    await asking(model, {
      messages: 'hi',
      onEvent: async ({ kind }: ModelEvent) => {
        order.push(`begin ${kind}`)
        await turns()
        order.push(`end ${kind}`)
      },
    })
    equal(
      order,
      ['text', 'text', 'finish'].flatMap((kind) => [`begin ${kind}`, `end ${kind}`]),
      'order',
    )
    const own = new TypeError('the page is gone')
    const broken = says([text('a'), text('b'), finish])
    const onEvent = (): never => {
      throw own
    }
    equal((await thrown(() => asking(broken, { messages: 'hi', onEvent }))) === own, true, 'error')
    equal([broken.returns, broken.signals[0]?.aborted], [1, true], 'the model hears of it')
  },

  async 'an abort ends it at once, whatever the model does, and nothing of it is heard any more'() {
    let release = (): void => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    const told: unknown[] = []
    const model = says([text('a'), held, text('late'), new Error('later still')])
    const caller = new AbortController()
    const reason = new Error('changed my mind')
    const request = { messages: 'hi', onEvent: (event: ModelEvent) => void told.push(event) }
    const outcome = thrown(() => asking(model, request, {}, { signal: caller.signal }))
    await turns()
    caller.abort(reason)
    equal((await outcome) === reason, true, 'the reason')
    equal([model.signals[0]?.reason === reason, model.returns], [true, 1], 'what the model hears')
    release()
    await turns()
    equal(told, [text('a')], 'what was told')
  },

  async 'a signal that has aborted before asks nobody'() {
    const model = says([finish])
    const error = await thrown(() =>
      within(
        (ctx) => ctx.generate(model, { messages: 'hi' }),
        {},
        { signal: AbortSignal.abort(new Error('no')) },
      ),
    )
    equal([(error as Error).message, model.requests.length], ['no', 0], 'the reason, requests')
  },

  async 'a model that takes longer than it may is given up, and no timer is left'() {
    const clock = manualClock()
    const model = says([text('a'), never()])
    const outcome = thrown(() => asking(model, { messages: 'hi', timeout: 100 }, { clock }))
    const error = (await passing(clock, outcome)) as DOMException
    equal(
      [error.name, error.message],
      ['TimeoutError', 'Model "p/m" took longer than 100 ms'],
      'error',
    )
    equal([clock.pending, model.returns, model.signals[0]?.aborted], [0, 1, true], 'what is left')
    const quick = says([text('a'), finish])
    await asking(quick, { messages: 'hi', timeout: 100 }, { clock })
    equal([clock.pending, quick.signals[0]?.aborted], [0, false], 'what is left of one in time')
  },

  async 'a stream whose end breaks has ended'() {
    const model = {
      provider: 'p',
      model: 'm',
      stream: () => ({
        [Symbol.asyncIterator]: () => ({
          next: async () => ({ done: false, value: finish }),
          return(): never {
            throw new Error('cannot end')
          },
        }),
      }),
    }
    equal((await asking(model as never)).finish, 'stop', 'the reply')
  },
}
