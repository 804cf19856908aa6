import { budget, runAfter, runBefore } from 'heddle'
import { describe, expect, it, vi } from 'vitest'
import { failure } from '../behaviours/harness.ts'
import { stage } from './parts.ts'
import { keepBooks } from '../behaviours/books.ts'

keepBooks()

const prices = { 'p/m': { input: 1, output: 1 } }

describe('a budget', () => {
  it.each([
    ['tokens', { tokens: 100 }, { tokens: 99 }, { tokens: 100 }],
    ['calls', { calls: 3 }, { toolCalls: 1, modelCalls: 1 }, { toolCalls: 1, modelCalls: 2 }],
    ['cost', { cost: 0.5 }, { cost: 0.49 }, { cost: 0.75 }],
  ] as const)('of %s lets calls pass until it is used up', async (limit, limits, less, enough) => {
    const hooks = [budget(limits)]
    const below = stage({ run: less, prices })
    expect(await runBefore(hooks, 'beforeTool', below.tool)).toBeUndefined()
    expect(await runBefore(hooks, 'beforeLlm', below.llm)).toBeUndefined()
    expect(below.lines).toEqual([])
    const { tool, llm } = stage({ run: enough, prices })
    const allowed = Object.values(limits)[0]
    for (const [method, inv] of [
      ['beforeTool', tool],
      ['beforeLlm', llm],
    ] as const) {
      expect(await failure(runBefore(hooks, method, inv))).toMatchObject({
        code: 'budget_exceeded',
        details: { limit, allowed, used: { tokens: 100, calls: 3, cost: 0.75 }[limit] },
      })
    }
  })

  it('of no calls lets none pass', async () => {
    const { tool } = stage()
    const error = await failure(runBefore([budget({ calls: 0 })], 'beforeTool', tool))
    expect(error.message).toBe('Cannot call tool "send": the run has used 0 of 0 calls')
  })

  it('of a thread counts what earlier runs have used', async () => {
    const { tool } = stage({ run: { toolCalls: 1 }, thread: { toolCalls: 9 } })
    expect(await runBefore([budget({ calls: 5 })], 'beforeTool', tool)).toBeUndefined()
    const error = await failure(
      runBefore([budget({ calls: 5, per: 'thread' })], 'beforeTool', tool),
    )
    expect(error.message).toBe('Cannot call tool "send": the thread has used 9 of 5 calls')
  })

  it('does not count a figure that nobody reported', async () => {
    const { llm } = stage({ run: { modelCalls: 50 }, prices })
    expect(await runBefore([budget({ tokens: 1, cost: 0.01 })], 'beforeLlm', llm)).toBeUndefined()
  })

  it('of cost is a mistake without prices, in shadow mode too', async () => {
    for (const shadow of [true, false]) {
      const { tool } = stage({ run: { cost: 0 } })
      const error = await failure(runBefore([budget({ cost: 1, shadow })], 'beforeTool', tool))
      expect(error).toBeInstanceOf(TypeError)
      expect(error.message).toContain('prices')
    }
  })

  it('of cost asks no model that has no price; in shadow mode it says so, and keeps to the rest', async () => {
    const others = { 'p/other': { input: 1, output: 1 } }
    const { llm, tool, lines } = stage({ run: { cost: 0 }, prices: others })
    const error = await failure(runBefore([budget({ cost: 1 })], 'beforeLlm', llm))
    expect(error).toBeInstanceOf(TypeError)
    expect(error.message).toBe(
      'Cannot keep to a budget of cost: the app was given no price of "p/m"',
    )
    expect(await runBefore([budget({ cost: 1 })], 'beforeTool', tool)).toBeUndefined()
    lines.length = 0
    const shadow = stage({ run: { cost: 3 }, prices: others })
    const hooks = [budget({ cost: 1, shadow: true })]
    expect(await runBefore(hooks, 'beforeLlm', shadow.llm)).toBeUndefined()
    const about = { kind: 'policy', shadow: true, policy: 'budget', provider: 'p', model: 'm' }
    const per = { per: 'run', limit: 'cost' }
    expect(shadow.reports).toEqual([
      { ...about, ...per, outcome: 'no_price', price: 'p/m' },
      { ...about, ...per, outcome: 'budget_exceeded', used: 3, allowed: 1 },
    ])
  })

  it('of cost says what was spent in words', async () => {
    const { llm } = stage({ run: { cost: 0.000208 }, prices })
    const error = await failure(runBefore([budget({ cost: 0.0002 })], 'beforeLlm', llm))
    expect(error.message).toBe(
      'Cannot ask model "p/m": the run has cost 0.000208, and may cost 0.0002',
    )
  })

  it('logs what it stops, once, and the hook that threw only at debug', async () => {
    const { tool, lines, reports } = stage({ run: { toolCalls: 2 } })
    await failure(runBefore([budget({ calls: 2 })], 'beforeTool', tool))
    const data = { policy: 'budget', outcome: 'budget_exceeded', tool: 'send', call: 'call_1' }
    expect(lines.filter(([level]) => level !== 'debug')).toEqual([
      [
        'warn',
        'Policy "budget" stopped a call of a tool',
        { ...data, per: 'run', limit: 'calls', used: 2, allowed: 2 },
      ],
    ])
    expect(JSON.stringify(lines)).not.toContain('ann')
    expect(reports).toEqual([])
  })

  it('in shadow mode stops nothing, and says of every limit what it would have done', async () => {
    const { llm, lines, reports } = stage({ run: { modelCalls: 4, tokens: 90 } })
    const hooks = [budget({ calls: 4, tokens: 50, shadow: true })]
    expect(await runBefore(hooks, 'beforeLlm', llm)).toBeUndefined()
    const about = {
      policy: 'budget',
      outcome: 'budget_exceeded',
      provider: 'p',
      model: 'm',
      per: 'run',
    }
    const told = [
      { ...about, limit: 'tokens', used: 90, allowed: 50 },
      { ...about, limit: 'calls', used: 4, allowed: 4 },
    ]
    const message = 'Policy "budget" would have stopped a request to a model'
    expect(lines).toEqual(told.map((data) => ['warn', message, data]))
    expect(reports).toEqual(told.map((data) => ({ kind: 'policy', shadow: true, ...data })))
  })

  it('can not be kept by whoever has counted nothing', async () => {
    const logged = vi.spyOn(console, 'error').mockReturnValue()
    const inv = { ...stage().tool, ctx: {} as never }
    const error = await failure(runBefore([budget({ calls: 1 })], 'beforeTool', inv))
    expect(error).toMatchObject({ code: 'tool_usage_error' })
    expect(logged).toHaveBeenCalledOnce()
    logged.mockRestore()
  })

  it('has nothing to say of what came of a call', async () => {
    const { tool } = stage({ run: { toolCalls: 9 } })
    expect(await runAfter([budget({ calls: 1 })], 'afterTool', tool, 'sent')).toBe('sent')
  })

  it.each([
    [{}, TypeError, 'it has none of tokens, calls, cost'],
    [{ per: 'thread' }, TypeError, 'it has none of tokens, calls, cost'],
    [{ tokens: 0 }, RangeError, 'tokens is not a whole number from 1 on'],
    [{ tokens: 1.5 }, RangeError, 'tokens is not a whole number from 1 on'],
    [{ calls: -1 }, RangeError, 'calls is not a whole number from 0 on'],
    [{ calls: Number.NaN }, RangeError, 'calls is not a whole number from 0 on'],
    [{ cost: 0 }, RangeError, 'cost is not a number above 0'],
    [{ cost: '1' }, RangeError, 'cost is not a number above 0'],
    [{ calls: 1, per: 'day' }, TypeError, 'per is not "run" or "thread"'],
    [{ calls: 1, shadow: 'yes' }, TypeError, 'shadow is not true or false'],
    [{ call: 1 }, TypeError, '"call" is not known here'],
    [undefined, TypeError, 'what is given is undefined'],
  ])('is not made of %j', (limits, kind, why) => {
    const make = (): unknown => budget(limits as never)
    expect(make).toThrow(kind)
    expect(make).toThrow(`Cannot make a budget: ${why}`)
  })
})
