import { addUsage, compile, graph, type TokenUsage } from 'heddle'
import { expect, it } from 'vitest'
import { costOf, countIn, usageOf, type Figures } from '../../src/usage.ts'

it('adds figure by figure, and leaves out what neither has', () => {
  const sum = addUsage({ input: 3, output: 2, reasoning: 1 }, { input: 4, cost: 0.5 })
  expect(sum).toEqual({ input: 7, output: 2, reasoning: 1, cost: 0.5, total: 9 })
  expect(addUsage({}, {})).toEqual({})
  expect(addUsage({ input: 0 }, {})).toEqual({ input: 0, total: 0 })
})

it('takes a total as it was reported, else what its parts come to', () => {
  expect(addUsage({ input: 3, output: 2 }, { input: 1, output: 1, total: 10 }).total).toBe(15)
  expect(addUsage({ output: 2 }, {}).total).toBe(2)
  expect(addUsage({ total: 4 }, { cacheRead: 2 })).toEqual({ total: 4, cacheRead: 2 })
})

it('changes neither', () => {
  const [a, b] = [Object.freeze({ input: 1 }), Object.freeze({ input: 2, output: 3 })]
  expect(addUsage(a, b)).toEqual({ input: 3, output: 3, total: 6 })
  expect([a, b]).toEqual([{ input: 1 }, { input: 2, output: 3 }])
})

it.each([Number.NaN, Infinity, -1, '12', null, undefined])(
  'a figure that a model gives as %s was not reported',
  (amount) => {
    const odd = { input: amount, total: amount, cost: amount } as unknown as TokenUsage
    expect(addUsage(odd, { input: 2 })).toEqual({ input: 2, total: 2 })
    expect(addUsage({ output: 5, total: amount } as TokenUsage, {})).toEqual({
      output: 5,
      total: 5,
    })
  },
)

it('is stored by position and read as it was, whatever of it is there', () => {
  const whole = { input: 1, output: 2, total: 3, cacheRead: 4, cacheWrite: 5, reasoning: 6 }
  for (const usage of [{ ...whole, requests: 7, cost: 0.25 }, { cost: 2 }, { requests: 1 }, {}]) {
    const figures: Figures = [9, 9]
    countIn(figures, usage, 2)
    const stored = JSON.parse(JSON.stringify(figures)) as Figures
    expect(usageOf(stored, 2)).toEqual(usage)
    expect(stored.slice(0, 2)).toEqual([9, 9])
  }
})

it('costs by the price of its model: cached tokens by theirs, or by that of others', () => {
  const usage = { input: 1_000_000, output: 500_000, cacheRead: 400_000, cacheWrite: 100_000 }
  const prices = {
    'a/plain': { input: 2, output: 8 },
    'a/cached': { input: 2, output: 8, cacheRead: 0.5, cacheWrite: 4 },
  }
  expect(costOf(usage, 'a/plain', prices)).toBeCloseTo(6)
  expect(costOf(usage, 'a/cached', prices)).toBeCloseTo(1 + 0.2 + 0.4 + 4)
  expect(costOf({ requests: 1 }, 'a/plain', prices)).toBeUndefined()
  expect(costOf(usage, 'a/other', prices)).toBeUndefined()
  expect(costOf(usage, 'toString', prices)).toBeUndefined()
  expect(costOf(usage, 'a/plain', undefined)).toBeUndefined()
})

it('prices that make no sense are refused as an app is made, by the model they are of', () => {
  const g = graph({
    name: 'g',
    state: {},
    nodes: { n: () => ({}) },
    edges: { start: 'n', n: 'end' },
  })
  const price = { input: 1, output: 0 }
  for (const [wrong, why] of [
    [{ input: 1 }, 'output is not a number from 0 on'],
    [{ output: 1 }, 'input is not a number from 0 on'],
    [{ ...price, input: undefined }, 'input is not a number from 0 on'],
    [{ ...price, output: '2' }, 'output is not a number from 0 on'],
    [{ ...price, input: -1 }, 'input is not a number from 0 on'],
    [{ ...price, cacheRead: Number.NaN }, 'cacheRead is not a number from 0 on'],
    [{ ...price, cached: 1 }, '"cached" is not known here'],
    [5, 'input is not a number from 0 on'],
    [null, 'input is not a number from 0 on'],
  ] as const) {
    const make = (): unknown => compile(g, { prices: { 'a/b': price, 'a/c': wrong } as never })
    expect(make).toThrow(`Cannot compile graph "g" with the price of "a/c": ${why}`)
  }
  expect(() =>
    compile(g, { prices: { 'a/b': price, 'a/c': { ...price, cacheWrite: 2 } } }),
  ).not.toThrow()
})
