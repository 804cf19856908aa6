// A cancel or a delete of a run that another process has: its owner hears of it while a node takes its time, and one that
// is faster at every try is left word.
import { append, compile, field, graph, memory, reduced, type Graph, type Store } from 'heddle'
import { manualClock } from 'heddle/testing'
import { describe, expect, it } from 'vitest'

import { all, failure, keepBooks, rowsOf } from './harness.ts'
import { gate, LEASE, line, processAt, turns } from './leases-parts.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

const START = Date.parse('2026-03-01T08:00:00Z')

/** Steps that each wait until they are let through. */
function stepping(most = 1000) {
  let step = gate()
  let taken = 0
  const make = (): Graph =>
    graph({
      name: 'stepping',
      state: { log: reduced(field<number[]>([]), append) },
      nodes: {
        async work({ log }) {
          await step.passed
          taken++
          return { log: [log.length] }
        },
      },
      edges: { start: 'work', work: ({ log }) => (log.length < most ? 'work' : 'end') },
    })
  return {
    make,
    taken: () => taken,
    /** Lets one step end, and its commit land. */
    async next(): Promise<void> {
      const { open } = step
      step = gate()
      open()
      await turns()
    },
  }
}

/** The store as a process sees it that is slower than the owner: before each of its commits under a check a step ends. */
function outrun(store: Store, next: () => Promise<void>): Store {
  return {
    ...store,
    async commit(batch) {
      if (batch.checks?.length) await next()
      return store.commit(batch)
    },
  }
}

/** Whether nobody has left word that a run is to stop. */
const noWord = async (store: Store): Promise<boolean> =>
  (await rowsOf(store)).every(({ key }) => key !== 'h/~e.t/q')

describe.each(['step', 'exit'] as const)(
  'a run inside a long node (durability %s)',
  (durability) => {
    it('is cancelled at once, and its owner hears of it at half of its lease', async () => {
      const store = memory()
      let reason: unknown
      const { make } = line(async ({ signal }) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        reason = signal.reason
      })
      const owner = processAt(START, make, store, { durability })
      const live = owner.app.stream({ thread: 't', input: {} })
      const reading = failure(all(live))
      await turns()
      const other = processAt(START, make, store)
      await other.app.cancel('t', 'not needed')
      expect(await other.app.state('t')).toMatchObject({ status: 'cancelled' })
      const rows = await rowsOf(store)

      await owner.clock.advance(LEASE / 2)
      const error = await reading
      expect(error).toMatchObject({ code: 'cancelled' })
      expect(await failure(live.outcome)).toBe(error)
      await turns()
      expect(reason).toBe(error)
      expect(owner.clock.pending).toBe(0)
      expect(await rowsOf(store)).toEqual(rows)
      const [run] = await all(other.app.runs('t'))
      expect(run).toMatchObject({ status: 'cancelled', error: { code: 'cancelled' } })
      expect(rows.filter(({ key }) => key.startsWith('d/'))).toEqual([])
    })

    it('is deleted at once, whatever its owner still brings', async () => {
      const store = memory()
      const held = gate()
      const { make } = line(() => held.passed)
      const owner = processAt(START, make, store, { durability })
      const failed = failure(owner.app.run({ thread: 't', input: {} }))
      await turns()
      await processAt(START, make, store).app.delete('t')
      expect(await rowsOf(store)).toEqual([])
      held.open()
      expect(await failed).toMatchObject({ code: 'cancelled', details: { reason: 'deleted' } })
      expect(await rowsOf(store)).toEqual([])
      expect(owner.clock.pending).toBe(0)
    })

    it('hears of a delete also when the thread has been started anew', async () => {
      const store = memory()
      const held = gate()
      const { make } = line((_, entry) => (entry === 1 ? held.passed : undefined))
      const owner = processAt(START, make, store, { durability })
      const failed = failure(owner.app.run({ thread: 't', input: {} }))
      await turns()
      const other = processAt(START, make, store, { durability })
      await other.app.delete('t')
      await other.app.run({ thread: 't', input: {} })
      const rows = await rowsOf(store)
      await owner.clock.advance(LEASE)
      expect(await failed).toMatchObject({ code: 'cancelled' })
      held.open()
      await turns()
      expect(await rowsOf(store)).toEqual(rows)
    })
  },
)

