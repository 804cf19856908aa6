// The numbers of events never repeat in a thread, whoever goes on with it and whatever its last owner had told by then.
import { compile, field, graph, memory, StorageQuota, type Graph, type Store } from 'heddle'
import { manualClock, withFaults } from 'heddle/testing'
import { expect, it } from 'vitest'

import { keepBooks } from './harness.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

/** A node that tells so many events, and then hangs as long as `hangs` says so. */
const telling = (events: number, hangs: () => boolean): Graph =>
  graph({
    name: 'telling',
    state: {},
    events: field<number>(),
    nodes: {
      async tell(_, ctx) {
        for (let i = 0; i < events; i++) void ctx.emit(i)
        if (hangs()) await new Promise(() => {})
      },
    },
    edges: { start: 'tell', tell: 'end' },
  })

/** Runs until so many events are told, and leaves the run to itself. Tells the last number. */
async function numbered(store: Store, make: Graph, count: number) {
  const app = compile(make, { store, clock: manualClock(), logger: silent })
  const live = app.stream({ thread: 't', input: {} })
  let last = 0
  let left = count
  for await (const { seq } of live) {
    last = seq
    if (--left === 0) live.detach()
  }
  return last
}

/** The first number that is told when the thread goes on. */
async function next(store: Store, make: Graph, clock = manualClock()): Promise<number> {
  const seen: number[] = []
  const live = compile(make, { store, clock, logger: silent }).stream({ thread: 't' })
  for await (const { seq } of live) seen.push(seq)
  return seen[0] as number
}

it('after a cancel from another process', async () => {
  const store = memory()
  let hangs = true
  const make = telling(5, () => hangs)
  const last = await numbered(store, make, 6)
  await compile(make, { store, logger: silent }).cancel('t')
  hangs = false
  expect(await next(store, make)).toBeGreaterThan(last)
})

it('after a failure whose own record was refused at first', async () => {
  const base = memory()
  const full = new StorageQuota('Cannot write: it is full', { freed: 0 })
  const store = withFaults(base, [
    { at: 4, error: full },
    { at: 5, error: full },
  ])
  const make = telling(5, () => false)
  let last = 0
  const live = compile(make, { store, logger: silent }).stream({ thread: 't', input: {} })
  const read = (async () => {
    for await (const { seq } of live) last = seq
  })()
  await expect(read).rejects.toBe(full)
  expect((await compile(make, { store: base }).state('t'))?.status).toBe('error')
  expect(await next(base, make)).toBeGreaterThan(last)
})

it('after a crash of an owner that had told 70,000 since its last commit', async () => {
  const store = memory()
  const clock = manualClock()
  let hangs = true
  const make = telling(70_000, () => hangs)
  // Its own clock stands still: it renews nothing any more.
  const last = await numbered(store, make, 70_001)
  hangs = false
  await clock.advance(70_000)
  expect(await next(store, make, clock)).toBeGreaterThan(last)
})
