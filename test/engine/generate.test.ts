// What monitors, prices and agents see of requests to models.
import { describe, expect, test } from 'vitest'
import {
  budget,
  compile,
  field,
  graph,
  memory,
  runLimits,
  shortCircuit,
  tool,
  type CompileOptions,
  type Context,
  type Generate,
  type Hook,
  type Model,
  type MonitorEvent,
} from 'heddle'
import { manualClock, scriptedModel } from 'heddle/testing'
import { INSIDE } from '../../src/hook/mark.ts'
import { ask, type Asking } from '../../src/engine/generate.ts'
import type { NodeInside } from '../../src/tool/inside.ts'
import { all, failure, keepBooks } from '../behaviours/harness.ts'
import { calling, resultOf } from '../behaviours/calls-parts.ts'
import { refusedWith } from '../behaviours/portable.ts'
import { silent } from '../fakes/silent.ts'
import { callable, never, numbered, says, text } from '../model/parts.ts'
import { passing } from '../tool/parts.ts'

keepBooks()

const hi = { messages: 'hi' } as const
const used = (total: number): object => ({ kind: 'finish', reason: 'stop', usage: { total } })

/** An app of one node, and what its monitor and its presence were told. */
function watched(work: (ctx: Context) => unknown, options: CompileOptions = {}) {
  const events: MonitorEvent[] = []
  const states: string[] = []
  const app = compile(calling(work), {
    logger: silent,
    monitor: { emit: (event) => void events.push(event) },
    presence: { set: (state) => void states.push(state) },
    ...options,
  })
  const of = (kind: string): object[] =>
    events
      .filter((event) => event.kind === kind)
      .map(({ run: _, thread: __, at: ___, kind: ____, ...rest }) => rest as object)
  return { app, events, states, of }
}

/** Asks as agents do. */
const askIn = (ctx: Context, model: Model, request: Generate, options: Asking) =>
  ask((ctx as unknown as { [INSIDE]: NodeInside })[INSIDE].calls, model, request, options)

describe('monitors', () => {
  test('a request, and what came of it, once each, however often the node is entered', async () => {
    const model = scriptedModel([
      { text: 'yes', usage: { input: 3, output: 1 } },
      { calls: [{ tool: 'look_up', args: { n: 1 } }], usage: { input: 4 } },
    ])
    const { app, of, states } = watched(async (ctx) => {
      await ctx.generate(model, hi)
      await ctx.generate(model, { messages: [{ role: 'user', text: 'and' }], tools: [callable] })
      return ctx.interrupt('ok?')
    })
    await app.run({ thread: 't', input: {} })
    await app.run({ thread: 't', answer: 1 })
    expect(of('model_request')).toEqual([
      { model: 'scripted/script', messagesCount: 1 },
      { model: 'scripted/script', messagesCount: 1 },
    ])
    expect(of('model_response')).toEqual([
      expect.objectContaining({
        ...{ totalTokens: 4, inputTokens: 3, outputTokens: 1, toolCallsCount: 0 },
        response: expect.objectContaining({ role: 'assistant', text: 'yes' }),
      }),
      expect.objectContaining({ totalTokens: 8, inputTokens: 7, toolCallsCount: 1 }),
    ])
    // Of the run, of two requests, the pause, and the run that went on.
    const thinking = ['thinking', 'thinking', 'thinking', 'waiting_input', 'thinking', 'idle']
    expect(states).toEqual(thinking)
  })

  test('a response is told when its record is there', async () => {
    const store = memory()
    let commits = 0
    const counting = {
      ...store,
      commit: (batch: Parameters<typeof store.commit>[0]) => (commits++, store.commit(batch)),
    }
    const at: [string, number][] = []
    const app = compile(
      calling(async (ctx) => {
        await ctx.generate(says([used(1)]), hi)
        await askIn(ctx, says([used(1)]), hi, {})
      }),
      { store: counting, monitor: { emit: ({ kind }) => void at.push([kind, commits]) } },
    )
    await app.run({ thread: 't', input: {} })
    const stored = at.filter(([kind]) => kind.startsWith('model')).map(([, n]) => n)
    const [one, other, third, fourth] = stored as [number, number, number, number]
    // That of the reply alone stands between the first two; what agents ask is stored with their step.
    expect([other - one, third - other, fourth - third]).toEqual([1, 0, 1])
  })

  test('a failure of a model, healed or not, and none of what nobody was asked for', async () => {
    const heals: Hook = {
      beforeLlm: ({ request }) =>
        request.messages[0]?.text === 'free' ? shortCircuit({ text: 'free' }) : undefined,
      onLlmError: ({ request }) =>
        request.messages[0]?.text === 'heal' ? shortCircuit({ text: 'well' }) : undefined,
    }
    const model = says([new Error('sk-1')], [new Error('sk-2')])
    const { app, of, events } = watched(
      async (ctx) => {
        await ctx.generate(model, { messages: 'free' })
        await ctx.generate(model, { messages: 'heal' })
        return ctx.generate(model, { messages: 'fail' })
      },
      { hooks: [heals] },
    )
    await refusedWith('model_error', () => app.run({ thread: 't', input: {} }))
    const told = {
      error: 'Cannot ask model "p/m": it failed with Error',
      errorType: 'ModelError',
      context: 'model_call',
    }
    expect(of('model_error')).toEqual([told, told])
    expect(of('model_request')).toHaveLength(2)
    expect(of('model_response')).toEqual([])
    expect(JSON.stringify(events)).not.toContain('sk-')
  })
})

