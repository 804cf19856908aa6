// The cache of nodes: what is known isn't done again, and nothing but successes is kept (B37).
import { append, compile, each, field, goto, graph, reduced, tool } from 'heddle'
import { manualClock } from 'heddle/testing'
import { describe, expect, it } from 'vitest'
import { silent } from '../fakes/silent.ts'
import { until } from './abort-idle.ts'
import { cacheRows, endsOf, make, passing, type State, type Work } from './cache-parts.ts'
import { all, failure, keepBooks } from './harness.ts'

keepBooks()

describe('what a node has returned for the same state', () => {
  it('comes back without the node, and the event says so, also to who subscribes later', async () => {
    const { app, entered } = make({ scope: 'global' }, ({ n }) => ({ out: [n, 'made'] }))
    await app.run({ thread: 'a', input: { n: 1 } })
    const live = app.stream({ thread: 'b', input: { n: 1 } })
    const events = await all(live)
    expect(entered).toEqual([1])
    expect((await live.outcome).state).toEqual({ n: 1, out: [1, 'made'] })
    expect(endsOf(events)).toEqual([
      expect.objectContaining({ node: 'work', update: { out: [1, 'made'] }, cached: true }),
    ])
    const run = await live.id
    expect(await all(app.subscribe('b', { run }))).toEqual(events)
    const first = await all(app.subscribe('a', { run: (await app.state('a'))!.run }))
    expect(endsOf(first).map((event) => 'cached' in event)).toEqual([false])
  })

  it('does not come back for another state, version, node or item', async () => {
    const { app, entered, store } = make({ scope: 'global' }, ({ n }) => ({ out: n }))
    for (const n of [1, '1', [1], { a: 1 }, { a: 1, b: undefined }, undefined, null, 1])
      await app.run({ thread: `t${entered.length}`, input: { n } })
    expect(entered).toHaveLength(7)
    const later = make({ scope: 'global' }, () => ({ out: 'later' }), { store, version: 2 })
    await later.app.run({ thread: 'v2', input: { n: 1 } })
    expect(later.entered).toHaveLength(1)
    const other = make({ scope: 'global' }, () => ({ out: 'other' }), { store, name: 'other' })
    await other.app.run({ thread: 'o', input: { n: 1 } })
    expect(other.entered).toHaveLength(1)
  })

  it('depends on what "key" picks, and on the order of no keys', async () => {
    const key = ({ n }: State): unknown => (n as { id: unknown }).id
    const { app, entered } = make({ scope: 'global', key }, ({ n }) => ({ out: n }))
    const inputs = [
      { id: { a: 1, b: new Date(5) }, more: 1 },
      { id: { b: new Date(5), a: 1 }, more: 2 },
      { id: { b: new Date(6), a: 1 }, more: 2 },
    ]
    const outs = []
    for (const [at, n] of inputs.entries())
      outs.push((await app.run({ thread: `t${at}`, input: { n } })).state['out'])
    expect(entered).toHaveLength(2)
    expect(outs).toEqual([inputs[0], inputs[0], inputs[2]])
  })

  it('is a copy of its own for each, whatever types it has', async () => {
    const made = {
      at: new Date(5),
      map: new Map([['k', new Set([1n, Number.NaN])]]),
      none: undefined,
    }
    const { app, entered } = make({ scope: 'global' }, () => ({ out: made }))
    const n = new Map([[{ a: -0 }, new Date(1)]])
    const outs = []
    for (const thread of ['a', 'b', 'c']) {
      const { out } = (await app.run({ thread, input: { n } })).state as { out: typeof made }
      expect(out).toEqual(made)
      outs.push(out)
      out.map.clear()
    }
    expect(entered).toHaveLength(1)
    expect(new Set(outs).size).toBe(3)
  })

  it('may be nothing, or a way to go', async () => {
    const nothing = make({ scope: 'global' }, () => undefined)
    const ways = make({ scope: 'global' }, () => goto('more', { out: 'sent' }))
    for (const { app, entered } of [nothing, ways]) {
      const first = await app.run({ thread: 'a', input: { n: 1 } })
      const second = await app.run({ thread: 'b', input: { n: 1 } })
      expect(second.state).toEqual(first.state)
      expect(entered).toHaveLength(1)
    }
    expect((await nothing.app.state('b'))!.state).toEqual({ n: 1, out: 'absent' })
    expect((await ways.app.state('b'))!.state).toEqual({ n: 'more', out: 'sent' })
  })

  it('is told apart by the items of its tasks', async () => {
    const entered: unknown[] = []
    const items = graph({
      name: 'items',
      state: { out: reduced(field<unknown[]>([]), append) },
      nodes: {
        spread: () => undefined,
        work: {
          run(_, { item }) {
            entered.push(item)
            return { out: [item] }
          },
          cache: { scope: 'global' },
        },
      },
      edges: { start: 'spread', spread: () => [each('work', [[1], { a: 2 }])], work: 'end' },
    })
    const app = compile(items, { logger: silent })
    for (const thread of ['a', 'b'])
      expect((await app.run({ thread, input: {} })).state).toEqual({ out: [[1], { a: 2 }] })
    expect(entered).toEqual([[1], { a: 2 }])
  })
})

