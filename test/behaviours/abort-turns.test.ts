// B25: an abort after every number of turns that a run of four steps takes, one by one.
import { append, compile, field, graph, memory, reduced, type Graph } from 'heddle'
import { expect, it } from 'vitest'
import { all, countingClock, keepBooks } from './harness.ts'

keepBooks()

const four = (): Graph =>
  graph({
    name: 'four',
    state: { log: reduced(field<string[]>([]), append) },
    nodes: {
      one: () => ({ log: ['one'] }),
      async two(_, ctx) {
        await ctx.once('work', () => 'x')
        return { log: ['two'] }
      },
      also: async () => ({ log: ['also'] }),
      async three() {
        await Promise.resolve()
        return { log: ['three'] }
      },
      four: () => ({ log: ['four'] }),
    },
    edges: {
      start: 'one',
      one: ['two', 'also'],
      two: 'three',
      also: 'three',
      three: async () => 'four' as const,
      four: 'end',
    },
  })

it.each([
  ['step', 'abort'],
  ['step', 'leave'],
  ['exit', 'abort'],
] as const)(
  'at any turn (durability %s, by %s) leaves a thread that comes to its right end',
  async (durability, how) => {
    const statuses = new Set<string | undefined>()
    for (let turns = 0; turns < 2000; turns++) {
      const store = memory()
      const app = compile(four(), { store, clock: countingClock(), durability })
      const live = app.stream({ thread: 't', input: {} })
      const reader = live[Symbol.asyncIterator]()
      for (let turn = 0; turn < turns; turn++) await Promise.resolve()
      const reason = new Error('stop')
      if (how === 'abort') live.abort(reason)
      else await reader.return?.()
      const outcome = await live.outcome.catch((error: unknown) => error)
      const left = await app.state('t')
      expect([undefined, 'cancelled', 'success'], `after ${turns} turns`).toContain(left?.status)
      if (left?.status === 'success') expect(outcome).toMatchObject({ status: 'success' })
      else if (how === 'abort') expect(outcome).toBe(reason)
      else expect(outcome).toMatchObject({ code: 'cancelled' })
      const next = compile(four(), { store, clock: countingClock() })
      if (left?.status !== 'success') await next.run({ thread: 't', ...(!left && { input: {} }) })
      const ended = await next.state('t')
      expect(ended?.status).toBe('success')
      expect(ended?.state, `after ${turns} turns`).toEqual({
        log: ['one', 'two', 'also', 'three', 'four'],
      })
      const history = await all(next.history('t'))
      const parents = history.flatMap(({ parent }) => parent ?? [])
      expect(new Set(parents).size).toBe(history.length - 1)
      statuses.add(left?.status)
      if (left?.status === 'success' && turns > 20) break
    }
    expect(statuses).toEqual(new Set([undefined, 'cancelled', 'success']))
  },
)