describe('usage', () => {
  test('a request costs what its prices say, a failed one too, and one that reported nothing counts as a request', async () => {
    const prices = { 'p/m': { input: 2_000_000, output: 4_000_000 } }
    const model = says(
      [{ kind: 'finish', reason: 'stop', usage: { input: 1, output: 2, cost: 99 } }],
      [text('half'), { kind: 'usage', usage: { input: 3 } }, new Error('busy')],
      [new Error('busy')],
    )
    const costs: unknown[] = []
    const app = compile(
      calling(async (ctx) => {
        const first = await ctx.generate(model, hi)
        costs.push(first.usage.cost)
        for (const messages of ['2', '3']) await failure(ctx.generate(model, { messages }))
        return 'done'
      }),
      { prices },
    )
    const { usage } = await app.run({ thread: 't', input: {} })
    expect(costs).toEqual([10])
    expect(usage).toEqual({ input: 4, output: 2, total: 6, requests: 3, cost: 16 })
  })

  test('budgets and limits hold across a pause, and a reply on record counts once', async () => {
    const model = says([used(60)], [used(60)], [used(60)])
    const app = compile(
      calling(async (ctx) => {
        await ctx.generate(model, { messages: '1' })
        await ctx.interrupt('ok?')
        await ctx.generate(model, { messages: '2' })
        return ctx.generate(model, { messages: '3' })
      }),
      { hooks: [budget({ tokens: 120, per: 'thread' })], logger: silent },
    )
    await app.run({ thread: 't', input: {} })
    const error = await refusedWith('budget_exceeded', () => app.run({ thread: 't', answer: 1 }))
    expect(error.details).toEqual({ limit: 'tokens', used: 120, allowed: 120 })
    expect(model.requests).toHaveLength(2)
  })

  test('requests that are made at once are counted as they are sent', async () => {
    const model = says([used(1)], [used(1)], [used(1)])
    const app = compile(
      calling(async (ctx) => {
        const wanted = ['1', '2', '3'].map((messages) => ctx.generate(model, { messages }))
        const settled = await Promise.allSettled(wanted)
        return settled.map(({ status }) => status)
      }),
      { hooks: [runLimits({ modelCalls: 2 })], logger: silent },
    )
    const outcome = await app.run({ thread: 't', input: {} })
    expect(resultOf(outcome)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    expect(model.requests).toHaveLength(2)
  })
})

describe('what agents use', () => {
  test('without a record a request is made again on re-entry, under the same ids', async () => {
    const call = { kind: 'call', id: 'x', tool: 'look_up', raw: '{"n":1}' }
    const model = says([call, used(1)], [call, used(1)])
    const ids: string[] = []
    const app = compile(
      calling(async (ctx) => {
        const { calls } = await askIn(ctx, model, { ...hi, tools: [callable] }, {})
        ids.push(...calls.map(({ id }) => id))
        await ctx.interrupt('ok?')
        return 'done'
      }),
    )
    await app.run({ thread: 't', input: {} })
    const { usage } = await app.run({ thread: 't', answer: 1 })
    expect(model.requests).toHaveLength(2)
    expect(model.ids[1]).toBe(model.ids[0])
    expect([ids.length, new Set(ids).size]).toEqual([2, 1])
    expect(usage).toEqual({ total: 1, requests: 1 })
  })

  test('a request takes the id that it is given', async () => {
    const model = says([used(1)])
    const app = compile(calling((ctx) => askIn(ctx, model, hi, { id: 'call_mine' })))
    await app.run({ thread: 't', input: {} })
    expect(model.ids).toEqual(['call_mine'])
  })

  const part = [
    { kind: 'reasoning', delta: 'hm' },
    text('half an '),
    text('answer'),
    { kind: 'call', id: 'x', tool: 'look_up', raw: '{}' },
    { kind: 'usage', usage: { total: 4 } },
  ]
  const partial = {
    role: 'assistant',
    text: 'half an answer',
    reasoning: 'hm',
    partial: true,
    model: 'p/m',
    usage: { total: 4, requests: 1 },
  }

  test('what had come of a message is handed over before a failure is thrown', async () => {
    const parts: unknown[] = []
    const order: string[] = []
    const onPartial = (message: unknown): void => void (parts.push(message), order.push('part'))
    const app = compile(
      calling(async (ctx) => {
        for (const deeds of [
          [...part, new Error('busy')],
          part,
          [new Error('nothing came')],
          [{ kind: 'reasoning', delta: 'hm' }, new Error('busy')],
        ]) {
          await failure(askIn(ctx, says(deeds), hi, { onPartial }))
          order.push('thrown')
        }
        return 'done'
      }),
    )
    await app.run({ thread: 't', input: {} })
    expect(parts).toEqual([partial, partial, { ...partial, text: '', usage: { requests: 1 } }])
    expect(order).toEqual(['part', 'thrown', 'part', 'thrown', 'thrown', 'part', 'thrown'])
  })

  test('an abort hands it over at once, before anybody records anything', async () => {
    const parts: unknown[] = []
    const caller = new AbortController()
    const model = says([...part, never()])
    let heard = (): void => {}
    const hearing = new Promise<void>((resolve) => (heard = resolve))
    const app = compile(
      calling((ctx) =>
        askIn(
          ctx,
          model,
          { ...hi, onEvent: ({ kind }) => (kind === 'usage' ? heard() : undefined) },
          { onPartial: (message) => void parts.push(message) },
        ),
      ),
    )
    const outcome = failure(app.run({ thread: 't', input: {}, signal: caller.signal }))
    await hearing
    expect(parts).toEqual([])
    const reason = new Error('enough')
    caller.abort(reason)
    expect(parts).toEqual([partial])
    expect(await outcome).toBe(reason)
    const [run] = await all(app.runs('t'))
    expect([run?.status, run?.usage]).toEqual(['cancelled', { total: 4, requests: 1 }])
  })

  test('a timeout hands it over, and one that was made good leaves nothing', async () => {
    const clock = manualClock()
    const parts: unknown[] = []
    const heals: Hook = {
      onLlmError: ({ request }) =>
        request.messages[0]?.text === 'heal' ? shortCircuit({ text: 'well' }) : undefined,
    }
    const app = compile(
      calling(async (ctx) => {
        const onPartial = (message: unknown): void => void parts.push(message)
        const late = { timeout: 50 }
        const well = await askIn(
          ctx,
          says([...part, never()]),
          { messages: 'heal', ...late },
          { onPartial },
        )
        const error = await failure(
          askIn(ctx, says([...part, never()]), { messages: 'fail', ...late }, { onPartial }),
        )
        return [well.text, error.name]
      }),
      { clock, hooks: [heals] },
    )
    const outcome = await passing(clock, app.run({ thread: 't', input: {} }))
    expect(resultOf(outcome)).toEqual(['well', 'TimeoutError'])
    expect(parts).toEqual([partial])
  })

  test('who takes it and fails changes nothing', async () => {
    const app = compile(
      calling((ctx) =>
        askIn(ctx, says([...part, new Error('busy')]), hi, {
          onPartial() {
            throw new TypeError('no room')
          },
        }),
      ),
      { logger: silent },
    )
    await refusedWith('model_error', () => app.run({ thread: 't', input: {} }))
  })
})

test('a node that has ended has no use for a reply that comes late', async () => {
  let release = (): void => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  const model = says([held, text('late'), used(1)])
  const twice = graph({
    name: 'twice',
    state: { out: field('') },
    nodes: {
      first(_, ctx) {
        void ctx.generate(model, hi)
        return { out: 'first' }
      },
      second: (_, ctx) => {
        release()
        return ctx.sleep(1).then(() => ({ out: 'second' }))
      },
    },
    edges: { start: 'first', first: 'second', second: 'end' },
  })
  const app = compile(twice)
  const outcome = await app.runUntilDone({ thread: 't', input: {} })
  expect(outcome.state).toEqual({ out: 'second' })
})

test("a request of an attempt that is over is in nobody's way", async () => {
  const model = says([never()], [used(1)])
  let tries = 0
  const asks = tool({
    name: 'asks',
    description: '',
    input: numbered,
    retry: { attempts: 2, delay: 0 },
    run(_, ctx) {
      void ctx.generate(model, hi)
      if (++tries === 1) throw new Error('busy')
      return 'done'
    },
  })
  const app = compile(
    calling(async (ctx) => [await ctx.call(asks, { n: 1 }), await ctx.interrupt('ok?')]),
  )
  expect((await app.run({ thread: 't', input: {} })).status).toBe('interrupted')
  expect(resultOf(await app.run({ thread: 't', answer: 1 }))).toEqual(['done', 1])
})

test('what a schema makes of an answer must be storable where it is recorded', async () => {
  class Odd {
    kept = 1
  }
  const odd = { '~standard': { ...numbered['~standard'], validate: () => ({ value: new Odd() }) } }
  const app = compile(
    calling((ctx) => ctx.generate(says([text('{}'), used(1)]), { ...hi, output: odd as never })),
  )
  await refusedWith('unserializable_value', () => app.run({ thread: 't', input: {} }))
})
