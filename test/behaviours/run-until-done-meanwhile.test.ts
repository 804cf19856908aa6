import { expect, test } from 'vitest'
import { compile, field, graph, memory, type CompiledGraph } from 'heddle'
import { manualClock, withFaults, type ManualClock } from 'heddle/testing'
import { failure, keepBooks } from './harness.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

const START = '2026-01-01T00:00:00Z'

/** Everything that can go on without the clock has gone on. */
const settled = async (): Promise<void> => {
  for (let i = 0; i < 30; i++) await new Promise((resolve) => setTimeout(resolve))
}

/** A node that waits for a second and works then, and two apps on one store: what they did, and how to leave one asleep. */
function world(work: () => unknown) {
  const calls: string[] = []
  const napping = graph({
    name: 'napping',
    state: { n: field<number>(0) },
    nodes: {
      nap: async (_, ctx) => {
        await ctx.wait(new Date(ctx.now() + 1000))
        calls.push('woken')
        await work()
        return {}
      },
    },
    edges: { start: 'nap', nap: 'end' },
  })
  const clock: ManualClock = manualClock(START)
  const store = memory()
  const one = compile(napping, { store, clock, logger: silent }) as CompiledGraph
  const two = compile(napping, {
    store: withFaults(store),
    clock,
    logger: silent,
  }) as CompiledGraph
  const asleep = async (more: object = {}): Promise<{ readonly done: Promise<unknown> }> => {
    const done = one.runUntilDone({ thread: 't', input: {}, ...more } as never)
    done.catch(() => {})
    await settled()
    return { done }
  }
  return { calls, clock, one, two, asleep }
}

test('a thread that is cancelled while one sleeps stays so, and the sleeper hears of it', async () => {
  const { calls, clock, two, one, asleep } = world(() => {})
  const { done } = await asleep()
  await two.cancel('t', 'not wanted')
  await clock.advance(1000)
  expect(await failure(done)).toMatchObject({ name: 'Cancelled', code: 'cancelled' })
  expect(calls).toEqual([])
  expect((await one.state('t'))?.status).toBe('cancelled')
})

test('what fails after somebody else has woken it is not tried again: the sleeper comes to the same failure', async () => {
  const { calls, clock, two, asleep } = world(() => {
    throw new Error('broken')
  })
  const { done } = await asleep()
  await two.tick({ now: clock.now() + 1000 })
  await clock.advance(1000)
  expect(await failure(done)).toMatchObject({ name: 'Error', message: 'broken' })
  expect(calls).toEqual(['woken'])
})

test('a branch that somebody makes while one sleeps is not run by the sleeper', async () => {
  const { clock, one, two, asleep } = world(() => {})
  const { done } = await asleep()
  const { checkpoint: from } = (await two.state('t'))!
  await two.fork('t', { from })
  await clock.advance(1000)
  expect(await failure(done)).toMatchObject({ code: 'nothing_to_resume' })
  expect((await one.state('t'))?.status).toBe('starting')
})

test('an abort ends the waiting for somebody else who has woken the thread', async () => {
  let free = (): void => {}
  const { clock, two, one, asleep } = world(() => new Promise<void>((resolve) => (free = resolve)))
  const control = new AbortController()
  const { done } = await asleep({ signal: control.signal })
  const ticked = two.tick({ now: clock.now() + 1000 })
  await settled()
  await clock.advance(1000)
  await settled()
  const reason = new Error('enough')
  control.abort(reason)
  expect(await failure(done)).toBe(reason)
  free()
  await ticked
  expect((await one.state('t'))?.status).toBe('success')
})
