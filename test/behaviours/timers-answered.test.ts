// B30.4 and what surrounds it: waits that are answered, keyed, repeated, or inside a child.
import { append, compile, field, graph, memory, reduced, type Graph } from 'heddle'
import { manualClock } from 'heddle/testing'
import { describe, expect, it } from 'vitest'
import { at, EIGHT, HOUR, timersOf, waiting, wakes } from './timers-parts.ts'
import { eachWay, keepBooks } from './harness.ts'

keepBooks()

describe('a wait that is answered', () => {
  eachWay('early goes on with the answer; its clock finds nothing to do', async (open) => {
    const clock = manualClock(new Date(EIGHT))
    const { calls, make } = waiting((ctx) => ctx.wait(at(ctx.now() + HOUR), 'recorded'))
    const story = open(make, { clock })
    const [timer] = (await story.start()).timers
    const id = timer?.id ?? ''
    expect(id).toMatch(/^tmr_[0-9a-f]{32}$/)
    // A bare answer is for questions.
    await story.refuses({ answer: 1 }, 'nothing_to_resume')
    const pass = await story.answer({ [id]: { early: true } })
    expect(pass.state).toEqual({ out: { early: true } })
    await story.refuses({ answers: { [id]: 'again' } }, 'nothing_to_resume')
    clock.set(new Date(EIGHT + HOUR))
    expect(await story.app.tick()).toEqual({ woken: [], recovered: [] })
    expect(calls.n).toBe(2)
    expect(wakes(story)).toHaveLength(1)
  })

  eachWay('after the clock woke it is refused', async (open) => {
    const clock = manualClock(new Date(EIGHT))
    const { calls, make } = waiting((ctx) => ctx.wait(at(ctx.now() + HOUR), 'recorded'))
    const story = open(make, { clock })
    const [timer] = (await story.start()).timers
    clock.set(new Date(EIGHT + HOUR))
    await story.app.tick()
    await story.refuses({ answers: { [timer?.id ?? '']: 'late' } }, 'nothing_to_resume')
    expect((await story.snapshot()).state).toEqual({ out: 'recorded' })
    expect(calls.n).toBe(2)
  })

  it('at the very moment the clock wakes it: one of them wins, the node is entered once more', async () => {
    for (let n = 0; n < 20; n++) {
      const clock = manualClock(new Date(EIGHT))
      const store = memory()
      const { calls, make } = waiting((ctx) => ctx.wait(at(ctx.now() + HOUR), 'recorded'))
      const [one, two] = [compile(make(), { clock, store }), compile(make(), { clock, store })]
      const outcome = await one.run({ thread: 't', input: {} })
      const id = outcome.status === 'waiting' ? (outcome.timers[0]?.id ?? '') : ''
      clock.set(new Date(EIGHT + HOUR))
      const ticking = one.tick()
      for (let turn = 0; turn < n; turn++) await Promise.resolve()
      const answered = await two.run({ thread: 't', answers: { [id]: 'answer' } }).then(
        () => undefined,
        (error: { code: string }) => error.code,
      )
      const { woken } = await ticking
      if (answered === undefined) expect(woken).toEqual([])
      else {
        expect(['resume_conflict', 'nothing_to_resume', 'thread_busy']).toContain(answered)
        expect(woken).toEqual(['t'])
      }
      expect((await one.state('t'))?.state).toEqual({
        out: answered === undefined ? 'answer' : 'recorded',
      })
      expect(calls.n).toBe(2)
    }
  })
})

eachWay('waits with keys are found by their keys, in whatever order they come', async (open) => {
  const clock = manualClock(new Date(EIGHT))
  const { calls, make } = waiting(async (ctx) => {
    const long = (): Promise<unknown> => ctx.wait(at(ctx.now() + 2 * HOUR), 'long', { key: 'long' })
    const short = (): Promise<unknown> => ctx.wait(at(ctx.now() + HOUR), 'short', { key: 'short' })
    if (calls.n % 2 === 1) return Promise.all([long(), short()])
    const [s, l] = await Promise.all([short(), long()])
    return [l, s]
  })
  const story = open(make, { clock })
  expect((await story.start()).timers).toHaveLength(2)
  clock.set(new Date(EIGHT + HOUR))
  const pass = await story.goOn()
  expect(timersOf(pass)).toEqual([at(EIGHT + 2 * HOUR)])
  clock.set(new Date(EIGHT + 2 * HOUR))
  expect((await story.goOn()).state).toEqual({ out: ['long', 'short'] })
  expect(wakes(story)).toHaveLength(2)
})

eachWay('a watch is a loop of the graph: each turn waits anew, with its cursor', async (open) => {
  const clock = manualClock(new Date(EIGHT))
  const make = (): Graph =>
    graph({
      name: 'watch',
      state: { seen: reduced(field<unknown[]>([]), append) },
      nodes: {
        async poll({ seen }, ctx) {
          return { seen: [await ctx.wait(at(ctx.now() + HOUR), { cursor: seen.length })] }
        },
      },
      edges: { start: 'poll', poll: ({ seen }) => (seen.length < 4 ? 'poll' : 'end') },
    })
  const story = open(make, { clock })
  expect((await story.start()).status).toBe('waiting')
  for (let hour = 1; hour <= 4; hour++) {
    clock.set(new Date(EIGHT + hour * HOUR))
    const { woken, next } = await story.app.tick()
    expect(woken).toEqual(['t1'])
    // The tick that made the next wait says when it is due.
    expect(next).toEqual(hour < 4 ? new Date(EIGHT + (hour + 1) * HOUR) : undefined)
  }
  expect(await story.snapshot()).toMatchObject({
    status: 'success',
    state: { seen: [{ cursor: 0 }, { cursor: 1 }, { cursor: 2 }, { cursor: 3 }] },
  })
})

eachWay(
  'a wait in a child graph is told by the node that runs it, and woken as any other',
  async (open) => {
    const clock = manualClock(new Date(EIGHT))
    const calls = { outer: 0, inner: 0 }
    const inner = (): Graph =>
      graph({
        name: 'inner',
        state: { y: field<unknown>(undefined) },
        nodes: {
          async deep(_, ctx) {
            calls.inner++
            return { y: await ctx.wait(at(ctx.now() + HOUR), 'deep') }
          },
        },
        edges: { start: 'deep', deep: 'end' },
      })
    const make = (): Graph =>
      graph({
        name: 'outer',
        state: { out: field<unknown>(undefined) },
        nodes: {
          async outer(_, ctx) {
            calls.outer++
            return { out: (await ctx.child(inner(), {}))['y'] }
          },
        },
        edges: { start: 'outer', outer: 'end' },
      })
    const story = open(make, { clock })
    const pass = await story.start()
    expect(pass.events.at(-1)).toMatchObject({ kind: 'wait', node: 'outer', ns: [] })
    clock.set(new Date(EIGHT + HOUR))
    expect(await story.app.tick()).toEqual({ woken: ['t1'], recovered: [] })
    expect((await story.snapshot()).state).toEqual({ out: 'deep' })
    expect(calls).toEqual({ outer: 2, inner: 2 })
  },
)
