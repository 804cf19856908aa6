// What policies let through in threads that go on in another process, on stores of the place we run in.
import {
  budget,
  compile,
  createExecutor,
  guardrail,
  runLimits,
  type CompiledGraph,
  type Context,
  type Emitted,
  type Hook,
  type Store,
  type ToolInvocation,
} from 'heddle'
import { manualClock, type ManualClock } from 'heddle/testing'
import {
  casesOf,
  equal,
  refusedWith,
  type Case,
  type Cases,
  type Open,
} from '../behaviours/portable.ts'
import { desk, endings, texts, type Desk, type Text } from '../behaviours/policies-parts.ts'
import { silent } from '../fakes/silent.ts'

type Work = (ctx: Context, desk: Desk) => Promise<unknown>

interface Place {
  readonly desk: Desk
  readonly clock: ManualClock
  /** A new process on the store. */
  app(ahead?: number): Promise<CompiledGraph>
}

function placeOf(reopen: () => Promise<Store>, hooks: readonly Hook[], work: Work): Place {
  const made = desk()
  const clock = manualClock('2026-01-01T00:00:00Z')
  return {
    desk: made,
    clock,
    app: async (ahead = 0) =>
      compile(made.does((ctx) => work(ctx, made))(), {
        store: await reopen(),
        hooks,
        tools: [made.post, made.send],
        clock: { now: () => clock.now() + ahead, after: clock.after },
        logger: silent,
      }),
  }
}

const textOf = (inv: object): string => ((inv as ToolInvocation).call.args as Text).text