describe('a scope', () => {
  it('of a run is the run and those that go on from it, not the next input', async () => {
    const { app, entered } = make({ scope: 'run', key: () => 1 }, () => ({ out: 'made' }), {
      after: (ctx) => ctx.interrupt('again?'),
    })
    await app.run({ thread: 'a', input: { n: 'go' } })
    await app.run({ thread: 'a', answer: 'yes' })
    expect(entered).toHaveLength(1)
    await app.run({ thread: 'a', input: { n: 'go' } })
    expect(entered).toHaveLength(2)
  })

  it('of a thread is the thread, and not another of the same name', async () => {
    const { app, entered } = make({ scope: 'thread' }, () => ({ out: 'made' }))
    for (const thread of ['a', 'a', 'b', 'a']) await app.run({ thread, input: { n: 1, out: '' } })
    expect(entered).toHaveLength(2)
    await app.delete('a')
    await app.run({ thread: 'a', input: { n: 1, out: '' } })
    expect(entered).toHaveLength(3)
  })

  it('never reaches another tenant', async () => {
    const { app, entered } = make({ scope: 'global' }, () => ({ out: 'made' }))
    for (const tenant of ['', 'x', 'y', 'x'])
      await app.tenant(tenant).run({ thread: `t${entered.length}`, input: { n: 1 } })
    expect(entered).toHaveLength(3)
  })

  it('ends after its time by the clock of the app, and the entry is removed', async () => {
    const clock = manualClock()
    const { app, entered, store } = make({ scope: 'global', ttl: 1000 }, () => ({ out: 1 }), {
      clock,
    })
    await app.run({ thread: 'a', input: { n: 1 } })
    await clock.advance(999)
    await app.run({ thread: 'b', input: { n: 1 } })
    expect(entered).toHaveLength(1)
    const [before] = await cacheRows(store)
    await clock.advance(1)
    await app.run({ thread: 'c', input: { n: 1 } })
    expect(entered).toHaveLength(2)
    const after = await cacheRows(store)
    expect(after).toHaveLength(1)
    expect(after[0]!.revision).not.toBe(before!.revision)
  })
})

describe('nothing is kept', () => {
  it('of a node that throws, is late, or returns what does not fit', async () => {
    const clock = manualClock()
    const works: readonly Work[] = [
      () => {
        throw new Error('broken')
      },
      () => new Promise((resolve) => clock.after(50, () => resolve({ out: 'late' }))),
      () => ({ out: () => 'a function' }),
      () => ({ nowhere: 1 }),
      () => goto('nowhere'),
    ]
    for (const work of works) {
      const { app, entered, store } = make({ scope: 'global' }, work, { clock, timeout: 10 })
      for (const thread of ['a', 'b']) {
        const before = entered.length
        const run = app.run({ thread, input: { n: 1 } })
        run.catch(() => {})
        // The key is worked out by the platform, in its own time: the node isn't late before it is entered.
        await until(() => entered.length > before)
        await failure(passing(clock, run))
      }
      expect(entered).toHaveLength(2)
      expect(await cacheRows(store)).toEqual([])
    }
  })

  it('of a run that is aborted', async () => {
    const { app, entered, store } = make({ scope: 'global' }, async (_, ctx) => {
      live.abort('enough')
      expect(ctx.signal.aborted).toBe(true)
      return { out: 'too late' }
    })
    const live = app.stream({ thread: 'a', input: { n: 1 } })
    expect(await live.outcome.catch((reason: unknown) => reason)).toBe('enough')
    expect(entered).toHaveLength(1)
    expect(await cacheRows(store)).toEqual([])
  })

  it('of a node that asks: each thread has an answer of its own', async () => {
    const { app, entered, store } = make({ scope: 'global' }, async (_, ctx) => ({
      out: await ctx.interrupt('who?'),
    }))
    for (const thread of ['a', 'b']) {
      expect(await app.run({ thread, input: { n: 1 } })).toMatchObject({ status: 'interrupted' })
      expect((await app.run({ thread, answer: thread })).state).toEqual({ n: 1, out: thread })
    }
    expect(entered).toHaveLength(4)
    expect(await cacheRows(store)).toEqual([])
  })

  it.each(['a tool', 'a child graph'])('of a node in which %s asks', async (what) => {
    const who = (ctx: { interrupt(payload: unknown): Promise<unknown> }) => ctx.interrupt('who?')
    const asks = tool({
      name: 'asks',
      description: 'Asks somebody.',
      input: field<object>({}),
      run: (_, ctx) => who(ctx),
    })
    const child = graph({
      name: 'child',
      state: { out: field<unknown>(undefined) },
      nodes: { ask: async (_, ctx) => ({ out: await who(ctx) }) },
      edges: { start: 'ask', ask: 'end' },
    })
    const { app, store } = make({ scope: 'global' }, async (_, ctx) =>
      what === 'a tool' ? { out: await ctx.call(asks, {}) } : await ctx.child(child, {}),
    )
    for (const thread of ['a', 'b']) {
      expect(await app.run({ thread, input: { n: 1 } })).toMatchObject({ status: 'interrupted' })
      expect((await app.run({ thread, answer: thread })).state).toEqual({ n: 1, out: thread })
    }
    expect(await cacheRows(store)).toEqual([])
  })

  it('in the place of an answer that has come', async () => {
    let asks = true
    const { app, entered } = make({ scope: 'global' }, async (_, ctx) => ({
      out: asks ? await ctx.interrupt('who?') : 'nobody asked',
    }))
    await app.run({ thread: 'a', input: { n: 1 } })
    asks = false
    await app.run({ thread: 'b', input: { n: 1 } })
    asks = true
    expect((await app.run({ thread: 'a', answer: 'me' })).state).toEqual({ n: 1, out: 'me' })
    expect(entered).toHaveLength(3)
  })

  it('by graphs that do not ask for it', async () => {
    const { app, store } = make(undefined, () => ({ out: 1 }))
    await app.run({ thread: 'a', input: { n: 1 } })
    expect(await cacheRows(store)).toEqual([])
  })
})
