// Many calls of `next()` that wait at once: each gets its event in order, and the end comes to all that are left.
import { compile, field, graph } from 'heddle'
import { expect, it } from 'vitest'

import { keepBooks } from './harness.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

const MANY = 20_000

/** Tells so many events when somebody waits for them, and then fails if told to. */
const telling = (events: number, fails?: Error) =>
  compile(
    graph({
      name: 'telling',
      state: {},
      events: field<number>(),
      nodes: {
        async tell(_, ctx) {
          for (let i = 0; i < events; i++) await ctx.emit(i)
          if (fails) throw fails
        },
      },
      edges: { start: 'tell', tell: 'end' },
    }),
    { logger: silent },
  )

it('as many as there are events, and more', async () => {
  const reader = telling(MANY).stream({ thread: 't', input: {} })[Symbol.asyncIterator]()
  const started = performance.now()
  const results = await Promise.all(Array.from({ length: MANY + 100 }, () => reader.next()))
  expect(performance.now() - started).toBeLessThan(5000)
  const numbers = results.flatMap(({ value }) => (value ? [value.seq] : []))
  expect(numbers.length).toBeGreaterThan(MANY)
  expect(numbers).toEqual(numbers.map((_, n) => (numbers[0] as number) + n))
  // The end is told to all the others.
  expect(results.findIndex(({ done }) => done)).toBe(numbers.length)
})

it('an error is told once, to the first that waits; for the others it is over', async () => {
  const broken = new Error('broken')
  const reader = telling(2, broken).stream({ thread: 't', input: {} })[Symbol.asyncIterator]()
  const results = await Promise.allSettled(Array.from({ length: 10 }, () => reader.next()))
  const told = results.flatMap((one) =>
    one.status === 'rejected' ? [one.reason] : one.value.done ? ['over'] : [one.value.value.kind],
  )
  expect(told).toEqual(['node_start', 'backend', 'backend', broken, ...Array(6).fill('over')])
})

it('a reader that leaves ends all that wait', async () => {
  const live = telling(0).stream({ thread: 't', input: {} })
  const reader = live[Symbol.asyncIterator]()
  const waiting = [reader.next(), reader.next(), reader.next()]
  await reader.return?.()
  for (const one of await Promise.all(waiting))
    expect(one).toEqual({ value: undefined, done: true })
  await expect(live.outcome).rejects.toMatchObject({ code: 'cancelled' })
})