const cases: Cases = {
  async 'a budget counts each call once, over pauses and new processes'(reopen) {
    const { desk: own, app } = placeOf(reopen, [budget({ calls: 2 })], async (ctx, { post }) => {
      for (const text of ['a', 'b', 'c']) {
        await ctx.call(post, { text })
        await ctx.interrupt(text)
      }
    })
    await (await app()).run({ thread: 't', input: {} })
    await (await app()).run({ thread: 't', answer: 'on' })
    const last = await app()
    const error = await refusedWith('budget_exceeded', () =>
      last.run({ thread: 't', answer: 'on' }),
    )
    equal(error.details, { limit: 'calls', used: 2, allowed: 2 }, 'why it ended')
    equal(own.posted, ['a', 'b'], 'what was posted')
    const state = await last.state('t')
    equal([state?.status, state?.error?.code], ['error', 'budget_exceeded'], 'what is recorded')
  },

  async 'a call that waits keeps its place before those behind it'(reopen) {
    const { desk: own, app } = placeOf(reopen, [budget({ calls: 2 })], async (ctx) =>
      endings(await ctx.callAll(texts([{ text: 'a', asks: 'sure?' }, 'b', 'c']))),
    )
    await (await app()).run({ thread: 't', input: {} })
    const { state } = await (await app()).run({ thread: 't', answer: 'yes' })
    equal(state['out'], ['posted a', 'posted b', 'budget_exceeded'], 'how they ended')
    equal(own.posted, ['b', 'a'], 'what was posted')
  },

  async 'a thread has its own budget beside that of each of its runs'(reopen) {
    const hooks = [budget({ calls: 2 }), budget({ calls: 3, per: 'thread' })]
    const { app } = placeOf(reopen, hooks, async (ctx) =>
      endings(await ctx.callAll(texts(['a', 'b']))),
    )
    const outs = []
    for (const _ of [1, 2])
      outs.push((await (await app()).run({ thread: 't', input: {} })).state['out'])
    equal(
      outs,
      [
        ['posted a', 'posted b'],
        ['posted a', 'budget_exceeded'],
      ],
      'how the calls of each turn ended',
    )
  },

  async 'who takes a thread over goes on counting where its last owner was'(reopen) {
    let dead = true
    let stored = false
    const { app } = placeOf(reopen, [budget({ calls: 2 })], async (ctx, { post }) => {
      await ctx.call(post, { text: 'a' })
      stored = true
      if (dead) await new Promise(() => {})
      return endings(await ctx.callAll(texts(['b', 'c'])))
    })
    const dying = (await app()).stream({ thread: 't', input: {} })
    dying.outcome.catch(() => {})
    await dying.id
    while (!stored) await new Promise((resolve) => setTimeout(resolve, 5))
    dead = false
    const { state } = await (await app(100_000)).run({ thread: 't' })
    equal(state['out'], ['posted b', 'budget_exceeded'], 'how the calls ended')
  },

  async 'a limit of time counts how long a run has the thread, not how long it waits'(reopen) {
    const place = placeOf(reopen, [runLimits({ time: 1000 })], async (ctx, { post }) => {
      for (const ms of [600, 399, 1]) {
        await ctx.once(`takes ${ms}`, () => place.clock.advance(ms))
        await ctx.call(post, { text: `${ms}` })
        await ctx.interrupt(ms)
      }
    })
    const { desk: own, app, clock } = place
    await (await app()).run({ thread: 't', input: {} })
    await clock.advance(86_400_000)
    await (await app()).run({ thread: 't', answer: 'on' })
    await clock.advance(86_400_000)
    const last = await app()
    await refusedWith('run_limit_exceeded', () => last.run({ thread: 't', answer: 'on' }))
    equal(own.posted, ['600', '399'], 'what was posted')
  },

  async 'a guardrail gives other arguments and another result, and both are what is recorded'(
    reopen,
  ) {
    const seen: string[] = []
    const hooks = [
      guardrail({
        name: 'no cards',
        input(inv) {
          seen.push(textOf(inv))
          if (textOf(inv) === 'bad') return { block: 'it is bad' }
          return { replace: { text: textOf(inv).replace(/\d/g, '#') } }
        },
        output: (_, value) => ({ replace: `${String(value)}!` }),
      }),
    ]
    const { desk: own, app } = placeOf(reopen, hooks, async (ctx) => {
      const first = endings(await ctx.callAll(texts(['card 42', 'bad'])))
      return [...first, await ctx.interrupt()]
    })
    await (await app()).run({ thread: 't', input: {} })
    const { state } = await (await app()).run({ thread: 't', answer: 'on' })
    equal(state['out'], ['posted card ##!', 'guardrail_blocked', 'on'], 'how they ended')
    equal([own.posted, seen], [['card ##'], ['card 42', 'bad']], 'what was posted, and looked at')
  },

  async 'in shadow mode everything passes, and onEvent hears of it'(reopen) {
    const told: Emitted[] = []
    const hooks: Hook[] = [
      budget({ calls: 1, shadow: true }),
      guardrail({ name: 'g', shadow: true, output: () => ({ block: 'no' }) }),
      { onEvent: (emitted) => void told.push(emitted) },
    ]
    const { app } = placeOf(reopen, hooks, async (ctx) =>
      endings(await ctx.callAll(texts(['a', 'b']))),
    )
    const { state } = await (await app()).run({ thread: 't', input: {} })
    equal(state['out'], ['posted a', 'posted b'], 'how they ended')
    const outcomes = told.map(({ event }) => (event as { outcome: string }).outcome)
    equal(
      outcomes.toSorted(),
      ['budget_exceeded', 'guardrail_blocked', 'guardrail_blocked'],
      'what was told',
    )
  },

  async 'an executor keeps to them without a thread'() {
    const { posted, post } = desk()
    const hooks = [
      guardrail({
        name: 'g',
        input: (inv) => (textOf(inv) === 'bad' ? { block: 'no' } : undefined),
      }),
      budget({ calls: 2 }),
    ]
    const executor = createExecutor({ tools: [post], hooks, logger: silent, concurrency: 1 })
    const results = await executor.runAll(texts(['bad', 'a', 'b', 'c']))
    equal(
      endings(results),
      ['guardrail_blocked', 'posted a', 'posted b', 'budget_exceeded'],
      'how they ended',
    )
    equal(posted, ['a', 'b'], 'what was posted')
    await refusedWith('budget_exceeded', () => executor.run(post, { text: 'd' }))
  },
}

/** The cases, against stores of the place we run in. */
export function suite(open: Open): readonly Case[] {
  return casesOf('policies', open, cases)
}
