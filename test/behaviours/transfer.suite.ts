// A thread that was started in one store goes on in another, and is pruned there. The same everywhere.
import { compile, memory, type CompiledGraph, type Store } from 'heddle'
import { manualClock } from 'heddle/testing'
import { all, casesOf, equal, type Case, type Cases, type Open } from './portable.ts'
import { ended, seen, voyage } from './transfer-parts.ts'

/** A process on a store, and when lists are sure to be whole. */
function processOn(store: Store): { readonly app: CompiledGraph; settle(): Promise<void> } {
  const clock = manualClock()
  return { app: compile(voyage(), { store, clock }), settle: () => clock.advance(600_000) }
}

async function moved(from: Store, to: Store): Promise<void> {
  const { app: here, settle } = processOn(from)
  const { app: there } = processOn(to)
  await here.run({ thread: 't', input: {}, metadata: { a: 1 }, user: 'ann' })
  await settle()
  const value: unknown = JSON.parse(JSON.stringify(await here.exportThread('t')))
  const { status, metadata } = await there.importThread(value as never, {
    to: 'another/name',
    metadata: { b: 2 },
  })
  equal([status, metadata], ['interrupted', { a: 1, b: 2 }], 'the thread that came')
  equal(await seen(there, 'another/name'), await seen(here, 't'), 'what is seen of it')
  equal(await ended(there, 'another/name'), await ended(here, 't'), 'what it ends with')
}

const cases: Cases = {
  'a thread of the memory goes on in the store': async (reopen) => moved(memory(), await reopen()),
  'a thread of the store goes on in the memory': async (reopen) => moved(await reopen(), memory()),
  async 'a pruned thread is what it was, and goes on'(reopen) {
    const [one, other] = [processOn(await reopen()), processOn(memory())]
    for (const { app, settle } of [one, other]) {
      await app.run({ thread: 't', input: {} })
      await settle()
    }
    const before = await all(one.app.history('t'))
    const { removed } = await one.app.prune('t', { keepLast: 3 })
    equal(removed, before.length - 3, 'how many are gone')
    equal(await all(one.app.history('t')), before.slice(0, 3), 'what is kept')
    equal(await ended(one.app, 't'), await ended(other.app, 't'), 'what it ends with')
  },
}

/** The cases, against stores of the place we run in. */
export function suite(open: Open): readonly Case[] {
  return casesOf('transfer', open, cases)
}
