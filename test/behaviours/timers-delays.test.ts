// B29 for what waits in process: timeouts and the delays of retries, on clocks that are early, capped or set.
import { compile } from 'heddle'
import { manualClock, type ManualClock } from 'heddle/testing'
import { describe, expect, it } from 'vitest'
import { idle } from './abort-idle.ts'
import { tried } from './abort-tried.ts'
import { failure, keepBooks } from './harness.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

describe('delays', () => {
  /** The platform's timers as they are: what is too long for them fires at once. */
  const timers = (clock: ManualClock, asked: number[]): ManualClock => ({
    ...clock,
    get pending() {
      return clock.pending
    },
    after(ms, call) {
      asked.push(ms)
      return clock.after(ms > 2 ** 31 - 1 ? 1 : ms, call)
    },
  })
  const month = 30 * 24 * 3600_000

  it('of nodes beyond 2^31 ms are refused before anything runs', () => {
    const { make } = tried(() => undefined, { retry: { attempts: 2, delay: month } })
    expect(() => compile(make())).toThrow(/has "delay" 2592000000/)
    expect(() => compile(tried(() => undefined, { timeout: month }).make())).toThrow(
      /has "timeout" 2592000000/,
    )
  })

  it('of a run beyond 2^31 ms are kept, and no timer is asked for more', async () => {
    const under = manualClock()
    const asked: number[] = []
    const { make } = tried((_, ctx) => idle(1e8, ctx.signal), {})
    // A lease as long: it would be renewed at half of it.
    const leaseMs = 2 * month
    const app = compile(make(), { clock: timers(under, asked), leaseMs, logger: silent })
    const running = failure(app.run({ thread: 't', input: {}, timeout: month }))
    let settled = false
    void running.then(() => (settled = true))
    await under.advance(1000)
    await under.advance(month - 1001)
    expect(settled).toBe(false)
    await under.advance(1)
    expect(await running).toMatchObject({ name: 'TimeoutError' })
    expect(Math.max(...asked)).toBeLessThanOrEqual(2 ** 31 - 1)
    expect(asked.length).toBeLessThan(6)
    expect(under.pending).toBe(0)
  })

  it('do not end early when a timer does, and look again only a few times', async () => {
    const under = manualClock()
    const asked: number[] = []
    const early: ManualClock = {
      ...under,
      after(ms, call) {
        asked.push(ms)
        return under.after(ms > 1 ? ms - 1 : ms, call)
      },
    }
    const at: number[] = []
    const began = under.now()
    const { make } = tried(
      async (attempt, ctx) => {
        at.push(under.now() - began)
        if (attempt === 1) throw new Error('again')
        ctx.signal.addEventListener('abort', () => at.push(under.now() - began))
        await idle(1e8, ctx.signal)
      },
      { timeout: 30, retry: { attempts: 2, delay: 100, jitter: 0 } },
    )
    const running = failure(
      compile(make(), { clock: early, logger: silent }).run({ thread: 't', input: {} }),
    )
    await under.advance(500)
    await running
    expect(at).toEqual([0, 100, 130])
    expect(asked.length).toBeLessThanOrEqual(7)
    for (const ms of asked) expect(ms).toBeGreaterThanOrEqual(1)
  })

  it('survive a clock that is set back or forward without a hot loop', async () => {
    for (const jump of [-2 * 3600_000, 40 * 24 * 3600_000]) {
      const under = manualClock()
      const asked: number[] = []
      const clock = timers(under, asked)
      const { make, calls } = tried(
        (attempt) => {
          if (attempt === 1) throw new Error('again')
          return { x: attempt }
        },
        { retry: { attempts: 2, delay: 1000, jitter: 0 } },
      )
      const running = compile(make(), { clock, logger: silent }).run({ thread: 't', input: {} })
      await under.advance(500)
      under.set(new Date(under.now() + jump))
      await under.advance(2000)
      expect(await running).toMatchObject({ state: { x: 2 } })
      expect(calls.n).toBe(2)
      expect(asked.length).toBeLessThan(5)
      expect(under.pending).toBe(0)
    }
  })
})
