// B29: waits are rows with an instant; the clock's driver only calls `tick`. What sleeps in process comes later.
import { compile, memory, type CompiledGraph, type Store } from 'heddle'
import { manualClock } from 'heddle/testing'
import { describe, expect, it } from 'vitest'
import { DAY, EIGHT, fresh, HOUR, sleeper } from './timers-parts.ts'
import { all, keepBooks, mulberry32, rowsOf, unevenStore } from './harness.ts'

keepBooks()

it('a wait of thirty days goes on when its instant has come, and not before', async () => {
  const clock = manualClock(new Date(EIGHT))
  const calls = fresh()
  const app = compile(sleeper(calls), { clock })
  await app.run({ thread: 't', input: { ms: 30 * DAY } })
  // No timer of this process: the wait is a row.
  expect(clock.pending).toBe(0)
  for (const ms of [1000, 2 ** 31 - 1000, 30 * DAY - 2 ** 31 - 1]) {
    await clock.advance(ms)
    expect((await app.tick()).woken).toEqual([])
  }
  expect(calls.entered).toEqual(['t'])
  await clock.advance(1)
  expect((await app.tick()).woken).toEqual(['t'])
  expect(calls).toEqual({ entered: ['t', 't'], woken: ['t'] })
  expect(clock.pending).toBe(0)
})

it('a driver that comes a millisecond early is told when to come again', async () => {
  const clock = manualClock(new Date(EIGHT))
  const calls = fresh()
  const store = memory()
  const app = compile(sleeper(calls), { clock, store })
  await app.run({ thread: 't', input: {} })
  clock.set(new Date(EIGHT + HOUR - 1))
  const rows = await rowsOf(store)
  for (let n = 0; n < 3; n++)
    expect(await app.tick()).toEqual({ woken: [], recovered: [], next: new Date(EIGHT + HOUR) })
  expect(calls.entered).toEqual(['t'])
  expect(await rowsOf(store)).toEqual(rows)
})

it('a clock that is set back waits for the instant, one that is set forward goes on once', async () => {
  const calls = fresh()
  const clock = manualClock(new Date(EIGHT))
  const app = compile(sleeper(calls), { clock })
  await app.run({ thread: 'back', input: {} })
  clock.set(new Date(EIGHT - 2 * HOUR))
  expect(await app.tick()).toEqual({ woken: [], recovered: [], next: new Date(EIGHT + HOUR) })
  clock.set(new Date(EIGHT + HOUR))
  expect((await app.tick()).woken).toEqual(['back'])

  await app.run({ thread: 'forward', input: { ms: 30 * DAY } })
  clock.set(new Date(EIGHT + 40 * DAY))
  expect((await app.tick()).woken).toEqual(['forward'])
  expect(await app.tick()).toEqual({ woken: [], recovered: [] })
  expect(calls.entered).toEqual(['back', 'back', 'forward', 'forward'])
})

it('what became due while nobody ran goes on once after a restart, earliest first', async () => {
  const clock = manualClock(new Date(EIGHT))
  const store = memory()
  const calls = fresh()
  const before = compile(sleeper(calls), { clock, store })
  const hours = { e: 5, b: 2, d: 4, a: 1, c: 3 }
  for (const [thread, n] of Object.entries(hours))
    await before.run({ thread, input: { ms: n * HOUR } })
  calls.entered = []

  clock.set(new Date(EIGHT + 3.5 * HOUR))
  const app = compile(sleeper(calls), { clock, store })
  expect(await app.tick()).toEqual({
    woken: ['a', 'b', 'c'],
    recovered: [],
    next: new Date(EIGHT + 4 * HOUR),
  })
  expect(calls.woken).toEqual(['a', 'b', 'c'])
  clock.set(new Date(EIGHT + DAY))
  expect(await app.tick({ limit: 1 })).toEqual({
    woken: ['d'],
    recovered: [],
    next: new Date(EIGHT + 5 * HOUR),
  })
  expect(await app.tick()).toEqual({ woken: ['e'], recovered: [] })
  expect(calls).toEqual({ entered: ['a', 'b', 'c', 'd', 'e'], woken: ['a', 'b', 'c', 'd', 'e'] })
  expect(await store.list({ prefix: 'd/', limit: 9 })).toEqual([])
})

it('more waits than a page of rows are all woken, in order', async () => {
  const clock = manualClock(new Date(EIGHT))
  const calls = fresh()
  const app = compile(sleeper(calls), { clock })
  const names = Array.from({ length: 230 }, (_, n) => `t${String(n).padStart(3, '0')}`)
  for (const [n, thread] of names.entries()) await app.run({ thread, input: { ms: HOUR + n } })
  clock.set(new Date(EIGHT + 2 * HOUR))
  const first = await app.tick()
  expect(first.woken).toEqual(names.slice(0, 100))
  expect(first.next).toEqual(new Date(EIGHT + HOUR + 100))
  expect((await app.tick({ limit: 1000 })).woken).toEqual(names.slice(100))
  expect(await app.tick()).toEqual({ woken: [], recovered: [] })
})

describe('two drivers at once', () => {
  const both = async (one: CompiledGraph, two: CompiledGraph): Promise<string[]> => {
    const ticked = await Promise.all([one.tick(), two.tick()])
    return ticked.flatMap(({ woken }) => woken)
  }

  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])('wake each wait once (seed %i)', async (seed) => {
    const clock = manualClock(new Date(EIGHT))
    const under = memory()
    const random = mulberry32(seed)
    const calls = fresh()
    const store = (): Store => (seed === 0 ? under : unevenStore(under, random))
    const one = compile(sleeper(calls), { clock, store: store() })
    const two = compile(sleeper(calls), { clock, store: store() })
    for (const thread of ['a', 'b', 'c']) await one.run({ thread, input: {} })
    clock.set(new Date(EIGHT + HOUR))
    const woken = await both(one, two)
    expect(woken.sort()).toEqual(['a', 'b', 'c'])
    expect(calls.woken.sort()).toEqual(['a', 'b', 'c'])
    expect(calls.entered).toHaveLength(6)
    for (const thread of ['a', 'b', 'c']) {
      expect((await one.state(thread))?.status).toBe('success')
      const runs = await all(one.runs(thread))
      expect(runs.map(({ status }) => status)).toEqual(['success', 'waiting'])
      const history = await all(one.history(thread))
      const parents = history.flatMap(({ parent }) => parent ?? [])
      expect(new Set(parents).size).toBe(parents.length)
    }
    expect(await under.list({ prefix: 'd/', limit: 9 })).toEqual([])
  })
})

it('the time that a driver gives counts, also against the clock', async () => {
  const clock = manualClock(new Date(EIGHT))
  const calls = fresh()
  const app = compile(sleeper(calls), { clock })
  await app.run({ thread: 't', input: {} })
  expect((await app.tick({ now: EIGHT + HOUR - 1 })).woken).toEqual([])
  expect((await app.tick({ now: EIGHT + HOUR })).woken).toEqual(['t'])
  expect(calls.woken).toEqual(['t'])
})
