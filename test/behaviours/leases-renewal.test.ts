// A run keeps its thread for as long as it lives: the lease is renewed while a node takes its time.
import { compile, memory, type Durability, type Store } from 'heddle'
import { manualClock, withFaults } from 'heddle/testing'
import { describe, expect, it } from 'vitest'

import { all, failure, keepBooks } from './harness.ts'
import { gate, LEASE, line, processAt, turns } from './leases-parts.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

const START = Date.parse('2026-03-01T08:00:00Z')
const WAYS: readonly Durability[] = ['step', 'exit']
const LOG = ['first', 'second 1', 'last']

const leases = async (store: Store): Promise<string[]> =>
  (await store.list({ prefix: 'd/', limit: 9 })).map(({ key }) => key.split('/').at(-1) ?? '')

describe.each(WAYS)('a node longer than the lease (durability %s)', (durability) => {
  it('is entered once: nobody can take the thread, and one row says when that ends', async () => {
    const store = memory()
    const held = gate()
    const { make, entered } = line(() => held.passed)
    const clock = manualClock(new Date(START))
    const options = { store, clock, leaseMs: LEASE, logger: silent, durability }
    const running = compile(make(), options).run({ thread: 't', input: {} })
    for (let n = 0; n < 50; n++) {
      await clock.advance(LEASE / 10)
      const other = compile(make(), options)
      expect((await other.tick()).recovered).toEqual([])
      expect(await failure(other.run({ thread: 't' }))).toMatchObject({ code: 'thread_busy' })
      expect(await leases(store)).toEqual(['lease'])
    }
    expect(clock.pending).toBe(1)
    held.open()
    expect((await running).state).toEqual({ log: LOG })
    expect(entered).toEqual(['first', 'second', 'last'])
    expect(clock.pending).toBe(0)
    expect(await leases(store)).toEqual([])
  })

  it('costs two commits a lease, and a run that is over before costs none', async () => {
    const count = async (halves: number): Promise<number> => {
      const store = withFaults(memory())
      const held = gate()
      const clock = manualClock(new Date(START))
      const { make } = line(() => held.passed)
      const app = compile(make(), { store, clock, leaseMs: LEASE, durability })
      const running = app.run({ thread: 't', input: {} })
      await clock.advance((halves * LEASE) / 2)
      held.open()
      await running
      return store.log.filter(({ op }) => op === 'commit').length
    }
    const steps = durability === 'step' ? 5 : 2
    expect(await count(0)).toBe(steps)
    expect(await count(1)).toBe(steps + 1)
    expect(await count(6)).toBe(steps + 6)
  })

  it('may sleep past its lease with its machine: if nobody took it, it goes on', async () => {
    const store = memory()
    const held = gate()
    const { make } = line(() => held.passed)
    const clock = manualClock(new Date(START))
    const app = compile(make(), { store, clock, leaseMs: LEASE, durability })
    const running = app.run({ thread: 't', input: {} })
    await turns()
    clock.set(new Date(START + 100 * LEASE))
    await clock.advance(LEASE / 2)
    const other = compile(make(), { store, clock, leaseMs: LEASE, durability })
    expect((await other.tick()).recovered).toEqual([])
    held.open()
    expect((await running).status).toBe('success')
    expect(clock.pending).toBe(0)
  })

  it('loses a thread that was taken while it stood still, and hears of it on its next renewal', async () => {
    const store = memory()
    let reason: unknown
    const { make, entered } = line(async ({ signal }, entry) => {
      if (entry > 1) return
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      reason = signal.reason
    })
    const frozen = processAt(START, make, store, { durability })
    const live = frozen.app.stream({ thread: 't', input: {} })
    const reading = failure(all(live))
    await turns()
    const other = processAt(START + LEASE, make, store, { durability })
    expect((await other.app.tick()).recovered).toEqual(['t'])
    const before = await other.app.state('t')
    expect(before).toMatchObject({ status: 'success' })
    expect(reason).toBeUndefined()

    await frozen.clock.advance(LEASE / 2)
    const error = await reading
    expect(error).toMatchObject({ code: 'lease_lost', details: { thread: 't' } })
    expect(reason).toBe(error)
    expect(await failure(live.outcome)).toBe(error)
    expect(frozen.clock.pending + other.clock.pending).toBe(0)
    await turns()
    // What it brought late changed nothing.
    expect(await other.app.state('t')).toEqual(before)
    expect(entered.filter((name) => name === 'last')).toHaveLength(1)
    expect((await all(other.app.runs('t'))).map(({ status }) => status)).toContain('success')
  })

  it('fails with its store, is recorded, and goes on', async () => {
    const gone = new Error('The disk is gone')
    const under = memory()
    let broken = false
    const store: Store = {
      ...under,
      async get(keys) {
        if (broken) throw gone
        return under.get(keys)
      },
      async commit(batch) {
        if (broken) throw gone
        return under.commit(batch)
      },
    }
    const { make, entered } = line(async ({ signal }, entry) => {
      if (entry > 1) return
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      broken = false
    })
    const clock = manualClock(new Date(START))
    const app = compile(make(), { store, clock, leaseMs: LEASE, durability, logger: silent })
    const running = failure(app.run({ thread: 't', input: {} }))
    await turns()
    broken = true
    await clock.advance(LEASE / 2)
    expect(await running).toBe(gone)
    expect(clock.pending).toBe(0)
    // The first step is kept, stored or on hold.
    expect(await app.state('t')).toMatchObject({ status: 'error', state: { log: ['first'] } })
    expect((await app.run({ thread: 't' })).state).toEqual({ log: ['first', 'second 2', 'last'] })
    expect(entered).toEqual(['first', 'second', 'second', 'last'])
    expect(await leases(under)).toEqual([])
  })

  it('is renewed also when the reply to that is lost', async () => {
    const under = memory()
    const held = gate()
    const { make } = line(() => held.passed)
    const before = durability === 'step' ? 4 : 2
    const store = withFaults(under, [{ at: before + 1, lose: 'reply' }])
    const clock = manualClock(new Date(START))
    const app = compile(make(), { store, clock, leaseMs: LEASE, durability, logger: silent })
    const running = app.run({ thread: 't', input: {} })
    await turns()
    expect(store.log).toHaveLength(before)
    await clock.advance(LEASE)
    held.open()
    expect((await running).state).toEqual({ log: LOG })
    expect(await leases(under)).toEqual([])
  })

  it('is renewed as time passes when the clock is set back, which others are not', async () => {
    const store = memory()
    const held = gate()
    const { make, entered } = line(() => held.passed)
    const { app, clock } = processAt(START, make, store, { durability })
    const running = app.run({ thread: 't', input: {} })
    await turns()
    clock.set(new Date(START - 48 * 3_600_000))
    for (let n = 1; n <= 8; n++) {
      await clock.advance(LEASE / 2)
      const other = processAt(START + (n * LEASE) / 2, make, store, { durability })
      expect((await other.app.tick()).recovered).toEqual([])
    }
    held.open()
    expect((await running).status).toBe('success')
    expect(entered).toEqual(['first', 'second', 'last'])
    expect(clock.pending).toBe(0)
  })
})

