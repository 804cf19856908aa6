// What was written ahead of a head that never came is nobody's: neither history nor the log tells it.
import { expect, test } from 'vitest'
import {
  compile,
  field,
  graph,
  memory,
  type CompiledGraph,
  type Store,
  type StreamEvent,
} from 'heddle'
import { manualClock, withFaults, type Fault } from 'heddle/testing'
import { smallStore } from '../fakes/small-store.ts'
import { all, keepBooks } from './harness.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

/** A memory that writes rows one after the other. */
const loose = (): Store => {
  const store = memory()
  return { ...store, caps: { ...store.caps, atomic: false } }
}

const line = (entered: string[]) =>
  graph({
    name: 'line',
    state: { last: field<string>(''), n: field<number>(0) },
    events: field<string>(),
    nodes: {
      a: async ({ n }, ctx) => {
        entered.push('a')
        await ctx.emit(`a ${entered.length}`)
        return { last: `a ${entered.length}`, n: n + 1 }
      },
      b: ({ n }) => {
        entered.push('b')
        return { last: `b ${entered.length}`, n: n + 1 }
      },
    },
    edges: { start: 'a', a: 'b', b: 'end' },
  })

async function told(app: CompiledGraph, thread: string): Promise<StreamEvent[]> {
  const [newest] = await all(app.runs(thread, { limit: 1 }))
  return (await all(app.subscribe(thread, { run: newest!.id }))) as StreamEvent[]
}

async function dies(store: Store, faults: readonly Fault[]): Promise<boolean> {
  const clock = manualClock('2026-01-01T00:00:00Z')
  const entered: string[] = []
  const dying = withFaults(store, faults)
  const first = compile(line(entered), { store: dying, clock, logger: silent })
  await first.run({ thread: 't', input: {} }).catch(() => {})
  await clock.advance(60_001)
  const app = compile(line(entered), { store, clock, logger: silent })
  const state = await app.state('t')
  if (state === undefined) await app.run({ thread: 't', input: {} })
  else if (state.status !== 'success') await app.run({ thread: 't' })
  expect((await app.state('t'))!.state.n).toBe(2)

  const history = await all(app.history('t'))
  const named = new Set(history.map(({ checkpoint }) => checkpoint))
  const trail: string[] = []
  const parents = new Map(history.map(({ checkpoint, parent }) => [checkpoint, parent]))
  for (let id: string | undefined = history[0]!.checkpoint; id !== undefined; id = parents.get(id))
    trail.push(id)
  expect([...named]).toEqual(trail)
  const events = await told(app as CompiledGraph, 't')
  const ends = events.flatMap((event) => (event.kind === 'node_end' ? [event.node] : []))
  expect(ends).toEqual(['a', 'b'])
  expect(events.filter(({ kind }) => kind === 'step')).toHaveLength(2)
  const steps = events.flatMap((event) => (event.kind === 'step' ? [event.checkpoint] : []))
  for (const step of steps) expect(named.has(step)).toBe(true)
  return dying.crashed
}

test('a commit that was torn, and one that failed and was told, leave nothing to read', async () => {
  for (let at = 1, crashed = true; crashed; at++)
    for (const writes of [1, 2, 3])
      crashed = await dies(loose(), [
        { at, tear: writes },
        { at, crash: 'after' },
      ])
  for (let at = 3; at < 12; at++)
    for (const writes of [1, 2, 3])
      await dies(loose(), [
        { at, tear: writes },
        { at: at + 1, tear: 0 },
      ])
}, 240_000)

test('questions of a commit that got only half of its rows ahead were never asked', async () => {
  const ask = graph({
    name: 'ask',
    state: {},
    nodes: {
      all: async (_, ctx) => {
        await Promise.all(
          Array.from({ length: 12 }, (_one, i) => ctx.interrupt({ i }, { key: `q${i}` })),
        )
      },
    },
    edges: { start: 'all', all: 'end' },
  })
  let crashed = true
  for (let at = 3; crashed; at++) {
    const clock = manualClock('2026-01-01T00:00:00Z')
    const store = smallStore(memory())
    const dying = withFaults(store, [{ at, crash: 'after' }])
    const first = compile(ask, { store: dying, clock, logger: silent })
    await first.run({ thread: 't', input: {} }).catch(() => {})
    crashed = dying.crashed
    await clock.advance(60_001)
    const app = compile(ask, { store, clock, logger: silent })
    const state = await app.state('t')
    if (state === undefined) await app.run({ thread: 't', input: {} })
    else if (state.status !== 'interrupted') await app.run({ thread: 't' })
    const events = await told(app as CompiledGraph, 't')
    const asked = events.flatMap((one) => (one.kind === 'interrupt' ? [one.interruption.id] : []))
    expect(asked.toSorted()).toEqual((await app.interruptions()).map(({ id }) => id).toSorted())
    expect(asked).toHaveLength(12)
  }
}, 240_000)
