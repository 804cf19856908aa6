// Old checkpoints go, with all that only they needed; what stays is read as before and goes on as before.
import { append, compile, field, graph, memory, reduced, type Graph } from 'heddle'
import { manualClock } from 'heddle/testing'
import { describe, expect, it } from 'vitest'
import { quiet } from './abort-idle.ts'
import { all, failure, keepBooks, mulberry32, rowsOf } from './harness.ts'

keepBooks()

/** Counts to a number in a list of updates, and asks at every fifth. */
const counting = (most: number): Graph =>
  graph({
    name: 'counting',
    state: { n: field(0), label: field(''), list: reduced(field<string[]>([]), append) },
    nodes: {
      async count({ n }, ctx) {
        const by = await ctx.once('by', () => `by ${n}`)
        if (n % 5 === 4) return { n: n + 1, list: [`${by}: ${String(await ctx.interrupt(n))}`] }
        return { n: n + 1, ...(n % 2 ? { label: `l${n}` } : { list: [by] }) }
      },
    },
    edges: { start: 'count', count: ({ n }) => (n < most ? 'count' : 'end') },
  })

it('keeps the last and drops the rest', async () => {
  const store = memory()
  const app = compile(counting(70), { store })
  let outcome = await app.run({ thread: 't', input: {} })
  while (outcome.status !== 'success') outcome = await app.run({ thread: 't', answer: 'yes' })
  const before = await all(app.history('t'))
  const rows = (await rowsOf(store)).length
  expect(await app.prune('t', { keepLast: 10 })).toEqual({ removed: before.length - 10 })
  expect(await all(app.history('t'))).toEqual(before.slice(0, 10))
  expect((await rowsOf(store)).length).toBeLessThan(rows / 2)
  expect(await app.state('t', { checkpoint: before[10]!.checkpoint })).toBeUndefined()
  const left = await rowsOf(store)
  expect(await app.prune('t', { keepLast: 10 })).toEqual({ removed: 0 })
  expect(await rowsOf(store)).toEqual(left)
})
