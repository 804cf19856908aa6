// B25.1, 2 and 6: the signal of the caller and those of the nodes. Tools, models and hooks come with their issues.
import { append, compile, field, graph, isHeddleError, memory, reduced, type Graph } from 'heddle'
import { describe, expect, it } from 'vitest'
import { idle, timedFailure } from './abort-idle.ts'
import { gate } from '../fakes/gate.ts'
import { hang, inner, places, simple } from './abort-hang.ts'
import { after, all, countedSignal, countingClock, failure, keepBooks, rowsOf } from './harness.ts'

keepBooks()

describe('a signal', () => {
  it('that is aborted already: nothing is entered, nothing is stored', async () => {
    const store = memory()
    const h = hang()
    const app = compile(simple(h), { store, clock: countingClock() })
    const reason = { my: 'reason' }
    const caller = countedSignal()
    caller.abort(reason)
    const ran = await timedFailure(app.run({ thread: 't', input: {}, signal: caller.signal }))
    expect(ran.error).toBe(reason)
    expect(ran.ms).toBeLessThan(1000)
    const live = app.stream({ thread: 't', input: {}, signal: caller.signal })
    expect(await failure(all(live))).toBe(reason)
    expect(await failure(live.id)).toBe(reason)
    expect(await failure(live.outcome)).toBe(reason)
    expect(h.calls).toEqual({})
    expect(await rowsOf(store)).toEqual([])
    expect(await app.state('t')).toBeUndefined()
  })

  it('that aborts in the same turn: nothing is entered', async () => {
    const store = memory()
    const h = hang()
    const app = compile(simple(h), { store, clock: countingClock() })
    const live = app.stream({ thread: 't', input: {} })
    const reason = new Error('changed my mind')
    live.abort(reason)
    expect(await failure(all(live))).toBe(reason)
    expect(h.calls).toEqual({})
    expect(await rowsOf(store)).toEqual([])
  })

  it.each([null, 0, '', false])('that aborts with %s gives exactly that', async (reason) => {
    for (const how of ['signal', 'abort'] as const) {
      const h = hang()
      const app = compile(places['a node']?.(h) as Graph, { clock: countingClock() })
      const controller = new AbortController()
      const live = app.stream({ thread: 't', input: {}, signal: controller.signal })
      await h.there.promise
      if (how === 'signal') controller.abort(reason)
      else live.abort(reason)
      expect(await failure(live.outcome)).toBe(reason)
      expect(await app.state('t')).toMatchObject({
        status: 'cancelled',
        error: { message: String(reason) },
      })
      h.held.open()
    }
  })

  it('without a reason gives one of ours or of the platform', async () => {
    const h = hang()
    const app = compile(places['a node']?.(h) as Graph, { clock: countingClock() })
    const live = app.stream({ thread: 't', input: {} })
    await h.there.promise
    live.abort()
    const error = await failure(live.outcome)
    expect(isHeddleError(error, 'cancelled')).toBe(true)
    expect(error.message).toMatch(/^Cannot finish run "run_.*": it was aborted$/)
    expect(await app.state('t')).toMatchObject({
      status: 'cancelled',
      error: { code: 'cancelled', message: error.message },
    })
    h.held.open()
  })

  it('leaves no listener after success, a pause, a failure or a refusal', async () => {
    const caller = countedSignal()
    const h = hang()
    const app = compile(
      graph({
        name: 'ways',
        state: { way: field<string>() },
        nodes: {
          async n({ way }, ctx) {
            if (way === 'fail') throw new Error('failed')
            if (way === 'pause') await ctx.interrupt()
            if (way === 'wait') await ctx.sleep(1e9)
            if (way === 'child') await ctx.child(inner(h), {})
          },
        },
        edges: { start: 'n', n: 'end' },
      }),
      { clock: countingClock() },
    )
    h.held.open()
    const { signal } = caller
    const settle = async (thread: string, input: object): Promise<string> => {
      const outcome = await app.run({ thread, input: input as { way: string }, signal }).then(
        ({ status }) => status,
        (error: Error & { code?: string }) => error.code ?? error.message,
      )
      expect(caller.listeners()).toBe(0)
      return outcome
    }
    expect(await settle('1', { way: 'ok' })).toBe('success')
    expect(await settle('2', { way: 'pause' })).toBe('interrupted')
    expect(await settle('3', { way: 'wait' })).toBe('waiting')
    expect(await settle('4', { way: 'child' })).toBe('success')
    expect(await settle('5', { way: 'fail' })).toBe('failed')
    expect(await settle('6', { nonsense: 1 })).toBe('schema_error')
    expect(await settle('2', { way: 'ok' })).toBe('thread_paused')
  })

  it('that aborts when the run has ended changes nothing', async () => {
    const h = hang()
    const app = compile(simple(h), { clock: countingClock() })
    const live = app.stream({ thread: 't', input: {} })
    await live.outcome
    live.abort(new Error('late'))
    expect((await all(live)).at(-1)?.kind).toBe('done')
    expect((await app.state('t'))?.status).toBe('success')
  })

  it('of a node, its step and its children is one tree, down to the same reason', async () => {
    const seen: Record<string, AbortSignal> = {}
    const there = gate()
    const leaf = graph({
      name: 'leaf',
      state: {},
      nodes: {
        async leaf(_, ctx) {
          seen['leaf'] = ctx.signal
          there.open()
          await idle(10_000, ctx.signal)
        },
      },
      edges: { start: 'leaf', leaf: 'end' },
    })
    const middle = graph({
      name: 'middle',
      state: {},
      nodes: {
        async middle(_, ctx) {
          seen['middle'] = ctx.signal
          await ctx.child(leaf, {})
        },
      },
      edges: { start: 'middle', middle: 'end' },
    })
    const after1 = { n: 0 }
    const app = compile(
      graph({
        name: 'tree',
        state: { done: reduced(field<string[]>([]), append) },
        nodes: {
          quick: () => ({ done: ['quick'] }),
          async top(_, ctx) {
            seen['top'] = ctx.signal
            await ctx.child(middle, {})
            after1.n++
            return { done: ['top'] }
          },
          async sibling(_, ctx) {
            seen['sibling'] = ctx.signal
            await idle(10_000, ctx.signal)
          },
        },
        edges: { start: ['quick', 'top', 'sibling'], quick: 'end', top: 'end', sibling: 'end' },
      }),
      { clock: countingClock() },
    )
    const live = app.stream({ thread: 't', input: {} })
    await there.promise
    await after(5)
    const reason = new Error('stop the tree')
    live.abort(reason)
    const { error, ms } = await timedFailure(live.outcome)
    expect(error).toBe(reason)
    expect(ms).toBeLessThan(1000)
    expect(Object.keys(seen).sort()).toEqual(['leaf', 'middle', 'sibling', 'top'])
    for (const signal of Object.values(seen)) expect(signal.reason).toBe(reason)
    expect(new Set(Object.values(seen)).size).toBe(4)
    expect(after1.n).toBe(0)
    expect(await app.state('t')).toMatchObject({ status: 'cancelled', state: { done: [] } })
  })

  it('made by a node for its own work: either that or the run can end it', async () => {
    for (const who of ['node', 'run'] as const) {
      const there = gate()
      const mine = new Error('mine')
      const theirs = new Error('theirs')
      let seen: unknown
      const controller = new AbortController()
      const app = compile(
        graph({
          name: 'own',
          state: { how: field<string>('') },
          nodes: {
            async n(_, ctx) {
              const signal = AbortSignal.any([controller.signal, ctx.signal])
              there.open()
              await idle(10_000, signal).catch((error: unknown) => (seen = error))
              return { how: 'ended' }
            },
          },
          edges: { start: 'n', n: 'end' },
        }),
        { clock: countingClock() },
      )
      const live = app.stream({ thread: 't', input: {} })
      await there.promise
      if (who === 'node') controller.abort(mine)
      else live.abort(theirs)
      const outcome = await live.outcome.catch((error: unknown) => error)
      await after(2)
      expect(seen).toBe(who === 'node' ? mine : theirs)
      if (who === 'node') expect(outcome).toMatchObject({ state: { how: 'ended' } })
      else expect(outcome).toBe(theirs)
    }
  })
})
