// B30: the wake time is recorded once. `runUntilDone` comes with its issue.
import { append, field, graph, reduced, type Graph } from 'heddle'
import { manualClock } from 'heddle/testing'
import { expect } from 'vitest'
import { at, EIGHT, HOUR, timersOf, waiting, wakes } from './timers-parts.ts'
import { eachWay, keepBooks } from './harness.ts'

keepBooks()

eachWay(
  'a wait is over at the instant of its first call, whatever it is given later',
  async (open) => {
    const clock = manualClock(new Date(EIGHT))
    const { calls, make } = waiting(async (ctx) => {
      const payload = await ctx.wait(at(ctx.now() + HOUR), { cursor: calls.n })
      return { t: at(ctx.now()), payload }
    })
    const story = open(make, { clock })
    const pass = await story.start()
    expect(pass.status).toBe('waiting')
    expect(timersOf(pass)).toEqual(['2026-03-01T09:00:00.000Z'])
    expect(pass.events.at(-1)).toMatchObject({
      kind: 'wait',
      node: 'n',
      wakeAt: '2026-03-01T09:00:00.000Z',
      payload: { cursor: 1 },
    })
    expect(await story.snapshot()).toMatchObject({
      status: 'waiting',
      timers: [{ node: 'n', wakeAt: '2026-03-01T09:00:00.000Z', payload: { cursor: 1 } }],
    })

    clock.set('2026-03-01T08:59:59.999Z')
    expect(await story.app.tick()).toEqual({
      woken: [],
      recovered: [],
      next: new Date('2026-03-01T09:00:00.000Z'),
    })
    expect(calls.n).toBe(1)
    await story.refuses({}, 'nothing_to_resume')

    clock.set('2026-03-01T09:00:00.000Z')
    expect(await story.app.tick()).toEqual({ woken: ['t1'], recovered: [] })
    expect(await story.snapshot()).toMatchObject({
      status: 'success',
      // The payload that was recorded, not the one of the second call.
      state: { out: { t: '2026-03-01T09:00:00.000Z', payload: { cursor: 1 } } },
      timers: [],
    })
    expect(calls.n).toBe(2)
    expect(wakes(story)).toHaveLength(1)
    expect(await story.app.tick()).toEqual({ woken: [], recovered: [] })
  },
)

eachWay('a wait that is due is also over when the thread is told to go on', async (open) => {
  const clock = manualClock(new Date(EIGHT))
  const { calls, make } = waiting(async (ctx) => {
    await ctx.wait(new Date(ctx.now() + HOUR))
    return at(ctx.now())
  })
  const story = open(make, { clock })
  await story.start()
  clock.set(new Date(EIGHT + HOUR))
  expect((await story.goOn()).state).toEqual({ out: '2026-03-01T09:00:00.000Z' })
  expect(calls.n).toBe(2)
})

eachWay('a sleep counts from its first call', async (open) => {
  const clock = manualClock(new Date(EIGHT))
  const { calls, make } = waiting(async (ctx) => {
    await ctx.sleep(HOUR)
    return at(ctx.now())
  })
  const story = open(make, { clock })
  expect(timersOf(await story.start())).toEqual([at(EIGHT + HOUR)])
  clock.set(new Date(EIGHT + 1.5 * HOUR))
  await story.app.tick()
  expect((await story.snapshot()).state).toEqual({ out: at(EIGHT + 1.5 * HOUR) })
  expect(calls.n).toBe(2)
})

eachWay('a wait, a question and a wait in one node are three pauses of their own', async (open) => {
  const clock = manualClock(new Date(EIGHT))
  const { calls, make } = waiting(async (ctx) => {
    const first = await ctx.wait(at(ctx.now() + HOUR), 'first')
    const answer = await ctx.interrupt('how long?')
    const second = await ctx.wait(at(ctx.now() + Number(answer)), 'second')
    return [first, answer, second]
  })
  const story = open(make, { clock })
  expect(timersOf(await story.start())).toEqual([at(EIGHT + HOUR)])
  clock.set(new Date(EIGHT + HOUR))
  const asked = await story.goOn()
  expect(asked.status).toBe('interrupted')
  expect(asked.timers).toEqual([])
  const waits = await story.answerOne(2 * HOUR)
  expect(waits.status).toBe('waiting')
  expect(timersOf(waits)).toEqual([at(EIGHT + 3 * HOUR)])
  clock.set(new Date(EIGHT + 3 * HOUR))
  expect((await story.goOn()).state).toEqual({ out: ['first', 2 * HOUR, 'second'] })
  expect(calls.n).toBe(4)
  expect(wakes(story)).toEqual([at(EIGHT + HOUR), at(EIGHT + 3 * HOUR)])
})

eachWay(
  'of two nodes that wait the first alone goes on, and the second keeps its time',
  async (open) => {
    const clock = manualClock(new Date(EIGHT))
    const calls = { a: 0, b: 0, z: 0 }
    const make = (): Graph =>
      graph({
        name: 'two',
        state: { log: reduced(field<string[]>([]), append) },
        nodes: {
          async a(_, ctx) {
            calls.a++
            await ctx.wait(at(ctx.now() + HOUR))
            return { log: ['a'] }
          },
          async b(_, ctx) {
            calls.b++
            await ctx.wait(at(ctx.now() + 2 * HOUR))
            return { log: ['b'] }
          },
          z: { run: () => void calls.z++, after: ['a', 'b'] },
        },
        edges: { start: ['a', 'b'], a: 'z', b: 'z', z: 'end' },
      })
    const story = open(make, { clock })
    const pass = await story.start()
    expect(timersOf(pass).sort()).toEqual([at(EIGHT + HOUR), at(EIGHT + 2 * HOUR)])
    const second = pass.timers.find(({ wakeAt }) => wakeAt === at(EIGHT + 2 * HOUR))

    clock.set(new Date(EIGHT + HOUR))
    expect(await story.app.tick()).toMatchObject({
      woken: ['t1'],
      next: new Date(EIGHT + 2 * HOUR),
    })
    expect(calls).toEqual({ a: 2, b: 1, z: 0 })
    expect((await story.snapshot()).timers).toEqual([second])

    clock.set(new Date(EIGHT + 2 * HOUR))
    expect(await story.app.tick()).toEqual({ woken: ['t1'], recovered: [] })
    expect(calls).toEqual({ a: 2, b: 2, z: 1 })
    expect((await story.snapshot()).state).toEqual({ log: ['a', 'b'] })
  },
)
