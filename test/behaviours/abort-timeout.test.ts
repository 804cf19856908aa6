// B25.5: the timeout of a node.
import { compile, field, graph } from 'heddle'
import { manualClock } from 'heddle/testing'
import { describe, expect, it } from 'vitest'
import { idle, timedFailure } from './abort-idle.ts'
import { gate } from '../fakes/gate.ts'
import { starts, tried } from './abort-tried.ts'
import { after, all, countingClock, keepBooks } from './harness.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

describe('the timeout of a node', () => {
  it('aborts that node with a TimeoutError; neither the run nor its caller is aborted', async () => {
    const controller = new AbortController()
    let own: AbortSignal | undefined
    let sibling: AbortSignal | undefined
    const app = compile(
      graph({
        name: 'timeouts',
        state: { x: field<number>(0) },
        nodes: {
          slow: {
            async run(_, ctx) {
              if (own) return { x: 1 }
              own = ctx.signal
              await idle(10_000, ctx.signal)
            },
            timeout: 30,
            retry: { attempts: 2, delay: 1 },
          },
          async sibling(_, ctx) {
            sibling = ctx.signal
            await after(80)
          },
        },
        edges: { start: ['slow', 'sibling'], slow: 'end', sibling: 'end' },
      }),
      { clock: countingClock(), logger: silent },
    )
    expect(await app.run({ thread: 't', input: {}, signal: controller.signal })).toMatchObject({
      status: 'success',
      state: { x: 1 },
    })
    expect(own?.reason).toMatchObject({ name: 'TimeoutError' })
    expect(sibling?.aborted).toBe(false)
    expect(controller.signal.aborted).toBe(false)
  })

  it('without a retry fails the run at once, with the siblings aborted by it', async () => {
    let sibling: AbortSignal | undefined
    let own: AbortSignal | undefined
    const held = gate()
    const app = compile(
      graph({
        name: 'timeouts',
        state: { x: field<number>(0) },
        nodes: {
          deaf: {
            async run(_, ctx) {
              own = ctx.signal
              await held.promise
              return { x: 99 }
            },
            timeout: 30,
          },
          async sibling(_, ctx) {
            sibling = ctx.signal
            await idle(10_000, ctx.signal)
          },
        },
        edges: { start: ['deaf', 'sibling'], deaf: 'end', sibling: 'end' },
      }),
      { clock: countingClock(), logger: silent },
    )
    const { error, ms } = await timedFailure(app.run({ thread: 't', input: {} }))
    expect(error).toMatchObject({
      name: 'TimeoutError',
      message: 'Node "deaf" took longer than 30 ms',
    })
    expect(ms).toBeLessThan(1000)
    expect(own?.reason).toBe(error)
    expect(sibling?.reason).toBe(error)
    held.open()
    await after(10)
    expect(await app.state('t')).toMatchObject({
      status: 'error',
      state: { x: 0 },
      error: { name: 'TimeoutError' },
    })
  })

  it('counts for each attempt, and what an attempt brings after its timeout is discarded', async () => {
    const clock = manualClock()
    const signals: AbortSignal[] = []
    const seen: string[] = []
    const held = [gate(), gate(), gate()]
    const { make, calls } = tried(
      async (attempt, ctx) => {
        signals.push(ctx.signal)
        await held[attempt - 1]?.promise
        // Deaf to its signal. Of the attempts that are over nobody hears.
        void ctx.emit(`emit ${attempt}`)
        void ctx.once('k', () => seen.push(`once ${attempt}`))
        if (attempt < 3) void ctx.interrupt(`ask ${attempt}`)
        return { x: attempt }
      },
      { timeout: 30, retry: { attempts: 3, delay: 100, factor: 1, jitter: 0 } },
    )
    const app = compile(make(), { clock, logger: silent })
    const live = app.stream({ thread: 't', input: {} })
    await clock.advance(30)
    expect(signals[0]?.reason).toMatchObject({ name: 'TimeoutError' })
    // The first attempt returns while the second is still to come.
    held[0]?.open()
    await clock.advance(50)
    expect(calls.n).toBe(1)
    await clock.advance(50)
    expect(calls.n).toBe(2)
    expect(signals[1]?.aborted).toBe(false)
    await clock.advance(130)
    expect(calls.n).toBe(3)
    expect(signals[1]?.reason).toMatchObject({ name: 'TimeoutError' })
    // The second returns while the third runs.
    held[1]?.open()
    await clock.advance(5)
    held[2]?.open()
    expect(await live.outcome).toMatchObject({ status: 'success', state: { x: 3 } })
    expect(seen).toEqual(['once 3'])
    const events = await all(live)
    expect(starts(events)).toEqual([1, 2, 3])
    expect(events.flatMap((event) => (event.kind === 'backend' ? [event.data] : []))).toEqual([
      'emit 3',
    ])
    expect(clock.pending).toBe(0)
  })

  it('leaves its attempt a signal that is aborted, also when it is first looked at later', async () => {
    const seen: AbortSignal[] = []
    const late = gate()
    const { make } = tried(
      async (attempt, ctx) => {
        if (attempt === 1) {
          await after(60)
          seen.push(ctx.signal)
          late.open()
        } else {
          seen.push(ctx.signal)
          await late.promise
          return { x: seen.map(({ aborted }) => aborted) }
        }
      },
      { timeout: 40, retry: { attempts: 2, delay: 1 } },
    )
    const app = compile(make(), { clock: countingClock(), logger: silent })
    expect(await app.run({ thread: 't', input: {} })).toMatchObject({ state: { x: [false, true] } })
  })

  it('of an attempt that hung in once leaves the next attempt free to do it, and to pause', async () => {
    const held = gate()
    const work: number[] = []
    const { make } = tried(
      async (attempt, ctx) => {
        const x: unknown = await ctx.once('work', async () => {
          work.push(attempt)
          if (attempt === 1) await held.promise
          return attempt
        })
        return { x: [x, await ctx.interrupt('sure?')] }
      },
      { timeout: 200, retry: { attempts: 2, delay: 1 } },
    )
    const app = compile(make(), { clock: countingClock(), logger: silent })
    expect(await app.run({ thread: 't', input: {} })).toMatchObject({ status: 'interrupted' })
    held.open()
    await after(5)
    expect(await app.run({ thread: 't', answer: 'yes' })).toMatchObject({
      status: 'success',
      state: { x: [2, 'yes'] },
    })
    expect(work).toEqual([1, 2])
  })

  it('stops the child graph of the attempt: it takes no further step, and the next attempt goes on with it', async () => {
    const held = gate()
    const entered: string[] = []
    const inner = graph({
      name: 'inner',
      state: { y: field<string>('') },
      nodes: {
        one: () => void entered.push('one'),
        async two() {
          entered.push('two')
          if (entered.length === 2) await held.promise
          return { y: 'two' }
        },
        three: () => void entered.push('three'),
      },
      edges: { start: 'one', one: 'two', two: 'three', three: 'end' },
    })
    const timedOut = gate()
    const { make } = tried(
      async (_, ctx) => {
        ctx.signal.addEventListener('abort', () => timedOut.open())
        return { x: (await ctx.child(inner, {})).y }
      },
      { timeout: 150, retry: { attempts: 2, delay: 60 } },
    )
    const app = compile(make(), { clock: countingClock(), logger: silent })
    const live = app.stream({ thread: 't', input: {} })
    await timedOut.promise
    held.open()
    expect(await live.outcome).toMatchObject({ status: 'success', state: { x: 'two' } })
    expect(entered).toEqual(['one', 'two', 'two', 'three'])
  })

  it('also ends a node that waits for an answer but still has work under way', async () => {
    const held = gate()
    const { make } = tried(
      async (attempt, ctx) => {
        const work = ctx.once('work', async () => (attempt === 1 ? await held.promise : 'done'))
        return { x: await Promise.all([ctx.interrupt('sure?'), work]) }
      },
      { timeout: 200, retry: { attempts: 2, delay: 1 } },
    )
    const app = compile(make(), { clock: countingClock(), logger: silent })
    const outcome = await app.run({ thread: 't', input: {} })
    expect(outcome).toMatchObject({ status: 'interrupted', interruptions: [{ payload: 'sure?' }] })
    expect(await app.run({ thread: 't', answer: 'yes' })).toMatchObject({
      state: { x: ['yes', 'done'] },
    })
    held.open()
  })

  it('goes on counting while the node works, but a pause is no timeout', async () => {
    const clock = manualClock()
    const { make } = tried(async (_, ctx) => ({ x: await ctx.interrupt('?') }), { timeout: 30 })
    const app = compile(make(), { clock })
    expect(await app.run({ thread: 't', input: {} })).toMatchObject({ status: 'interrupted' })
    await clock.advance(1000)
    expect(await app.run({ thread: 't', answer: 1 })).toMatchObject({ state: { x: 1 } })
  })
})
