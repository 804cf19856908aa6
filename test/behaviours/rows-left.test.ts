// Rows that nothing leads to any more: none are left in a store.
import { compile, field, graph, memory, type Graph, type Store } from 'heddle'
import { manualClock, withFaults } from 'heddle/testing'
import { expect, it } from 'vitest'

import { all, keepBooks, rowsOf } from './harness.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

const journalOf = async (store: Store): Promise<string[]> =>
  (await rowsOf(store)).map(({ key }) => key).filter((key) => key.includes('/w/'))

/** Takes twenty steps with work that is done once; asks in the tenth. */
const counting = (): Graph =>
  graph({
    name: 'counting',
    state: { n: field(0) },
    nodes: {
      async count({ n }, ctx) {
        await ctx.once('work', () => n)
        if (n === 10) await ctx.interrupt('Go on?')
        return { n: n + 1 }
      },
    },
    edges: { start: 'count', count: ({ n }) => (n < 20 ? 'count' : 'end') },
  })

it.each(['step', 'exit'] as const)(
  'a run leaves no journal, durability "%s"',
  async (durability) => {
    const store = memory()
    const app = compile(counting(), { store, durability })
    await app.run({ thread: 't', input: {} })
    // What was done and is asked now is in there.
    expect((await journalOf(store)).length).toBeGreaterThan(0)
    expect((await app.run({ thread: 't', answer: 'yes' })).state).toEqual({ n: 20 })
    expect(await journalOf(store)).toEqual([])
  },
)

it.each([
  ['a new turn', { input: {} }],
  ['another branch', {}],
])('%s leaves no journal of the step that failed', async (_, request) => {
  const store = memory()
  let fails = true
  const app = compile(
    graph({
      name: 'failing',
      state: {},
      nodes: {
        first() {},
        async work(_state, ctx) {
          await ctx.once('work', () => 1)
          if (fails) throw new Error('not yet')
        },
      },
      edges: { start: 'first', first: 'work', work: 'end' },
    }),
    { store, logger: silent },
  )
  await expect(app.run({ thread: 't', input: {} })).rejects.toThrow('not yet')
  expect(await journalOf(store)).toHaveLength(1)
  fails = false
  const [oldest] = (await all(app.history('t'))).slice(-1)
  const from = 'input' in request ? {} : { from: oldest?.checkpoint as string }
  await app.run({ thread: 't', ...request, ...from })
  expect(await journalOf(store)).toEqual([])
})

it('on a store without atomic batches a crash between the head and its rows leaves none', async () => {
  let crashed = true
  for (let at = 1; crashed; at++) {
    const under = memory()
    const store = { ...under, caps: { ...under.caps, atomic: false } }
    const clock = manualClock()
    const make = graph({
      name: 'asking',
      state: {},
      nodes: {
        async ask(_, ctx) {
          await ctx.interrupt('Is it good?')
        },
      },
      edges: { start: 'ask', ask: 'end' },
    })
    const app = compile(make, { store, clock, logger: silent })
    await app.run({ thread: 't', input: {} })
    const dying = withFaults(store, [{ at, tear: 1, crash: 'after' }])
    await compile(make, { store: dying, clock, logger: silent })
      .run({ thread: 't', answer: 'yes' })
      .catch(() => {})
    crashed = dying.crashed
    await clock.advance(120_000)
    await app.tick()
    await app.delete('t')
    expect(await rowsOf(store), `a crash at ${at}`).toEqual([])
  }
})
