// B13: the order in which updates are folded is that of the graph, live, after a pause and after a failure.
import { append, each, field, graph, merge, reduced } from 'heddle'
import { expect, test } from 'vitest'
import { after, eachWay, keepBooks, mulberry32, SEEDS, shuffled, Story } from './harness.ts'

keepBooks()

const log = () => reduced(field<string[]>([]), append)

test('nodes that take their time in any order are folded in the order of their declaration', async () => {
  const ends = new Set<string>()
  await Promise.all(
    SEEDS.map(async (seed) => {
      const random = mulberry32(seed)
      const order = shuffled(random, [0, 8, 16, 24, 32])
      const finished: string[] = []
      const story = new Story(() => five(order, finished), 'rebuilt from the store', {
        thread: `t${seed}`,
      })
      const { state } = await story.start()
      ends.add(finished.join())
      expect(state).toEqual({
        log: ['a', 'b', 'c', 'w0', 'w1'],
        own: 'abcw0w1',
        last: { by: 'w1' },
      })
      expect((await story.snapshot()).state).toEqual(state)
      const [, step] = await story.history()
      expect(step?.state).toEqual({ log: [], own: '', last: {} })
    }),
  )
  expect(ends.size, 'different orders of finishing').toBeGreaterThan(30)
})

function five(delays: readonly number[], finished: string[]) {
  const say = async (name: string, at: number) => {
    await after(delays[at] as number)
    finished.push(name)
    return { log: [name], own: name, last: { by: name } }
  }
  return graph({
    name: 'five',
    state: {
      log: log(),
      own: reduced(field(''), (all: string, one: string) => all + one),
      last: reduced(field<Record<string, string>>({}), merge),
    },
    nodes: {
      a: () => say('a', 0),
      b: () => say('b', 1),
      c: () => say('c', 2),
      w: { item: field<number>(), run: (_, { item }) => say(`w${item}`, 3 + item) },
    },
    // Another order than that of the declaration.
    edges: {
      start: () => [each('w', [0, 1]), 'c', 'a', 'b'],
      a: 'end',
      b: 'end',
      c: 'end',
      w: 'end',
    },
  })
}

eachWay('a node that was answered later is folded in its place, each write once', async (open) => {
  const calls: string[] = []
  let folds = 0
  const make = () =>
    graph({
      name: 'paused',
      state: {
        log: reduced(field<string[]>([]), (all: string[], more: string[]) => {
          folds++
          return [...all, ...more]
        }),
      },
      nodes: {
        s: () => {},
        async a() {
          calls.push('a')
          await after(6)
          return { log: ['a'] }
        },
        async b(_, ctx) {
          calls.push('b')
          const first = await ctx.interrupt('1')
          const second = await ctx.interrupt('2')
          return { log: [`b${String(first)}${String(second)}`] }
        },
        c() {
          calls.push('c')
          return { log: ['c'] }
        },
        j: () => {},
      },
      edges: { start: 's', s: ['a', 'b', 'c'], a: 'j', b: 'j', c: 'j', j: 'end' },
    })
  const story = open(make)
  expect((await story.start()).state).toEqual({ log: [] })
  await story.answerOne('x')
  expect(folds, 'folds before the step closed').toBe(0)
  const { state, status } = await story.answerOne('y')
  expect({ state, status }).toEqual({ state: { log: ['a', 'bxy', 'c'] }, status: 'success' })
  expect(folds).toBe(3)
  expect(calls.toSorted()).toEqual(['a', 'b', 'b', 'b', 'c'])
  await story.history()
  expect(folds, 'folds after reading everything').toBe(3)
})

eachWay(
  'what had finished before a sibling failed is kept, and folded in its place once',
  async (open) => {
    const calls: string[] = []
    let broken = true
    const say = (name: string, ms: number) => async () => {
      calls.push(name)
      await after(ms)
      if (name === 'b' && broken) throw new Error('broken')
      return { log: [name] }
    }
    const make = () =>
      graph({
        name: 'failed',
        state: { log: log() },
        nodes: { a: say('a', 2), b: say('b', 12), c: say('c', 0), j: () => {} },
        edges: { start: ['a', 'b', 'c'], a: 'j', b: 'j', c: 'j', j: 'end' },
      })
    for (const durability of ['step', 'exit'] as const) {
      broken = true
      calls.length = 0
      const story = open(make, { durability })
      await expect(story.start()).rejects.toThrow('broken')
      expect((await story.snapshot()).state).toEqual({ log: [] })
      broken = false
      expect((await story.goOn()).state, durability).toEqual({ log: ['a', 'b', 'c'] })
      expect(calls, durability).toEqual(['a', 'b', 'c', 'b'])
    }
  },
)

eachWay('another turn folds its input first, then its nodes', async (open) => {
  const make = () =>
    graph({
      name: 'turns',
      state: { log: log(), n: field(7) },
      nodes: {
        a: ({ log: seen }) => ({ log: [`a${seen.length}`] }),
        b: ({ log: seen }) => ({ log: [`b${seen.length}`] }),
      },
      edges: { start: ['a', 'b'], a: 'end', b: 'end' },
    })
  const story = open(make)
  await story.start({ log: ['i'], n: 1 })
  const { state } = await story.start({ log: ['j'] })
  expect(state).toEqual({ log: ['i', 'a1', 'b1', 'j', 'a4', 'b4'], n: 1 })
})
