// Keys and instants under clocks that count in fractions, stand still or go backwards.
import { compile, field, graph, memory, type Clock } from 'heddle'
import { expect, test } from 'vitest'
import { all, keepBooks } from './harness.ts'
import { checkKey } from './keys-tools.ts'
import { rowsOf } from './portable.ts'

keepBooks()

const asking = graph({
  name: 'asking',
  state: { n: field(0) },
  nodes: {
    async a(_, ctx) {
      await ctx.interrupt('q', { schema: field<unknown>(), expires: 1000.25 })
      await ctx.sleep(5.5)
      return { n: 1 }
    },
    b: ({ n }) => ({ n: n + 1 }),
  },
  edges: { start: 'a', a: 'b', b: ({ n }) => (n < 4 ? 'b' : 'end') },
})

let reads = 0
const times: Readonly<Record<string, () => number>> = {
  'counts in fractions': () => 1.7e12 + reads++ / 7,
  'stands still': () => 1.7e12,
  'goes backwards': () => 1.7e12 - reads++,
  'begins before 1970': () => -5e9 + reads++ / 3,
}

for (const [what, now] of Object.entries(times)) {
  test(`a clock that ${what} makes keys that sort, instants that are whole and runs that end`, async () => {
    reads = 0
    const store = memory()
    const clock: Clock = { now, after: () => () => {} }
    const app = compile(asking, { store, clock })
    await app.run({ thread: 't', input: {} })
    const before = await rowsOf(store)
    expect(await app.run({ thread: 't', answer: 1 })).toMatchObject({ status: 'waiting' })
    const [timer] = (await app.state('t'))!.timers
    expect(timer?.wakeAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(await app.tick({ now: 1.8e12 })).toEqual({ woken: ['t'], recovered: [] })
    expect((await app.state('t'))?.state).toEqual({ n: 4 })
    const steps = (await all(app.history('t'))).map(({ step }) => step)
    expect(steps, 'newest first').toEqual([4, 3, 2, 1, 0])
    expect((await all(app.runs('t'))).map(({ status }) => status)).toEqual([
      'success',
      'waiting',
      'interrupted',
    ])
    for (const key of [...before.keys(), ...(await rowsOf(store)).keys()]) {
      checkKey(key)
      if (key.startsWith('d/')) expect(key).toMatch(/^d\/asking\/[0-9a-z]{11}\//)
    }
    expect([...(await rowsOf(store, ['d/', 'o/'])).keys()], 'index rows that are left').toEqual([])
  })
}
