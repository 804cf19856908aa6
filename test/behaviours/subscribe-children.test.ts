import { expect, test } from 'vitest'
import { compile, field, graph, type CompiledGraph, type StreamEvent } from 'heddle'
import { all, keepBooks } from './harness.ts'

keepBooks()

const child = graph({
  name: 'child',
  state: { n: field<number>(0) },
  nodes: {
    one: () => ({ n: 1 }),
    two: () => ({}),
    ask: async (_, ctx) => ({ n: Number(await ctx.interrupt('n?')) }),
    last: () => ({}),
  },
  edges: { start: 'one', one: 'two', two: 'ask', ask: 'last', last: 'end' },
})

/** Runs the child once in every turn. */
const parent = graph({
  name: 'parent',
  state: { n: field<number>(0) },
  nodes: { inner: (_, ctx) => ctx.child(child, {}) },
  edges: { start: 'inner', inner: 'end' },
})

const kinds = (events: readonly StreamEvent[]): string[] =>
  events.map((event) => `${event.seq} ${event.kind}`)

test('what a child graph told up to the end of a run is told whole, and nothing of later runs', async () => {
  const app = compile(parent) as CompiledGraph
  const asked = await app.run({ thread: 't', input: {} })
  const { run } = await app.run({ thread: 't', answer: 3 })
  const of = async (id: string): Promise<StreamEvent[]> =>
    (await all(app.subscribe('t', { ns: ['inner'], run: id }))) as StreamEvent[]
  const before = ['1 node_start', '2 node_end', '3 step', '4 node_start', '5 node_end', '6 step']
  expect(kinds(await of(asked.run))).toEqual([...before, '7 node_start'])
  expect(kinds(await of(run))).toEqual([
    ...[...before, '7 node_start', '8 node_start', '9 node_end', '10 step'],
    ...['11 node_start', '12 node_end', '13 step'],
  ])
  expect(await of('unknown')).toEqual([])
})

test('who reads the log of a child graph comes to its end when the node has begun another', async () => {
  const app = compile(parent) as CompiledGraph
  const reading = all(app.subscribe('t', { ns: ['inner'] })) as Promise<StreamEvent[]>
  await app.run({ thread: 't', input: {} })
  await app.run({ thread: 't', answer: 3 })
  const whole = app.subscribe('t', { ns: ['inner'] })[Symbol.asyncIterator]()
  const told: StreamEvent[] = []
  while (told.length < 13) told.push((await whole.next()).value as StreamEvent)
  await app.run({ thread: 't', input: {} })
  expect((await whole.next()).done).toBe(true)
  const first = await reading
  expect(first).toEqual(told)
})
