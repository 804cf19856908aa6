// B01–B03 in child graphs: questions at several levels, and children whose node is over.
import { describe, expect } from 'vitest'
import { append, field, graph, memory, reduced, subgraph, type Context, type Graph } from 'heddle'
import {
  after,
  asks,
  countedSignal,
  everyWay,
  failure,
  keepBooks,
  mulberry32,
  SEEDS,
  shuffled,
  times,
  unevenStore,
} from './harness.ts'
import { forest, top, type Calls } from './pauses-trees.ts'

keepBooks()

everyWay('three levels, with questions at the top and at the bottom at once', async (open) => {
  const calls: Calls = {}
  const story = open(() => top(calls))
  const asked = await story.start()
  expect(asked.open.map((one) => ({ node: one.node, ns: one.ns, payload: one.payload }))).toEqual([
    { node: 'beside', ns: [], payload: 'beside' },
    { node: 'left', ns: ['enter', 'pass'], payload: 'left' },
    { node: 'right', ns: ['enter', 'pass'], payload: 'right' },
  ])
  expect(asked.events.flatMap((event) => (event.kind === 'interrupt' ? event.node : []))).toEqual([
    'beside',
    'enter',
    'enter',
  ])
  await story.refuses({ answer: 'x' }, 'ambiguous_resume')
  expect(calls).toEqual({ first: 1, enter: 1, beside: 1, pass: 1, left: 1, right: 1 })

  const [beside, left, right] = ['beside', 'left', 'right'].map((name) => asks(asked.open, name).id)
  const one = await story.answer({ [left as string]: 'L' })
  expect(one.open.map(({ id }) => id)).toEqual([beside, right])
  expect(calls).toEqual({ first: 1, enter: 2, beside: 1, pass: 2, left: 2, right: 1 })

  const two = await story.answer({ [beside as string]: 'B' })
  expect(two.open.map(({ id }) => id)).toEqual([right])
  expect(calls).toEqual({ first: 1, enter: 2, beside: 2, pass: 2, left: 2, right: 1 })

  // The node in the middle asks too, once its child has ended.
  const three = await story.answerOne('R')
  expect(three.open).toMatchObject([{ node: 'pass', ns: ['enter'], payload: 'and?' }])
  const ended = await story.answerOne('M')
  expect(ended.state).toEqual({ got: ['first', 'L', 'R', 'after L,R', 'M', 'B'] })
  expect(calls).toEqual({ first: 1, enter: 4, beside: 2, pass: 4, left: 2, right: 2, join: 1 })
  expect(story.events('interrupt')).toHaveLength(4)
})

describe('questions of many children, answered in any order', () => {
  everyWay('end as in any other order', async (open) => {
    for (const seed of SEEDS) {
      const random = mulberry32(seed)
      const store = seed % 5 > 0 ? memory() : unevenStore(memory(), random, 1)
      const story = open(() => forest(times(random, 2)), { store, thread: `t${seed}` })
      let now = await story.start()
      const ids = new Map<unknown, string>()
      while (now.status === 'interrupted') {
        for (const { id, payload } of now.open) {
          expect(ids.get(payload) ?? id).toBe(id)
          ids.set(payload, id)
        }
        const some = shuffled(random, now.open).slice(0, 1 + Math.floor(random() * 3))
        now = await story.answer(Object.fromEntries(some.map(({ id, payload }) => [id, payload])))
      }
      const trees = [0, 1, 2].map((tree) => [`${tree}.a`, `${tree}.b`, `${tree}.a again`])
      expect(now.state, `seed ${seed}`).toEqual({ got: trees })
      expect(ids.size).toBe(9)
      expect(story.events('interrupt')).toHaveLength(9)
    }
  })
})

everyWay('a child that is given something new on re-entry goes on where it stood', async (open) => {
  let pass = 0
  const seen: unknown[] = []
  const story = open(() =>
    node(async (ctx) => {
      pass++
      const { got } = await ctx.child(
        asking(async (inner, from) => seen.push(from) && inner.interrupt('?')),
        { from: pass },
      )
      return got
    }),
  )
  const [asked] = (await story.start()).open
  const ended = await story.answer({ [asked?.id as string]: 'yes' })
  expect(ended.state).toEqual({ got: 'yes' })
  expect(seen).toEqual([1, 1])
})

