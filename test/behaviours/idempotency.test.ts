import { expect, test } from 'vitest'
import {
  compile,
  field,
  graph,
  isHeddleError,
  memory,
  type CompiledGraph,
  type Store,
} from 'heddle'
import { Crash, manualClock, withFaults } from 'heddle/testing'
import { all, keepBooks } from './harness.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

type App = CompiledGraph

function counted() {
  const calls = { a: 0, ask: 0, fail: 0 }
  const declared = graph({
    name: 'counted',
    state: { n: field<number>(0), how: field<string>('') },
    nodes: {
      a: async ({ n }) => {
        calls.a++
        await new Promise((resolve) => setTimeout(resolve, 5))
        return { n: n + 1 }
      },
      ask: async (_, ctx) => {
        calls.ask++
        return { n: (await ctx.interrupt('n?')) as number }
      },
      fail: () => {
        calls.fail++
        throw Object.assign(new Error('broken'), { code: 'odd' })
      },
    },
    edges: {
      start: 'a',
      a: ({ how }) => (how === 'ask' ? 'ask' : how === 'fail' ? 'fail' : 'end'),
      ask: 'end',
      fail: 'end',
    },
  })
  return { calls, declared }
}

const other = (store: Store): Store => withFaults(store)

test('two at once start one run, in one process and in two', async () => {
  for (const split of [false, true]) {
    const { calls, declared } = counted()
    const store = memory()
    const one = compile(declared, { store }) as App
    const two = split ? (compile(declared, { store: other(store) }) as App) : one
    const request = { thread: 't', input: {}, idempotencyKey: 'k' }
    const both = [one, two].map((app) => app.stream(request))
    const [first, second] = await Promise.all(both.map((run) => run.outcome))
    expect(second).toEqual(first)
    expect(await both[0]!.id).toBe(await both[1]!.id)
    const [told, again] = await Promise.all(both.map((run) => all(run)))
    expect(again).toEqual(told)
    expect(calls.a).toBe(1)
    // Long afterwards as well, and after other runs.
    await one.run({ thread: 't', input: {} })
    expect(await two.run(request)).toEqual(first)
    expect(calls.a).toBe(2)
    expect(await all(one.runs('t'))).toHaveLength(2)
  }
})

test('another key, or another thread, is another run', async () => {
  const { calls, declared } = counted()
  const app = compile(declared) as App
  for (const thread of ['t', 'u'])
    for (const idempotencyKey of ['k', 'k/2', '', '__proto__'])
      await app.run({ thread, input: {}, idempotencyKey })
  expect(calls.a).toBe(8)
})

test('a run that waits is told with what it waited for, before and after the answer', async () => {
  const { calls, declared } = counted()
  const app = compile(declared) as App
  const request = { thread: 't', input: { how: 'ask' }, idempotencyKey: 'k' }
  const first = await app.run(request)
  expect(first.status).toBe('interrupted')
  expect(await app.run(request)).toEqual(first)
  const answered = { thread: 't', answer: 7, idempotencyKey: 'answer' }
  const last = await app.run(answered)
  expect(last.state.n).toBe(7)
  expect(await app.run(answered)).toEqual(last)
  expect(await app.run(request)).toEqual(first)
  expect(calls).toEqual({ a: 1, ask: 2, fail: 0 })
})

test('a run that failed or was cancelled fails again in the same way, without running', async () => {
  const { calls, declared } = counted()
  const app = compile(declared) as App
  const request = { thread: 't', input: { how: 'fail' }, idempotencyKey: 'k' }
  for (let i = 0; i < 2; i++) {
    const error = await app.run(request).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ name: 'Error', message: 'broken', code: 'odd' })
  }
  expect(calls.fail).toBe(1)
  const asks = { thread: 'u', input: { how: 'ask' }, idempotencyKey: 'k' }
  await app.run(asks)
  await app.run({ thread: 'u', answer: 1, idempotencyKey: 'k2' })
  await app.run({ thread: 'v', input: { how: 'ask' } })
  await app.cancel('v')
  const error = await app.run({ thread: 'w', input: {}, stepLimit: 1 } as never).catch((e) => e)
  expect(error).toBeInstanceOf(TypeError)
})

test('a run that died is recovered by the next who asks for it, and told whole', async () => {
  const { calls, declared } = counted()
  const clock = manualClock('2026-01-01T00:00:00Z')
  const data = memory()
  const request = { thread: 't', input: {}, idempotencyKey: 'k' }
  let crashed = 0
  for (let k = 1; ; k++) {
    const thread = `t${k}`
    calls.a = 0
    const store = withFaults(data, [{ at: k, crash: 'after' }])
    const app = compile(declared, { store, clock, logger: silent }) as App
    const error = await app.run({ ...request, thread }).catch((thrown: unknown) => thrown)
    if (!(error instanceof Crash)) break
    crashed++
    await clock.advance(60_001)
    const next = compile(declared, { store: data, clock }) as App
    const run = next.stream({ ...request, thread })
    const outcome = await run.outcome
    expect(outcome).toMatchObject({ status: 'success', state: { n: 1 } })
    const kinds = (await all(run)).map(({ kind }) => kind)
    expect(kinds.at(-1)).toBe('done')
    expect(kinds.filter((kind) => kind === 'step')).toHaveLength(1)
    expect(calls.a).toBeLessThan(3)
    expect(await next.run({ ...request, thread })).toMatchObject({ status: 'success' })
  }
  expect(crashed).toBeGreaterThan(3)
})

test('a key that is no text is refused', async () => {
  const app = compile(counted().declared) as App
  const error = await app
    .run({ thread: 't', input: {}, idempotencyKey: 5 as never })
    .catch((e) => e)
  expect(error).toBeInstanceOf(TypeError)
  expect(isHeddleError(error)).toBe(false)
  expect(await app.state('t')).toBeUndefined()
})
