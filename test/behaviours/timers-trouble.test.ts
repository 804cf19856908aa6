// B29, beyond the letter: what a driver of clocks meets.
import { compile, field, graph, memory, type Store } from 'heddle'
import { manualClock } from 'heddle/testing'
import { expect, it } from 'vitest'

import { failure, keepBooks } from './harness.ts'
import { DAY, EIGHT, fresh, HOUR, sleeper } from './timers-parts.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

/** The store, but reads of heads fail (or find nothing) while told to. */
function shaky(store: Store): Store & { how: 'fine' | 'fails' | 'blind' } {
  return Object.assign(Object.create(store) as Store, {
    how: 'fine' as const,
    async get(this: { how: string }, keys: readonly string[]) {
      if (this.how === 'fails' && keys[0]?.startsWith('h/')) throw new Error('not now')
      if (this.how === 'blind') return keys.map(() => undefined)
      return store.get(keys)
    },
  })
}

it('a store that can not be read for a moment costs no wait its waking', async () => {
  const clock = manualClock(new Date(EIGHT))
  const store = shaky(memory())
  const calls = fresh()
  const warned: string[] = []
  const logger = { ...silent, warn: (message: string) => void warned.push(message) }
  const app = compile(sleeper(calls), { clock, store, logger })
  await app.run({ thread: 'a', input: {} })
  await app.run({ thread: 'b', input: {} })
  clock.set(new Date(EIGHT + HOUR))
  store.how = 'fails'
  expect(await app.tick()).toEqual({ woken: [], recovered: [] })
  expect(warned).toHaveLength(2)
  store.how = 'fine'
  expect((await app.tick()).woken).toEqual(['a', 'b'])
})

it('where reads may lag, a head that is not seen proves nothing', async () => {
  const clock = manualClock(new Date(EIGHT))
  const under = memory()
  const store = shaky(
    Object.assign(Object.create(under) as Store, {
      caps: { ...under.caps, consistency: 'eventual' as const },
    }),
  )
  const calls = fresh()
  const app = compile(sleeper(calls), { clock, store })
  await app.run({ thread: 't', input: {} })
  clock.set(new Date(EIGHT + HOUR))
  store.how = 'blind'
  expect((await app.tick()).woken).toEqual([])
  store.how = 'fine'
  expect((await app.tick()).woken).toEqual(['t'])
})

it('a row that a deleted thread left behind is removed', async () => {
  const clock = manualClock(new Date(EIGHT))
  const store = memory()
  const app = compile(sleeper(fresh()), { clock, store })
  await app.run({ thread: 't', input: {} })
  const [row] = await store.list({ prefix: 'd/', limit: 1 })
  await app.delete('t')
  await store.commit({ puts: [{ key: row?.key ?? '', value: row?.value ?? '' }] })
  clock.set(new Date(EIGHT + DAY))
  expect(await app.tick()).toEqual({ woken: [], recovered: [] })
  expect(await store.list({ prefix: 'd/', limit: 9 })).toEqual([])
})

it('a thread whose graph has changed is not counted as woken, and stands in no other’s way', async () => {
  const clock = manualClock(new Date(EIGHT))
  const store = memory()
  const warned: unknown[] = []
  const logger = { ...silent, warn: (_: string, data?: object) => void warned.push(data) }
  const make = (name: string) =>
    graph({
      name: 'changed',
      state: { out: field<string>('') },
      nodes: {
        [name]: async (_: unknown, ctx: { sleep(ms: number): Promise<void> }) => {
          await ctx.sleep(HOUR)
          return { out: name }
        },
      },
      edges: { start: name, [name]: 'end' },
    } as never)
  await compile(make('old'), { clock, store }).run({ thread: 'a', input: {} })
  const app = compile(make('fresh'), { clock, store, logger })
  await app.run({ thread: 'b', input: {} })
  clock.set(new Date(EIGHT + HOUR))
  expect(await app.tick()).toEqual({ woken: ['b'], recovered: [] })
  expect(warned).toMatchObject([{ thread: 'a', error: { code: 'graph_changed' } }])
  expect((await app.state('b'))?.state).toEqual({ out: 'fresh' })
  // Mended, it goes on.
  expect((await compile(make('old'), { clock, store }).tick()).woken).toEqual(['a'])
})

it.each([Number.NaN, Infinity, '5', null])(
  'a tick at %s is refused: nobody loses a lease',
  async (now) => {
    const app = compile(sleeper(fresh()), { clock: manualClock(new Date(EIGHT)) })
    await app.run({ thread: 't', input: {} })
    expect(await failure(app.tick({ now: now as number }))).toBeInstanceOf(RangeError)
    expect((await app.state('t'))?.status).toBe('waiting')
  },
)

it('a wait that is made while others are woken is in `next`, also when it is the earliest', async () => {
  const clock = manualClock(new Date(EIGHT))
  const app = compile(
    graph({
      name: 'poll',
      state: { n: field<number>(0) },
      nodes: {
        async poll({ n }, ctx) {
          await ctx.sleep(n === 0 ? HOUR : 1000)
          return { n: n + 1 }
        },
      },
      edges: { start: 'poll', poll: ({ n }) => (n < 3 ? 'poll' : 'end') },
    }),
    { clock },
  )
  await app.run({ thread: 'often', input: {} })
  clock.set(new Date(EIGHT + 1))
  await app.run({ thread: 'late', input: {} })
  clock.set(new Date(EIGHT + HOUR))
  expect(await app.tick()).toEqual({
    woken: ['often'],
    recovered: [],
    next: new Date(EIGHT + HOUR + 1),
  })
  clock.set(new Date(EIGHT + HOUR + 500))
  expect(await app.tick()).toEqual({
    woken: ['late'],
    recovered: [],
    next: new Date(EIGHT + HOUR + 1000),
  })
})
