import { budget, guardrail, runLimits, type Context, type Hook } from 'heddle'
import { manualClock } from 'heddle/testing'
import { describe, expect } from 'vitest'
import { everyWay, failure, keepBooks } from './harness.ts'
import { desk, endings, texts } from './policies-parts.ts'

keepBooks()

describe('a budget of calls', () => {
  everyWay('counts a call once, however often its node is entered again', async (open) => {
    const { posted, post, does } = desk()
    const work = does(async (ctx) => {
      for (const text of ['a', 'b', 'c']) {
        await ctx.call(post, { text })
        await ctx.interrupt(text)
      }
    })
    const story = open(work, { tools: [post], hooks: [budget({ calls: 2 })] })
    await story.start()
    await story.answerOne('on')
    const error = await failure(story.answerOne('on'))
    expect(error).toMatchObject({ code: 'budget_exceeded', details: { used: 2, allowed: 2 } })
    expect(posted).toEqual(['a', 'b'])
    // It stands, whoever goes on.
    await expect(failure(story.goOn())).resolves.toMatchObject({ code: 'budget_exceeded' })
    expect((await story.snapshot()).error).toMatchObject({ code: 'budget_exceeded' })
    expect(posted).toEqual(['a', 'b'])
  })

  everyWay('lets the first of several calls side by side through, in their order', async (open) => {
    const { posted, post, does } = desk()
    const slow: Hook = {
      name: 'slow',
      async beforeTool({ call }) {
        // The first takes longest.
        for (let n = 5; n > Number((call.args as { text: string }).text); n--)
          await Promise.resolve()
      },
    }
    const work = does(async (ctx) => endings(await ctx.callAll(texts(['0', '1', '2', '3', '4']))))
    const { state } = await open(work, {
      tools: [post],
      hooks: [slow, budget({ calls: 2 })],
    }).start()
    expect(state['out']).toEqual([
      'posted 0',
      'posted 1',
      'budget_exceeded',
      'budget_exceeded',
      'budget_exceeded',
    ])
    expect(posted.toSorted()).toEqual(['0', '1'])
  })

  everyWay('keeps the place of a call that waits for a person', async (open) => {
    const { posted, post, does } = desk()
    const work = does(async (ctx) =>
      endings(await ctx.callAll(texts([{ text: 'a', asks: 'sure?' }, 'b', 'c']))),
    )
    const story = open(work, { tools: [post], hooks: [budget({ calls: 2 })] })
    const { status } = await story.start()
    expect([status, posted]).toEqual(['interrupted', ['b']])
    const { state } = await story.answerOne('yes')
    expect(state['out']).toEqual(['posted a', 'posted b', 'budget_exceeded'])
    expect(posted).toEqual(['b', 'a'])
  })

  everyWay('starts anew with each input, and goes on for the thread', async (open) => {
    const { posted, post, does } = desk()
    const work = does(async (ctx) => endings(await ctx.callAll(texts(['a', 'b']))))
    const hooks = [budget({ calls: 2 }), budget({ calls: 3, per: 'thread' })]
    const story = open(work, { tools: [post], hooks })
    const turns = []
    for (const _ of [1, 2]) turns.push((await story.start()).state['out'])
    expect(turns).toEqual([
      ['posted a', 'posted b'],
      ['posted a', 'budget_exceeded'],
    ])
    expect(posted).toHaveLength(3)
  })

  everyWay('leaves out what was refused, denied or decided by a hook', async (open) => {
    const { posted, post, send, does } = desk()
    const strict = guardrail({
      name: 'strict',
      input: (inv) =>
        'call' in inv && (inv.call.args as { text: string }).text === 'bad'
          ? { block: 'it is bad' }
          : undefined,
    })
    const work = does(async (ctx) => {
      const first = []
      for (const text of texts(['bad', 'bad'])) first.push(...(await ctx.callAll([text])))
      const sent = await ctx.callAll(texts(['never'], 'send'))
      const last = []
      for (const text of texts(['a', 'b'])) last.push(...(await ctx.callAll([text])))
      return endings([...first, ...sent, ...last])
    })
    const hooks = [budget({ calls: 1 }), strict]
    const story = open(work, { tools: [post, send], hooks })
    await story.start()
    const { state } = await story.answerOne({ approve: false, reason: 'not now' })
    expect(state['out']).toEqual([
      'guardrail_blocked',
      'guardrail_blocked',
      'denied',
      'posted a',
      'budget_exceeded',
    ])
    expect(posted).toEqual(['a'])
  })

  everyWay('counts a call that failed', async (open) => {
    const { post, does } = desk()
    const work = does(async (ctx) => {
      const wrong = { tool: 'post', args: null }
      const results = []
      for (const call of [wrong, ...texts(['a', 'b'])]) results.push(...(await ctx.callAll([call])))
      return endings(results)
    })
    const fails = { ...post, run: () => Promise.reject(new Error('full')) }
    const { state } = await open(work, { tools: [fails], hooks: [budget({ calls: 2 })] }).start()
    expect(state['out']).toEqual(['Error: full', 'Error: full', 'budget_exceeded'])
  })
})

describe('run limits', () => {
  everyWay('of tool calls hold over pauses', async (open) => {
    const { posted, post, does } = desk()
    const work = does(async (ctx) => {
      await ctx.call(post, { text: 'a' })
      await ctx.interrupt()
      await ctx.call(post, { text: 'b' })
    })
    const story = open(work, { tools: [post], hooks: [runLimits({ toolCalls: 1 })] })
    await story.start()
    const error = await failure(story.answerOne('on'))
    expect(error).toMatchObject({
      code: 'run_limit_exceeded',
      details: { limit: 'toolCalls', allowed: 1 },
      message: 'Cannot call tool "post": the run has had 1 of 1 tool calls',
    })
    expect(posted).toEqual(['a'])
  })

  everyWay('of time count how long it ran, not how long it waited', async (open) => {
    const { posted, post, does } = desk()
    const clock = manualClock('2026-01-01T00:00:00Z')
    const takes = (ctx: Context, ms: number): Promise<unknown> =>
      ctx.once(`takes ${ms}`, () => clock.advance(ms))
    const work = does(async (ctx) => {
      await takes(ctx, 600)
      await ctx.interrupt('first')
      await takes(ctx, 399)
      await ctx.call(post, { text: 'at 999' })
      await ctx.interrupt('second')
      await takes(ctx, 1)
      await ctx.call(post, { text: 'at 1000' })
    })
    const story = open(work, { tools: [post], hooks: [runLimits({ time: 1000 })], clock })
    await story.start()
    await clock.advance(86_400_000)
    await story.answerOne('on')
    expect(posted).toEqual(['at 999'])
    await clock.advance(86_400_000)
    const error = await failure(story.answerOne('on'))
    expect(error.message).toBe('Cannot call tool "post": the run has had 1000 of 1000 ms')
    expect(posted).toEqual(['at 999'])
    // Neither is a node entered any more.
    expect((await failure(story.goOn())).message).toContain('Cannot enter node "work"')
  })
})
