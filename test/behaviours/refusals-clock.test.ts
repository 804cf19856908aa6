// Clocks and leases that lead to no instant: refused before a row is written.
import { compile, field, graph, memory } from 'heddle'
import { expect, it } from 'vitest'

import { failure, keepBooks, rowsOf } from './harness.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

const counting = graph({
  name: 'counting',
  state: { n: field(0) },
  nodes: { count: ({ n }) => ({ n: n + 1 }) },
  edges: { start: 'count', count: 'end' },
})

it.each([Number.NaN, Infinity, -Infinity, 3.7e15, -3.7e15, 1e300])(
  'a clock that says %s',
  async (now) => {
    const store = memory()
    const clock = { now: () => now, after: () => () => {} }
    const app = compile(counting, { store, clock, logger: silent })
    const error = await failure(app.run({ thread: 't', input: {} }))
    expect(error).toBeInstanceOf(RangeError)
    expect(error.message).toMatch(/^Cannot tell the time: the clock says /)
    expect(await rowsOf(store)).toEqual([])
  },
)

it('a clock that breaks later damages no thread', async () => {
  const store = memory()
  let now = Date.now()
  const clock = { now: () => now, after: () => () => {} }
  await compile(counting, { store, clock }).run({ thread: 't', input: {} })
  now = Number.NaN
  const app = compile(counting, { store, clock, logger: silent })
  expect(await failure(app.run({ thread: 't', input: {} }))).toBeInstanceOf(RangeError)
  now = Date.now()
  expect((await app.run({ thread: 't', input: {} })).state).toEqual({ n: 2 })
})

it('a clock at the last instant that it may say works', async () => {
  const clock = { now: () => 3.6e15, after: () => () => {} }
  const app = compile(counting, { clock, leaseMs: 2e12 })
  expect((await app.run({ thread: 't', input: {} })).state).toEqual({ n: 1 })
  expect(await app.state('t')).toMatchObject({ status: 'success', state: { n: 1 } })
})

it.each([Number.MAX_SAFE_INTEGER, 2e12 + 1, Infinity])('a lease of %s ms', (leaseMs) => {
  expect(() => compile(counting, { leaseMs })).toThrow(
    new RangeError(
      'Cannot compile graph "counting": leaseMs is not a whole number from 1 to 2000000000000',
    ),
  )
})