describe('an owner that is faster at every try', () => {
  it('reads at half of its lease that it is to stop, and its run is recorded as cancelled', async () => {
    const store = memory()
    const { make, next, taken } = stepping()
    const owner = processAt(START, make, store)
    const failed = failure(owner.app.run({ thread: 't', input: {} }))
    await turns()
    const clock = manualClock(new Date(START))
    const app = compile(make(), { store: outrun(store, next), clock, logger: silent })
    const cancelling = app.cancel('t', 'too long')
    while (await noWord(store)) await turns()
    expect(taken()).toBeGreaterThanOrEqual(3)
    await owner.clock.advance(LEASE / 2)
    expect(await failed).toMatchObject({ code: 'cancelled', details: { reason: 'too long' } })
    await cancelling
    const { status, state } = (await app.state('t')) ?? {}
    expect(status).toBe('cancelled')
    // What had ended is kept.
    expect((state as { log: number[] }).log).toHaveLength(taken())
    const runs = await all(app.runs('t'))
    expect(runs.map((run) => run.status)).toEqual(['cancelled'])
    const keys = (await rowsOf(store)).map(({ key }) => key)
    expect(keys.filter((key) => key.startsWith('d/') || key.endsWith('/q'))).toEqual([])
    expect(owner.clock.pending).toBe(0)
  })

  it('is stopped for a delete too, which leaves no row', async () => {
    const store = memory()
    const { make, next } = stepping()
    const owner = processAt(START, make, store)
    const failed = failure(owner.app.run({ thread: 't', input: {} }))
    await turns()
    const clock = manualClock(new Date(START))
    const app = compile(make(), { store: outrun(store, next), clock, logger: silent })
    const deleting = app.delete('t')
    while (await noWord(store)) await turns()
    await owner.clock.advance(LEASE / 2)
    expect(await failed).toMatchObject({ code: 'cancelled', details: { reason: 'deleted' } })
    await deleting
    expect(await rowsOf(store)).toEqual([])
  })

  it('that never reads it is given up when its lease should have ended, and no word is left', async () => {
    const store = memory()
    const { make, next } = stepping()
    const leaseMs = 500
    const owner = processAt(START, make, store, { leaseMs })
    const failed = failure(owner.app.run({ thread: 't', input: {} }))
    await turns()
    const clock = manualClock(new Date(START))
    const app = compile(make(), { store: outrun(store, next), clock, leaseMs, logger: silent })
    expect(await failure(app.cancel('t'))).toMatchObject({ code: 'thread_busy' })
    expect(await app.state('t')).toMatchObject({ status: 'running' })
    expect(await noWord(store)).toBe(true)
    await compile(make(), { store, clock, logger: silent }).cancel('t')
    await next()
    expect(await failed).toMatchObject({ code: 'cancelled' })
  })
})

describe('a canceller that dies after it has left word', () => {
  /** Leaves word for the run that has the thread, and is gone. */
  async function leaveWord(make: () => Graph, store: Store, next: () => Promise<void>) {
    const slow = outrun(store, next)
    const canceller = processAt(START, make, {
      ...slow,
      async commit(batch) {
        const revision = await slow.commit(batch)
        if (batch.puts?.some(({ key }) => key.endsWith('/q'))) canceller.kill()
        return revision
      },
    })
    void canceller.app.cancel('t', 'going down')
    while (await noWord(store)) await turns()
  }

  it('has not done so in vain', async () => {
    const store = memory()
    const { make, next } = stepping()
    const owner = processAt(START, make, store)
    const failed = failure(owner.app.run({ thread: 't', input: {} }))
    await turns()
    await leaveWord(make, store, next)
    await owner.clock.advance(LEASE / 2)
    expect(await failed).toMatchObject({ code: 'cancelled', details: { reason: 'going down' } })
    const app = compile(make(), { store, logger: silent })
    expect(await app.state('t')).toMatchObject({ status: 'cancelled' })
    expect(await noWord(store)).toBe(true)
  })

  it('stops no other run with it, and what is left goes with the thread', async () => {
    const store = memory()
    const { make, next } = stepping(5)
    const { app, clock } = processAt(START, make, store)
    const first = app.run({ thread: 't', input: {} })
    await turns()
    await leaveWord(make, store, next)
    for (let n = 0; n < 5; n++) await next()
    expect((await first).status).toBe('success')
    expect(await noWord(store)).toBe(false)

    const second = app.run({ thread: 't', input: {} })
    await clock.advance(3 * LEASE)
    expect(await app.state('t')).toMatchObject({ status: 'running' })
    await next()
    expect((await second).status).toBe('success')
    await app.delete('t')
    expect(await rowsOf(store)).toEqual([])
  })
})
