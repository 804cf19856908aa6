import { afterEach, expect, test, vi } from 'vitest'
import { manualClock } from '../../adapters/testing.ts'

afterEach(() => void vi.useRealTimers())

test('stands still until it is moved', async () => {
  const clock = manualClock()
  expect(new Date(clock.now()).toISOString()).toBe('2026-03-01T08:00:00.000Z')
  await new Promise((resolve) => setTimeout(resolve, 5))
  expect(clock.now()).toBe(Date.parse('2026-03-01T08:00:00Z'))
  await clock.advance(90_000)
  expect(new Date(clock.now()).toISOString()).toBe('2026-03-01T08:01:30.000Z')
})

test('starts when told', () => {
  expect(manualClock(new Date(5)).now()).toBe(5)
  expect(manualClock('1970-01-01T00:00:01+00:00').now()).toBe(1000)
})

test('calls back what became due in order of time, then of arrival', async () => {
  const clock = manualClock(new Date(0))
  const calls: [string, number][] = []
  const note = (name: string) => () => void calls.push([name, clock.now()])
  clock.after(30, note('c'))
  clock.after(10, note('a'))
  clock.after(30, note('d'))
  clock.after(20, note('b'))
  clock.after(31, note('later'))
  await clock.advance(30)
  expect(calls).toEqual([
    ['a', 10],
    ['b', 20],
    ['c', 30],
    ['d', 30],
  ])
  expect(clock.pending).toBe(1)
})

test('calls back what callbacks and their promises ask for on the way', async () => {
  const clock = manualClock(new Date(0))
  const at: number[] = []
  async function watch(): Promise<void> {
    for (let n = 0; n < 5; n++) {
      await new Promise<void>((resolve) => void clock.after(10, resolve))
      await chain(20)
      at.push(clock.now())
    }
  }
  const watching = watch()
  await clock.advance(35)
  expect(at).toEqual([10, 20, 30])
  await clock.advance(15)
  await watching
  expect({ at, pending: clock.pending }).toEqual({ at: [10, 20, 30, 40, 50], pending: 0 })
})

test('waits for what is under way before it moves', async () => {
  const clock = manualClock(new Date(0))
  let called = false
  void chain(50).then(() => clock.after(10, () => void (called = true)))
  await clock.advance(10)
  expect(called).toBe(true)
})

test('resolves when what it set off has settled, turns of the event loop included', async () => {
  const clock = manualClock()
  let settled = false
  clock.after(5, () => void turns(4).then(() => (settled = true)))
  await clock.advance(5)
  expect(settled).toBe(true)
})

test('moves while a test has replaced the timers of the platform', async () => {
  vi.useFakeTimers()
  const clock = manualClock()
  let called = false
  clock.after(5, () => void (called = true))
  await clock.advance(5)
  expect(called).toBe(true)
})

test('never calls back what was cancelled, also by one that is due at the same time', async () => {
  const clock = manualClock()
  const calls: string[] = []
  clock.after(1, () => void calls.push('early'))()
  clock.after(5, () => {
    calls.push('first')
    cancel()
  })
  const cancel = clock.after(5, () => void calls.push('second'))
  await clock.advance(10)
  cancel()
  expect({ calls, pending: clock.pending }).toEqual({ calls: ['first'], pending: 0 })
})

test('`set` moves either way, calls nothing back and shortens no wait', async () => {
  const clock = manualClock('2026-03-01T08:00:00Z')
  const at: string[] = []
  clock.after(1000, () => void at.push(new Date(clock.now()).toISOString()))
  clock.set('2026-03-05T08:00:00Z')
  await turns(20)
  expect({ at, pending: clock.pending }).toEqual({ at: [], pending: 1 })
  clock.set(new Date('2026-03-01T07:00:00Z'))
  await clock.advance(999)
  expect(at).toEqual([])
  await clock.advance(1)
  expect(at).toEqual(['2026-03-01T07:00:01.000Z'])
})

test('moves that overlap add up', async () => {
  const clock = manualClock(new Date(0))
  const at: number[] = []
  for (const ms of [10, 20, 30]) clock.after(ms, () => void at.push(clock.now()))
  await Promise.all([clock.advance(15), clock.advance(15)])
  expect({ at, now: clock.now() }).toEqual({ at: [10, 20, 30], now: 30 })
})

test('a wait of nothing, or less, ends with the next move', async () => {
  const clock = manualClock()
  const calls: number[] = []
  clock.after(0, () => void calls.push(0))
  clock.after(-5, () => void calls.push(-5))
  clock.after(2 ** 31 + 5, () => void calls.push(31))
  await clock.advance(0)
  expect(calls).toEqual([0, -5])
  await clock.advance(2 ** 31 + 5)
  expect(calls).toEqual([0, -5, 31])
})

test('an error of a callback comes out of the move; the rest waits for the next', async () => {
  const clock = manualClock()
  let called = false
  clock.after(1, () => {
    throw new Error('boom')
  })
  clock.after(1, () => void (called = true))
  await expect(clock.advance(5)).rejects.toThrow('boom')
  await clock.advance(5)
  expect({ called, pending: clock.pending }).toEqual({ called: true, pending: 0 })
})

test('refuses times that are none', () => {
  expect(() => manualClock('tomorrow')).toThrow('Cannot set the clock to "tomorrow": it is no date')
  expect(() => manualClock().set('')).toThrow(RangeError)
  expect(() => manualClock().advance(-1)).toThrow(
    'Cannot advance the clock by -1 ms: time only goes on',
  )
  expect(() => manualClock().advance(Number.NaN)).toThrow(RangeError)
})

async function chain(length: number): Promise<void> {
  for (let n = 0; n < length; n++) await undefined
}

async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await new Promise((resolve) => setImmediate(resolve))
}
