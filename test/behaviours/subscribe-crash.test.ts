import { expect, test } from 'vitest'
import {
  append,
  compile,
  each,
  field,
  graph,
  memory,
  reduced,
  type CompiledGraph,
  type StreamEvent,
} from 'heddle'
import { Crash, manualClock, withFaults } from 'heddle/testing'
import { all, keepBooks } from './harness.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

type App = CompiledGraph
const child = graph({
  name: 'child',
  state: { n: field<number>(0) },
  nodes: {
    up: ({ n }) => ({ n: n + 1 }),
    ask: async (_, ctx) => ({ n: (await ctx.interrupt('n?')) as number }),
    last: () => ({}),
  },
  edges: { start: 'up', up: 'ask', ask: 'last', last: 'end' },
})

const declared = graph({
  name: 'declared',
  state: { log: reduced(field<string[]>([]), append), last: field<string>('') },
  events: field<string>(),
  nodes: {
    one: async (_, ctx) => {
      await ctx.emit('one')
      return { last: 'one' }
    },
    many: { item: field<number>(), run: async (_, ctx) => ({ log: [`many ${ctx.item}`] }) },
    inner: async (_, ctx) => ({ log: [`inner ${(await ctx.child(child, {})).n}`] }),
    two: async (_, ctx) => {
      await ctx.emit('two')
      return { log: ['two'] }
    },
  },
  edges: {
    start: 'one',
    one: () => [each('many', [0, 1, 2]), 'inner'],
    many: 'end',
    inner: 'two',
    two: 'end',
  },
})

/** What an event says, apart from its number and from names that another run has for the same. */
const said = ({ seq: _, run: _run, ...event }: StreamEvent): string =>
  JSON.stringify(event, (key, value) =>
    /^(task|checkpoint|run|createdAt)$/.test(key) ? undefined : value,
  )

test('whatever dies, no event has the number of another, none is lost whose fact was stored, and a reader goes on from where it was', async () => {
  let k = 0
  for (let crashed = true; crashed;) {
    k++
    const clock = manualClock('2026-01-01T00:00:00Z')
    const data = memory()
    const store = withFaults(data, [{ at: k, crash: k % 2 === 0 ? 'after' : 'before' }])
    const live: StreamEvent[] = []
    const listen = async (app: App, request: object): Promise<void> => {
      for await (const event of app.stream({ thread: 't', ...request } as never))
        live.push(event as never)
    }
    const faulty = compile(declared, { store, clock, logger: silent }) as App
    const app = compile(declared, { store: data, clock }) as App
    try {
      await listen(faulty, { input: {} })
      await listen(faulty, { answer: 5 })
    } catch (error) {
      if (!(error instanceof Crash)) throw error
    }
    crashed = store.crashed
    const before = await upTo(app)
    if (crashed) {
      await clock.advance(60_001)
      const state = await app.state('t')
      if (state === undefined) await listen(app, { input: {} })
      else if (state.status !== 'success' && state.status !== 'interrupted') await listen(app, {})
      if ((await app.state('t'))?.status === 'interrupted') await listen(app, { answer: 5 })
    }
    const { status, state } = (await app.state('t'))!
    expect([status, state.log]).toEqual([
      'success',
      ['many 0', 'many 1', 'many 2', 'inner 5', 'two'],
    ])

    const told = await upTo(app)
    const numbers = told.map(({ seq }) => seq)
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b))
    // Nothing that was readable has changed since, and what a live reader saw is what is kept.
    expect(told.slice(0, before.length)).toEqual(before)
    const kept = new Map(told.map((event) => [event.seq, event]))
    for (const event of live) if (kept.has(event.seq)) expect(kept.get(event.seq)).toEqual(event)
    // An end of a node, of a step, of all, and a question: told only when stored, so never lost.
    const facts = live.filter(({ kind }) =>
      ['node_end', 'step', 'interrupt', 'done'].includes(kind),
    )
    for (const fact of facts) expect(kept.has(fact.seq)).toBe(true)
    const ends = told.filter(({ kind }) => kind === 'node_end').map(said)
    expect(new Set(ends).size).toBe(6)
    for (const { seq } of told.slice(0, 3))
      expect(await upTo(app, seq)).toEqual(told.filter((event) => event.seq > seq))
  }
  expect(k).toBeGreaterThan(10)
}, 60_000)

/** What is recorded by now. After a crash nothing says that this is all, so it may be less. */
async function upTo(app: App, after = 0): Promise<StreamEvent[]> {
  const [newest] = await all(app.runs('t', { limit: 1 }))
  if (!newest) return []
  const control = new AbortController()
  const patience = newest.endedAt ? undefined : setTimeout(() => control.abort(), 50)
  const events = app.subscribe('t', { after, run: newest.id, signal: control.signal })
  const told = (await all(events)) as StreamEvent[]
  clearTimeout(patience)
  return told
}

test('a child graph has a log of its own, with its own numbers', async () => {
  const app = compile(declared) as App
  const live = await all(app.stream({ thread: 't', input: {} }))
  live.push(...(await all(app.stream({ thread: 't', answer: 5 }))))
  const events: StreamEvent[] = []
  for await (const event of app.subscribe('t', { ns: ['inner'] })) {
    events.push(event as StreamEvent)
    if (event.kind === 'step' && event.next.length === 0) break
  }
  expect(events.map(({ kind }) => kind)).toEqual([
    ...['node_start', 'node_end', 'step', 'node_start', 'node_start', 'node_end', 'step'],
    ...['node_start', 'node_end', 'step'],
  ])
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1))
  expect(events.every(({ ns }) => ns.length === 1 && ns[0] === 'inner')).toBe(true)
  const ends = events.flatMap((event) => (event.kind === 'node_end' ? [event.update] : []))
  expect(ends).toEqual([{ n: 1 }, { n: 5 }, {}])
  expect(events.at(-1)!.run).toBe(live.at(-1)!.run)
})