it('a commit that came first has renewed the lease: the timer waits anew', async () => {
  const store = withFaults(memory())
  const clock = manualClock(new Date(START))
  const [early, late] = [gate(), gate()]
  const { make } = line(async (ctx) => {
    await early.passed
    await ctx.once('part', () => 1)
    await late.passed
  })
  const app = compile(make(), { store, clock, leaseMs: LEASE })
  const running = app.run({ thread: 't', input: {} })
  await turns()
  // The timer is late, as on a busy machine.
  clock.set(new Date(START + 0.6 * LEASE))
  early.open()
  await turns()
  const { length } = store.log
  await clock.advance(LEASE / 2)
  expect(store.log.slice(length).map(({ op }) => op)).toEqual(['get'])
  await clock.advance(1)
  expect(store.log.slice(length).map(({ op }) => op)).toEqual(['get', 'commit', 'get'])
  late.open()
  expect((await running).status).toBe('success')
  expect(clock.pending).toBe(0)
})

it('what is renewed with steps on hold is what was stored: a crash then repeats the run', async () => {
  const store = memory()
  const { make, entered } = line((_, entry) => (entry > 1 ? undefined : new Promise(() => {})))
  const first = processAt(START, make, store, { durability: 'exit' })
  void first.app.run({ thread: 't', input: {} })
  await first.clock.advance(3 * LEASE)
  expect(await first.app.state('t')).toMatchObject({ status: 'running', state: { log: [] } })
  first.kill()
  const second = processAt(START + 5 * LEASE, make, store, { durability: 'exit' })
  expect((await second.app.tick()).recovered).toEqual(['t'])
  expect(entered).toEqual(['first', 'second', 'first', 'second', 'last'])
  expect((await second.app.state('t'))?.state).toEqual({ log: ['first', 'second 2', 'last'] })
})

it('a renewal that lands after the thread was taken changes nothing', async () => {
  const under = memory()
  const { make } = line((_, entry) => (entry > 1 ? undefined : new Promise(() => {})))
  // The claim, the start, the first step, then the renewal.
  const store = withFaults(under, [{ at: 5, freeze: true }])
  const frozen = processAt(START, make, store)
  const failed = failure(frozen.app.run({ thread: 't', input: {} }))
  await frozen.clock.advance(LEASE / 2)
  expect(store.log).toHaveLength(5)
  const other = processAt(START + 2 * LEASE, make, under)
  expect((await other.app.tick()).recovered).toEqual(['t'])
  const before = await other.app.state('t')
  store.release()
  expect(await failed).toMatchObject({ code: 'lease_lost' })
  expect(await other.app.state('t')).toEqual(before)
  expect(await leases(under)).toEqual([])
  expect(frozen.clock.pending).toBe(0)
})
