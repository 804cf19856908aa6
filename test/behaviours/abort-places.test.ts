// B25: an abort reaches whatever a run is doing. Tools, models and hooks come with their issues.
import { compile, memory, type CompiledGraph } from 'heddle'
import { describe, expect, it } from 'vitest'
import { timedFailure } from './abort-idle.ts'
import { hang, places, type Hang } from './abort-hang.ts'
import { after, all, countedSignal, countingClock, failure, keepBooks, rowsOf } from './harness.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

describe.each(Object.entries(places))('an abort in %s', (_, make) => {
  async function begun(h: Hang, app: CompiledGraph): Promise<ReturnType<CompiledGraph['stream']>> {
    const live = app.stream({ thread: 't', input: {} })
    await h.there.promise
    await after(5)
    return live
  }

  it('ends the run at once with the reason, writes nothing more, and the thread can go on', async () => {
    const h = hang()
    const store = memory()
    const app = compile(make(h), { store, clock: countingClock(), logger: silent })
    const live = await begun(h, app)
    const reason = new Error('stop')
    const stopped = timedFailure(all(live))
    live.abort(reason)
    live.abort(new Error('again'))
    const { error, ms } = await stopped
    expect(error).toBe(reason)
    expect(await failure(live.outcome)).toBe(reason)
    expect(ms).toBeLessThan(1000)
    const before = await rowsOf(store)
    const left = await app.state('t')
    // Before the claim there is no thread yet.
    expect([undefined, 'cancelled']).toContain(left?.status)
    h.held.open()
    await after(20)
    expect(await rowsOf(store)).toEqual(before)
    expect(h.calls['b']).toBeUndefined()

    const app2 = compile(make(h), { store, clock: countingClock(), logger: silent })
    const ended = await app2.run({ thread: 't', ...(!left && { input: {} }) })
    expect(ended).toMatchObject({ status: 'success', state: { x: 2 } })
    expect(h.calls['b']).toBe(1)
  })

  it('by the signal of the request does the same, and no listener stays on it', async () => {
    const h = hang()
    const app = compile(make(h), { clock: countingClock(), logger: silent })
    const caller = countedSignal()
    const running = app.run({ thread: 't', input: {}, signal: caller.signal })
    const stopped = timedFailure(running)
    await h.there.promise
    const began = performance.now()
    // Any reason is handed on as it is.
    caller.abort('a plain text')
    expect((await stopped).error).toBe('a plain text')
    expect(performance.now() - began).toBeLessThan(1000)
    expect(caller.listeners()).toBe(0)
    h.held.open()
    await after(10)
    expect([undefined, 'cancelled']).toContain((await app.state('t'))?.status)
  })

  it('by a timeout of the run is an error, not a cancel', async () => {
    const h = hang()
    const app = compile(make(h), { clock: countingClock(), logger: silent })
    const { error, ms } = await timedFailure(app.run({ thread: 't', input: {}, timeout: 30 }))
    expect(error).toMatchObject({ name: 'TimeoutError' })
    expect(ms).toBeGreaterThanOrEqual(25)
    expect(ms).toBeLessThan(1000)
    expect([undefined, 'error']).toContain((await app.state('t'))?.status)
    h.held.open()
    await after(10)
    expect([undefined, 'error']).toContain((await app.state('t'))?.status)
  })
})
