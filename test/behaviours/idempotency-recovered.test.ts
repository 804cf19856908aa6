import { expect, test } from 'vitest'
import { compile, field, graph, memory, type CompiledGraph, type StreamEvent } from 'heddle'
import { manualClock } from 'heddle/testing'
import { all, keepBooks } from './harness.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

test('who follows a run that dies is told all of the one that takes its place', async () => {
  let stuck = true
  const stuckOnce = graph({
    name: 'stuck-once',
    state: { n: field<number>(0) },
    nodes: {
      before: () => ({ n: 1 }),
      sticks: async () => {
        if (stuck) await new Promise(() => {})
        return { n: 2 }
      },
    },
    edges: { start: 'before', before: 'sticks', sticks: 'end' },
  })
  const store = memory()
  const clock = manualClock('2026-01-01T00:00:00Z')
  const ahead = { now: () => clock.now() + 100_000, after: clock.after }
  const options = { store, logger: silent }
  const app = compile(stuckOnce, { ...options, clock }) as CompiledGraph
  const another = compile(stuckOnce, { ...options, clock: ahead }) as CompiledGraph
  const request = { thread: 't', input: {}, idempotencyKey: 'k' }
  const dying = app.stream(request)
  dying.outcome.catch(() => {})
  const live = dying[Symbol.asyncIterator]()
  for (let i = 0; i < 4; i++) await live.next()
  const followed = all(another.stream(request)) as Promise<StreamEvent[]>
  stuck = false
  const told = await followed
  const kinds = told.map((event) => `${event.kind} ${'node' in event ? event.node : ''}`)
  expect(kinds).toEqual([
    ...['node_start before', 'node_end before', 'step '],
    ...['node_start sticks', 'node_end sticks', 'step ', 'done '],
  ])
  expect(await all(app.stream(request))).toEqual(told)
})
