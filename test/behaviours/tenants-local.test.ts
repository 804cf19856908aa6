import { expect, test } from 'vitest'
import { compile, field, graph } from 'heddle'
import { manualClock } from 'heddle/testing'
import { all, keepBooks } from './harness.ts'

keepBooks()

const naps = graph({
  name: 'naps',
  state: { n: field<number>(0) },
  nodes: {
    nap: async ({ n }, ctx) => {
      await ctx.sleep(1000)
      return { n: n + 1 }
    },
  },
  edges: { start: 'nap', nap: ({ n }) => (n < 3 ? 'nap' : 'end') },
})

test('what runs only in this process serves a tenant too: sleeping, pruning, moving a thread', async () => {
  const clock = manualClock('2026-01-01T00:00:00Z')
  const app = compile(naps, { clock })
  const acme = app.tenant('acme')
  const work = acme.runUntilDone({ thread: 't', input: {} })
  let over = false
  void work.then(() => (over = true))
  while (!over) {
    await new Promise((resolve) => setTimeout(resolve, 1))
    await clock.advance(1000)
  }
  expect((await work).state.n).toBe(3)
  expect(await app.state('t')).toBeUndefined()

  const before = (await all(acme.history('t'))).length
  expect(await acme.prune('t', { keepLast: 1 })).toEqual({ removed: before - 1 })
  expect(await all(acme.history('t'))).toHaveLength(1)

  const value = await acme.exportThread('t')
  await expect(app.exportThread('t')).rejects.toMatchObject({ code: 'nothing_to_resume' })
  expect(await app.tenant('zeta').importThread(value)).toMatchObject({ id: 't', tenant: 'zeta' })
  expect(await app.importThread(value)).toMatchObject({ id: 't' })
  await expect(acme.importThread(value)).rejects.toMatchObject({ code: 'thread_exists' })
  for (const runner of [app, acme, app.tenant('zeta')])
    expect((await runner.state('t'))!.state).toEqual({ n: 3 })
})
