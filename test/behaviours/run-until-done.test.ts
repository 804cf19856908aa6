import { expect, test } from 'vitest'
import { compile, field, graph, memory, type CompiledGraph } from 'heddle'
import { manualClock } from 'heddle/testing'
import { keepBooks } from './harness.ts'

keepBooks()

type App = CompiledGraph

const DAY = 86_400_000

const poll = graph({
  name: 'poll',
  state: { n: field<number>(0), asks: field<boolean>(false) },
  nodes: {
    look: async ({ n }, ctx) => {
      await ctx.sleep(20 * DAY)
      return { n: n + 1 }
    },
    ask: async (_, ctx) => ({ n: (await ctx.interrupt('n?')) as number }),
  },
  edges: {
    start: 'look',
    look: ({ n, asks }) => (n < 3 ? 'look' : asks ? 'ask' : 'end'),
    ask: 'end',
  },
})

/** Lets a clock go on, a day at a time, while something is under way. */
async function passing<Value>(
  clock: ReturnType<typeof manualClock>,
  work: Promise<Value>,
): Promise<Value> {
  let over = false
  void work.then(
    () => (over = true),
    () => (over = true),
  )
  while (!over) {
    await new Promise((resolve) => setTimeout(resolve, 1))
    await clock.advance(DAY)
  }
  return work
}

test('sleeps through waits of weeks, up to the end or to a question', async () => {
  const clock = manualClock('2026-01-01T00:00:00Z')
  const app = compile(poll, { clock }) as App
  const outcome = await passing(clock, app.runUntilDone({ thread: 't', input: {} }))
  expect(outcome).toMatchObject({ status: 'success', state: { n: 3 } })
  const asked = await passing(clock, app.runUntilDone({ thread: 'u', input: { asks: true } }))
  expect(asked).toMatchObject({ status: 'interrupted', timers: [] })
  const done = await passing(clock, app.runUntilDone({ thread: 'u', answer: 9 }))
  expect(done).toMatchObject({ status: 'success', state: { n: 9 } })
  expect(clock.pending).toBe(0)
})

test('goes on when somebody else wakes the thread, and comes to the same end', async () => {
  const clock = manualClock('2026-01-01T00:00:00Z')
  const store = memory()
  const app = compile(poll, { clock, store }) as App
  const ticker = compile(poll, { clock, store }) as App
  const work = app.runUntilDone({ thread: 't', input: {} })
  let over = false
  void work.then(() => (over = true))
  while (!over) {
    await new Promise((resolve) => setTimeout(resolve, 1))
    await clock.advance(DAY)
    await ticker.tick()
  }
  expect(await work).toMatchObject({ status: 'success', state: { n: 3 } })
})

test('a thread that waits already is taken up, and one that has ended is told', async () => {
  const clock = manualClock('2026-01-01T00:00:00Z')
  const store = memory()
  const waiting = await (compile(poll, { clock, store }) as App).run({ thread: 't', input: {} })
  expect(waiting.status).toBe('waiting')
  const app = compile(poll, { clock, store }) as App
  const outcome = await passing(clock, app.runUntilDone({ thread: 't' }))
  expect(outcome).toMatchObject({ status: 'success', state: { n: 3 } })
  expect(await app.runUntilDone({ thread: 't' })).toEqual(outcome)
  await expect(app.runUntilDone({ thread: 'none' })).rejects.toMatchObject({
    code: 'nothing_to_resume',
  })
})

test('an abort ends the sleep with its reason, and the thread still waits', async () => {
  const clock = manualClock('2026-01-01T00:00:00Z')
  const app = compile(poll, { clock }) as App
  const control = new AbortController()
  const work = app.runUntilDone({ thread: 't', input: {}, signal: control.signal })
  while ((await app.state('t'))?.status !== 'waiting')
    await new Promise((resolve) => setTimeout(resolve, 1))
  await new Promise((resolve) => setTimeout(resolve, 20))
  const reason = new Error('enough')
  control.abort(reason)
  await expect(work).rejects.toBe(reason)
  expect((await app.state('t'))?.status).toBe('waiting')
  expect(clock.pending).toBe(0)
})
