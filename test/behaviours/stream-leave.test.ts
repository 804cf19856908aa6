// B23: the reader leaves early. Its HTTP part (4) comes with the HTTP issue, its tools and models with theirs.
import { compile, field, graph, isHeddleError, memory, type StreamEvent } from 'heddle'
import { describe, expect, it } from 'vitest'
import { timedFailure } from './abort-idle.ts'
import { gate } from '../fakes/gate.ts'
import { five } from './stream-parts.ts'
import { after, all, countedSignal, countingClock, failure, keepBooks } from './harness.ts'

keepBooks()

describe('leaving the loop', () => {
  it.each([
    ['n1', 'node_end'],
    ['n2', 'node_start'],
  ])(
    'at %s, %s: stops what runs, keeps what is finished, and the thread can go on',
    async (node, kind) => {
      const calls: Record<string, number> = {}
      const signals: AbortSignal[] = []
      const store = memory()
      const clock = countingClock()
      const app = compile(five(calls, signals), { store, clock })
      const caller = countedSignal()
      const live = app.stream({ thread: 't', input: {}, signal: caller.signal })
      for await (const event of live)
        if ('node' in event && event.node === node && event.kind === kind) break
      const { error, ms } = await timedFailure(live.outcome)
      expect(ms).toBeLessThan(1000)
      expect(isHeddleError(error, 'cancelled')).toBe(true)
      if (kind === 'node_start') expect(signals).toHaveLength(2)
      for (const signal of signals.slice(1)) expect(signal.reason).toBe(error)
      expect(calls['n1']).toBe(1)
      expect(calls['n2'] ?? 0).toBeLessThanOrEqual(1)
      expect(calls['n3']).toBeUndefined()
      expect(caller.listeners()).toBe(0)
      expect(clock.live()).toBe(0)
      const left = await app.state('t')
      expect(left).toMatchObject({ status: 'cancelled', state: { at: 'n1' }, next: ['n2'] })
      expect((await all(app.runs('t'))).map(({ status }) => status)).toEqual(['cancelled'])
      const before = calls['n2'] ?? 0

      // Another process goes on.
      const ended = await compile(five(calls, signals), { store, clock }).run({ thread: 't' })
      expect(ended).toMatchObject({ status: 'success', state: { at: 'n5' } })
      expect(calls).toEqual({ n1: 1, n2: before + 1, n3: 1, n4: 1, n5: 1 })
    },
  )

  it('by throwing does the same, and the thrown error is what the caller gets', async () => {
    const calls: Record<string, number> = {}
    const app = compile(five(calls, []), { clock: countingClock() })
    const mine = new Error('mine')
    const live = app.stream({ thread: 't', input: {} })
    const loop = (async () => {
      for await (const event of live) if (event.kind === 'node_end') throw mine
    })()
    expect(await failure(loop)).toBe(mine)
    expect(await failure(live.outcome)).toMatchObject({ code: 'cancelled' })
    expect((await app.state('t'))?.status).toBe('cancelled')
    expect(calls['n3']).toBeUndefined()
  })

  it('never waits for a pending next(), nor for a node that is busy for long', async () => {
    const app = compile(five({}, [], 10_000), { clock: countingClock() })
    const live = app.stream({ thread: 't', input: {} })
    const reader = live[Symbol.asyncIterator]()
    await reader.next()
    const pending = reader.next()
    const began = performance.now()
    expect(await reader.return?.()).toEqual({ value: undefined, done: true })
    expect(performance.now() - began).toBeLessThan(1000)
    expect(await pending).toEqual({ value: undefined, done: true })
    expect(await reader.next()).toEqual({ value: undefined, done: true })
    expect(await failure(live.outcome)).toMatchObject({ code: 'cancelled' })
  })

  it('does not wait for a node that ignores its signal, and discards what comes of it', async () => {
    const held = gate()
    const started = gate()
    const late: unknown[] = []
    const events: StreamEvent[] = []
    const calls = { slow: 0, next: 0 }
    const app = compile(
      graph({
        name: 'deaf',
        state: { n: field<number>(0) },
        events: field<string>(),
        nodes: {
          async slow(_, ctx) {
            if (++calls.slow > 1) return { n: 1 }
            started.open()
            await held.promise
            late.push(await ctx.emit('late'))
            // Nobody can hear of these; they never settle.
            void ctx.once('x', () => 'x').then((value) => late.push(value))
            void ctx.interrupt('late').then((value) => late.push(value))
            return { n: 99 }
          },
          next: () => void calls.next++,
        },
        edges: { start: 'slow', slow: 'next', next: 'end' },
      }),
      { clock: countingClock() },
    )
    const live = app.stream({ thread: 't', input: {} })
    await started.promise
    const began = performance.now()
    for await (const event of live) {
      events.push(event)
      break
    }
    expect(performance.now() - began).toBeLessThan(1000)
    expect(await failure(live.outcome)).toMatchObject({ code: 'cancelled' })
    const before = await app.state('t')
    held.open()
    await after(20)
    expect(late).toEqual([undefined])
    expect(events.map(({ kind }) => kind)).toEqual(['node_start'])
    expect(await app.state('t')).toEqual(before)
    expect(before).toMatchObject({ status: 'cancelled', state: { n: 0 }, interruptions: [] })
    expect(calls).toEqual({ slow: 1, next: 0 })
    expect(await app.run({ thread: 't' })).toMatchObject({ status: 'success', state: { n: 1 } })
    expect(calls).toEqual({ slow: 2, next: 1 })
  })

  it('after the last event stops nothing: the run has ended', async () => {
    const app = compile(five({}, [], 1), { clock: countingClock() })
    const live = app.stream({ thread: 't', input: {} })
    for await (const event of live) if (event.kind === 'done') break
    expect(await live.outcome).toMatchObject({ status: 'success' })
    expect((await app.state('t'))?.status).toBe('success')
  })

  it('of a run that has failed, unread, changes nothing and rejects nothing', async () => {
    const broken = new Error('broken')
    const app = compile(
      graph({
        name: 'broken',
        state: {},
        nodes: {
          n: () => {
            throw broken
          },
        },
        edges: { start: 'n', n: 'end' },
      }),
    )
    const live = app.stream({ thread: 't', input: {} })
    expect(await failure(live.outcome)).toBe(broken)
    const reader = live[Symbol.asyncIterator]()
    expect(await reader.return?.()).toEqual({ value: undefined, done: true })
    expect(await reader.next()).toEqual({ value: undefined, done: true })
    expect((await app.state('t'))?.status).toBe('error')
  })

  it('while the run is being claimed leaves no thread that runs', async () => {
    for (let turns = 0; turns < 40; turns++) {
      const app = compile(five({}, [], 1), { clock: countingClock() })
      const live = app.stream({ thread: 't', input: {} })
      const reader = live[Symbol.asyncIterator]()
      for (let turn = 0; turn < turns; turn++) await Promise.resolve()
      await reader.return?.()
      await live.outcome.catch(() => {})
      const left = await app.state('t')
      expect([undefined, 'cancelled', 'success']).toContain(left?.status)
      const ended = await app
        .run(left ? { thread: 't' } : { thread: 't', input: {} })
        .catch((error: unknown) => error)
      if (left?.status === 'success') expect(ended).toMatchObject({ code: 'nothing_to_resume' })
      else expect(ended).toMatchObject({ status: 'success', state: { at: 'n5' } })
    }
  })
})