everyWay('children with equal input are told apart by their order', async (open) => {
  const story = open(() =>
    node(async (ctx) => {
      const got = []
      for (let n = 0; n < 3; n++)
        got.push(
          (
            await ctx.child(
              asking((inner) => inner.interrupt('?')),
              {},
            )
          ).got,
        )
      return got
    }),
  )
  await story.start()
  for (const answer of [1, 2]) await story.answerOne(answer)
  expect((await story.answerOne(3)).state).toEqual({ got: [1, 2, 3] })
})

everyWay('a child starts fresh each time its node is run anew', async (open) => {
  const story = open(() =>
    graph({
      name: 'rounds',
      state: { got: reduced(field<unknown[]>([]), append) },
      nodes: {
        round: subgraph(
          asking((ctx) => ctx.interrupt('more?')),
          { input: () => ({}), output: ({ got }) => ({ got: [got] }) },
        ),
      },
      edges: { start: 'round', round: ({ got }) => (got.at(-1) === 'stop' ? 'end' : 'round') },
    }),
  )
  const ids = new Set([(await story.start()).open[0]?.id])
  for (const answer of ['a', 'b']) ids.add((await story.answerOne(answer)).open[0]?.id)
  expect((await story.answerOne('stop')).state).toEqual({ got: ['a', 'b', 'stop'] })
  expect(ids.size).toBe(3)
})

everyWay('a child’s error goes to the node, which may ask instead', async (open) => {
  const story = open(() =>
    node(async (ctx) => {
      const broken = asking(async (inner) => {
        await inner.interrupt('in the child')
        throw new Error('broken')
      })
      const error = await ctx.child(broken, {}).catch((thrown: Error) => thrown.message)
      return [error, await ctx.interrupt('in the node')]
    }),
  )
  await story.start()
  const asked = await story.answerOne('a')
  expect(asked.open).toMatchObject([{ ns: [], payload: 'in the node' }])
  expect((await story.answerOne('b')).state).toEqual({ got: ['broken', 'b'] })
})

for (const how of ['fails', 'is tried again', 'is aborted'] as const) {
  everyWay(`no step of a child begins once its node ${how}`, async (open) => {
    for (const seed of SEEDS.slice(0, 25)) {
      const random = mulberry32(seed)
      const store = unevenStore(memory(), random, 1)
      const ms = random() * 12
      let over = 0
      let late = 0
      const caller = countedSignal()
      const story = open(
        () =>
          graph({
            name: 'long',
            state: { got: field<unknown>(undefined) },
            nodes: {
              node: {
                ...(how === 'is tried again' && { retry: { attempts: 2, delay: 40 } }),
                async run(_, ctx) {
                  if (over > 0) return { got: 'second' }
                  const child = steps(20, () => void (over > 0 && late++))
                  const stop = async (): Promise<never> => {
                    await after(ms)
                    over++
                    if (how === 'is aborted') caller.abort(new Error('broken'))
                    throw new Error('broken')
                  }
                  await Promise.all([ctx.child(child, {}), stop()])
                },
              },
            },
            edges: { start: 'node', node: 'end' },
          }),
        { store, thread: `t${seed}` },
      )
      const more = how === 'is aborted' ? { signal: caller.signal } : {}
      if (how === 'is tried again') expect((await story.start({}, more)).status).toBe('success')
      else expect(await failure(story.start({}, more))).toMatchObject({ message: 'broken' })
      const rows = await story.rows()
      await after(30)
      expect(late, `seed ${seed}`).toBe(0)
      expect(await story.rows()).toEqual(rows)
    }
  })
}

function node(run: (ctx: Context) => Promise<unknown>): Graph {
  return graph({
    name: 'node',
    state: { got: field<unknown>(undefined) },
    nodes: { node: async (_, ctx) => ({ got: await run(ctx) }) },
    edges: { start: 'node', node: 'end' },
  })
}

function asking(run: (ctx: Context, from: unknown) => Promise<unknown>) {
  return graph({
    name: 'asking',
    state: { from: field<unknown>(undefined), got: field<unknown>(undefined) },
    nodes: { ask: async ({ from }, ctx) => ({ got: await run(ctx, from) }) },
    edges: { start: 'ask', ask: 'end' },
  })
}

function steps(length: number, entered: () => void) {
  return graph({
    name: 'steps',
    state: { n: field<number>(0) },
    nodes: {
      step({ n }) {
        entered()
        return { n: n + 1 }
      },
    },
    edges: { start: 'step', step: ({ n }) => (n < length ? 'step' : 'end') },
  })
}
