// B25.3 and 4: aborts and retries. Models and policies come with their issues.
import { compile, type StreamEvent } from 'heddle'
import { manualClock } from 'heddle/testing'
import { describe, expect, it } from 'vitest'
import { idle, timedFailure, until } from './abort-idle.ts'
import { gate } from '../fakes/gate.ts'
import { starts, tried } from './abort-tried.ts'
import { after, countingClock, eachWay, failure, keepBooks } from './harness.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

describe('a retry', () => {
  it('comes after each delay in turn, and no delay follows the last failure', async () => {
    const clock = manualClock()
    const at: number[] = []
    const began = clock.now()
    const { make } = tried(
      (attempt) => {
        at.push(clock.now() - began)
        throw new Error(`failure ${attempt}`)
      },
      { retry: { attempts: 3, delay: 10, factor: 2, jitter: 0 } },
    )
    const live = compile(make(), { clock, logger: silent }).stream({ thread: 't', input: {} })
    const events: StreamEvent[] = []
    const reading = (async () => {
      for await (const event of live) events.push(event)
    })()
    const failed = failure(reading)
    await clock.advance(9)
    expect(at).toEqual([0])
    await clock.advance(1)
    expect(at).toEqual([0, 10])
    await clock.advance(20)
    expect(await failed).toMatchObject({ message: 'failure 3' })
    expect(at).toEqual([0, 10, 30])
    expect(starts(events)).toEqual([1, 2, 3])
    expect(clock.pending).toBe(0)
  })

  it('keeps to the longest delay and to the jitter it was given', async () => {
    const clock = manualClock()
    const at: number[] = []
    const began = clock.now()
    const { make } = tried(
      () => {
        at.push(clock.now() - began)
        throw new Error('no')
      },
      { retry: { attempts: 5, delay: 100, factor: 10, maxDelay: 300, jitter: 0.5 } },
    )
    const running = failure(
      compile(make(), { clock, random: () => 0.5, logger: silent }).run({ thread: 't', input: {} }),
    )
    await clock.advance(5000)
    await running
    // Half of a jitter of a half: each delay is a quarter shorter.
    expect(at).toEqual([0, 75, 300, 525, 750])
  })

  it('by default waits half a second and up to a fifth less', async () => {
    for (const [random, delay] of [
      [0, 500],
      [0.999, 400],
    ] as const) {
      const clock = manualClock()
      const { make, calls } = tried(
        () => {
          throw new Error('no')
        },
        { retry: { attempts: 2 } },
      )
      const running = failure(
        compile(make(), { clock, random: () => random, logger: silent }).run({
          thread: 't',
          input: {},
        }),
      )
      await clock.advance(delay - 1)
      expect(calls.n).toBe(1)
      await clock.advance(2)
      expect(calls.n).toBe(2)
      await running
    }
  })

  eachWay('is a pause no failure: it is neither retried nor counted', async (open) => {
    let fail = 1
    const { make, calls } = tried(
      async (_, ctx) => {
        const answer: unknown = await ctx.interrupt('?')
        if (fail-- > 0) throw new Error('after the answer')
        return { x: answer }
      },
      { retry: { attempts: 2, delay: 1 } },
    )
    const story = open(make, { logger: silent })
    expect((await story.start()).status).toBe('interrupted')
    expect(calls.n).toBe(1)
    const pass = await story.answerOne('yes')
    expect(pass.state).toEqual({ x: 'yes' })
    expect(starts(pass.events)).toEqual([1, 2])
    expect(calls.n).toBe(3)
  })

  it('is not made for an error of ours, nor when the node says no', async () => {
    const { make, calls } = tried((_, ctx) => ctx.emit(() => {}), {
      retry: { attempts: 3, delay: 1 },
    })
    const app = compile(make(), { clock: countingClock() })
    expect(await failure(app.run({ thread: 't', input: {} }))).toMatchObject({
      code: 'unserializable_value',
    })
    expect(calls.n).toBe(1)

    const picky = tried(
      (attempt) => {
        throw new Error(attempt === 1 ? 'passing' : 'lasting')
      },
      {
        retry: { attempts: 9, delay: 1, when: (error) => (error as Error).message === 'passing' },
      },
    )
    const second = compile(picky.make(), { clock: countingClock(), logger: silent })
    expect((await failure(second.run({ thread: 't', input: {} }))).message).toBe('lasting')
    expect(picky.calls.n).toBe(2)
  })

  it('that is aborted while it waits is not made: the reason counts, and nothing is left', async () => {
    const clock = countingClock()
    const { make, calls } = tried(
      () => {
        throw new Error('retryable')
      },
      { retry: { attempts: 3, delay: 5000, jitter: 0 } },
    )
    const app = compile(make(), { clock, logger: silent })
    const live = app.stream({ thread: 't', input: {} })
    const events: StreamEvent[] = []
    const reading = (async () => {
      for await (const event of live) events.push(event)
    })()
    const failed = failure(reading)
    // The delay, and the lease.
    await until(() => clock.live() === 2)
    const reason = new Error('enough')
    live.abort(reason)
    const { error, ms } = await timedFailure(live.outcome)
    expect(error).toBe(reason)
    expect(ms).toBeLessThan(1000)
    expect(await failed).toBe(reason)
    expect(calls.n).toBe(1)
    expect(clock.live()).toBe(0)
    expect(starts(events)).toEqual([1])
    expect(await app.state('t')).toMatchObject({
      status: 'cancelled',
      error: { message: 'enough' },
    })
  })

  it('is not made by an AbortError of an aborted run', async () => {
    const there = gate()
    const { make, calls } = tried(
      async (_, ctx) => {
        there.open()
        await idle(10_000, ctx.signal)
      },
      { retry: { attempts: 5, delay: 1 } },
    )
    const app = compile(make(), { clock: countingClock() })
    const controller = new AbortController()
    const running = timedFailure(app.run({ thread: 't', input: {}, signal: controller.signal }))
    await there.promise
    controller.abort()
    expect((await running).error).toMatchObject({ name: 'AbortError' })
    await after(10)
    expect(calls.n).toBe(1)
  })
})
