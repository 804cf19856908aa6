// B29 with several drivers on one store: no wait is woken twice, none is lost, whatever each is told to do at most.
import { compile, field, graph, memory, type CompiledGraph, type Graph } from 'heddle'
import { manualClock } from 'heddle/testing'
import { describe, expect, it } from 'vitest'

import { all, keepBooks, mulberry32, SEEDS, shuffled, unevenStore } from './harness.ts'
import { gate, LEASE, processAt, turns } from './leases-parts.ts'
import { DAY, EIGHT, fresh, HOUR, sleeper } from './timers-parts.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

const THREADS = ['a', 'b', 'c', 'd', 'e', 'f']

/** One round of two drivers with limits on a store that takes its time. */
async function race(seed: number): Promise<void> {
  const random = mulberry32(seed)
  const under = memory()
  const clock = manualClock(new Date(EIGHT))
  const calls = fresh()
  const make = (): CompiledGraph =>
    compile(sleeper(calls), { clock, store: unevenStore(under, random), logger: silent })
  for (const [n, thread] of shuffled(random, THREADS).entries())
    await compile(sleeper(calls), { clock, store: under }).run({ thread, input: { ms: HOUR + n } })
  calls.entered = []
  clock.set(new Date(EIGHT + 2 * HOUR))
  const woken: string[] = []
  const drive = async (app: CompiledGraph): Promise<void> => {
    for (;;) {
      const { woken: own, next } = await app.tick({ limit: 1 + Math.floor(random() * 3) })
      woken.push(...own)
      if (next === undefined) return
    }
  }
  await Promise.all([drive(make()), drive(make())])
  expect(woken.sort(), `seed ${seed}`).toEqual(THREADS)
  expect(calls.woken.sort()).toEqual(THREADS)
  expect(calls.entered.sort()).toEqual(THREADS)
  const app = compile(sleeper(calls), { clock, store: under })
  for (const thread of THREADS) {
    const runs = await all(app.runs(thread))
    expect(runs.map(({ status }) => status)).toEqual(['success', 'waiting'])
  }
  expect(await under.list({ prefix: 'd/', limit: 9 })).toEqual([])
}

// All at once: they mostly wait.
it('two drivers with limits wake each wait once, in fifty rounds', async () => {
  await Promise.all(SEEDS.map(race))
})

/** Waits, and then works for as long as a test wants. */
const worker = (work: () => Promise<void>, entered: string[]): Graph =>
  graph({
    name: 'worker',
    state: { out: field<string>('') },
    nodes: {
      async n(_, ctx) {
        await ctx.sleep(HOUR)
        entered.push(ctx.thread)
        await work()
        return { out: 'done' }
      },
    },
    edges: { start: 'n', n: 'end' },
  })

describe('what one driver has woken', () => {
  it('is no other’s while it works, however long that is', async () => {
    const store = memory()
    const held = gate()
    const entered: string[] = []
    const make = (): Graph => worker(() => held.passed, entered)
    await processAt(EIGHT, make, store).app.run({ thread: 't', input: {} })
    const one = processAt(EIGHT + HOUR, make, store)
    const ticking = one.app.tick()
    for (let n = 1; n <= 20; n++) {
      await one.clock.advance(LEASE / 2)
      const two = processAt(EIGHT + HOUR + (n * LEASE) / 2, make, store)
      expect(await two.app.tick()).toMatchObject({ woken: [], recovered: [] })
    }
    held.open()
    expect((await ticking).woken).toEqual(['t'])
    expect(entered).toEqual(['t'])
    expect(one.clock.pending).toBe(0)
  })

  it('is recovered once when that driver has died, by whichever comes first', async () => {
    const store = memory()
    const entered: string[] = []
    const make = (): Graph =>
      worker(() => (entered.length > 1 ? Promise.resolve() : new Promise(() => {})), entered)
    await processAt(EIGHT, make, store).app.run({ thread: 't', input: {} })
    const dead = processAt(EIGHT + HOUR, make, store)
    void dead.app.tick()
    await turns()
    dead.kill()
    const late = EIGHT + HOUR + LEASE
    expect((await processAt(late - 1, make, store).app.tick()).next).toEqual(new Date(late))
    const ticked = await Promise.all([1, 2, 3].map(() => processAt(late, make, store).app.tick()))
    expect(ticked.flatMap(({ recovered }) => recovered)).toEqual(['t'])
    expect(entered).toEqual(['t', 't'])
    expect(await store.list({ prefix: 'd/', limit: 9 })).toEqual([])
  })
})

it('a wait of sixty days outlives its processes, and ends at its instant', async () => {
  const store = memory()
  const calls = fresh()
  const make = (): Graph => sleeper(calls)
  const first = processAt(EIGHT, make, store)
  await first.app.run({ thread: 't', input: { ms: 60 * DAY } })
  expect(first.clock.pending).toBe(0)
  for (let day = 1; day < 60; day++) {
    const { app } = processAt(EIGHT + day * DAY, make, store)
    expect(await app.tick()).toEqual({
      woken: [],
      recovered: [],
      next: new Date(EIGHT + 60 * DAY),
    })
  }
  const { app } = processAt(EIGHT + 60 * DAY, make, store)
  expect(await app.tick()).toEqual({ woken: ['t'], recovered: [] })
  expect(calls).toEqual({ entered: ['t', 't'], woken: ['t'] })
  expect((await app.state('t'))?.state).toMatchObject({
    out: new Date(EIGHT + 60 * DAY).toISOString(),
  })
})
