// B02: several questions at once, in one node, in nodes side by side and in child graphs. The batch of a tool executor
// comes with the tools.
import { describe, expect } from 'vitest'
import { append, each, field, graph, reduced, subgraph, type Context, type Graph } from 'heddle'
import { after, asks, everyWay, keepBooks, type Story } from './harness.ts'

keepBooks()

const LETTERS = ['a', 'b', 'c'] as const
type Delays = readonly [number, number, number]
/** How long each of the three takes before it asks: in the first pass, and in later ones. */
type Pace = readonly [first: Delays, later: Delays]

const PACES: readonly Pace[] = [
  [
    [5, 10, 0],
    [5, 10, 0],
  ],
  [
    [5, 10, 0],
    [0, 5, 10],
  ],
  [
    [0, 5, 10],
    [10, 5, 0],
  ],
  [
    [0, 0, 0],
    [10, 0, 5],
  ],
]

// Of a bare `Promise.all` in a node only those questions are recorded that were asked when the node fell quiet.
const SHAPES: Readonly<Record<string, (pace: () => Delays, calls: { n: number }) => Graph>> = {
  'a bare Promise.all': (pace, calls) =>
    node(calls, (ctx) =>
      Promise.all(LETTERS.map((t, i) => later(pace(), i, () => ctx.interrupt({ t })))),
    ),
  'a bare Promise.all with keys': (pace, calls) =>
    node(calls, (ctx) =>
      Promise.all(LETTERS.map((t, i) => later(pace(), i, () => ctx.interrupt({ t }, { key: t })))),
    ),
  'child graphs in a bare Promise.all': (pace, calls) =>
    node(calls, (ctx) =>
      Promise.all(LETTERS.map((t, i) => later(pace(), i, () => inChild(ctx, t)))),
    ),
  'child graphs with keys': (pace, calls) =>
    node(calls, (ctx) =>
      Promise.all(LETTERS.map((t, i) => later(pace(), i, () => inChild(ctx, t, { key: t })))),
    ),
  'child graphs that take their time': (pace, calls) =>
    node(calls, (ctx) => Promise.all(LETTERS.map((t, i) => inChild(ctx, t, {}, () => pace()[i])))),
  'nodes side by side': beside,
  'child graphs as nodes side by side': (pace) => childNodes(pace),
  'tasks of an each': eachTasks,
}

for (const [shape, make] of Object.entries(SHAPES)) {
  describe(shape, () => {
    for (const pace of PACES) {
      everyWay(`every answer finds its question at ${JSON.stringify(pace)}`, async (open) => {
        let pass = -1
        const calls = { n: 0 }
        const story = open(() => make(() => pace[pass > 0 ? 1 : 0] as Delays, calls))
        const ids = new Map<string, string>()
        let now = (pass++, await story.start())
        while (now.status === 'interrupted') {
          expect(now.open.length).toBeGreaterThan(0)
          for (const { id, payload } of now.open) {
            const { t } = payload as { t: string }
            expect(ids.get(t) ?? id).toBe(id)
            ids.set(t, id)
          }
          // The last one that is open, so that the order of answers is not that of questions.
          const { id, payload } = now.open.at(-1) as (typeof now.open)[number]
          pass++
          now = await story.answer({ [id]: `v${(payload as { t: string }).t}` })
        }
        expect(now.state['got']).toEqual(['va', 'vb', 'vc'])
        expect(new Set(ids.values()).size).toBe(3)
        expect(story.events('interrupt')).toHaveLength(3)
      })
    }
  })
}

// These have all three on record after the first pass, whatever the pace.
const COMPLETE = [
  'child graphs that take their time',
  'nodes side by side',
  'child graphs as nodes side by side',
  'tasks of an each',
]
for (const shape of COMPLETE) {
  everyWay(
    `${shape}: a bare answer is refused and answers by id are not mixed up`,
    async (open) => {
      let pace: Delays = [5, 10, 0]
      const calls = { n: 0 }
      const story = open(() => (SHAPES[shape] as (typeof SHAPES)[string])(() => pace, calls))
      const asked = await story.start()
      expect(asked.open).toHaveLength(3)
      expect(asked.events.filter(({ kind }) => kind === 'interrupt')).toHaveLength(3)
      const [a, b, c] = LETTERS.map((t) => asks(asked.open, { t }))
      expect(new Set([a?.id, b?.id, c?.id]).size).toBe(3)
      await refusesBare(story, 3, calls)

      pace = [0, 5, 10]
      const one = await story.answer({ [b?.id as string]: 'vb' })
      expect(one.status).toBe('interrupted')
      expect(new Set(one.open.map(({ id }) => id))).toEqual(new Set([a?.id, c?.id]))
      await refusesBare(story, 2, calls)

      const ended = await story.answer({ [c?.id as string]: 'vc', [a?.id as string]: 'va' })
      expect(ended).toMatchObject({ status: 'success', state: { got: ['va', 'vb', 'vc'] } })
    },
  )
}

everyWay('questions asked in one breath are all on record', async (open) => {
  const calls = { n: 0 }
  const story = open(() =>
    node(calls, (ctx) =>
      Promise.all(
        LETTERS.map(async (t, turns) => {
          for (; turns > 0; turns--) await undefined
          return ctx.interrupt({ t })
        }),
      ),
    ),
  )
  const asked = await story.start()
  expect(asked.open.map(({ payload }) => payload)).toEqual(LETTERS.map((t) => ({ t })))
  await refusesBare(story, 3, calls)
  const answers = asked.open.map(({ id, payload }) => [id, `v${(payload as { t: string }).t}`])
  const ended = await story.answer(Object.fromEntries(answers.toReversed()))
  expect(ended.state).toEqual({ got: ['va', 'vb', 'vc'] })
  expect(calls.n).toBe(2)
})

async function refusesBare(story: Story, open: number, calls: { n: number }): Promise<void> {
  const { n } = calls
  const error = await story.refuses({ answer: 'x' }, 'ambiguous_resume')
  expect(error).toMatchObject({ details: { interruptions: { length: open } } })
  expect(await story.open()).toHaveLength(open)
  expect(calls.n).toBe(n)
}

async function later<Value>(pace: Delays, i: number, work: () => Value): Promise<Awaited<Value>> {
  const ms = pace[i] as number
  if (ms > 0) await after(ms)
  return await work()
}

function node(calls: { n: number }, run: (ctx: Context) => Promise<unknown[]>): Graph {
  return graph({
    name: 'node',
    state: { got: field<unknown>(undefined) },
    nodes: {
      async tools(_, ctx) {
        calls.n++
        return { got: await run(ctx) }
      },
    },
    edges: { start: 'tools', tools: 'end' },
  })
}

async function inChild(
  ctx: Context,
  t: string,
  options: { key?: string } = {},
  ms: () => number | undefined = () => 0,
): Promise<unknown> {
  return (await ctx.child(asking(ms), { t }, options)).got
}

function asking(ms: () => number | undefined) {
  return graph({
    name: 'asking',
    state: { t: field<string>(), got: field<unknown>(undefined) },
    nodes: {
      async ask({ t }, ctx) {
        await after(ms() ?? 0)
        return { got: await ctx.interrupt({ t }) }
      },
    },
    edges: { start: 'ask', ask: 'end' },
  })
}

function beside(pace: () => Delays, calls: { n: number }): Graph {
  const ask = (i: number) => async (_: unknown, ctx: Context) => {
    calls.n++
    return { got: [await later(pace(), i, () => ctx.interrupt({ t: LETTERS[i] }))] }
  }
  return graph({
    name: 'beside',
    state: { got: reduced(field<unknown[]>([]), append) },
    nodes: { a: ask(0), b: ask(1), c: ask(2) },
    edges: { start: ['a', 'b', 'c'], a: 'end', b: 'end', c: 'end' },
  })
}

function childNodes(pace: () => Delays): Graph {
  const ask = (i: number) =>
    subgraph(
      asking(() => pace()[i]),
      {
        input: () => ({ t: LETTERS[i] as string }),
        output: ({ got }) => ({ got: [got] }),
      },
    )
  return graph({
    name: 'child-nodes',
    state: { got: reduced(field<unknown[]>([]), append) },
    nodes: { left: ask(0), middle: ask(1), right: ask(2) },
    edges: { start: ['left', 'middle', 'right'], left: 'end', middle: 'end', right: 'end' },
  })
}

function eachTasks(pace: () => Delays, calls: { n: number }): Graph {
  return graph({
    name: 'each-tasks',
    state: { got: reduced(field<unknown[]>([]), append) },
    nodes: {
      ask: {
        item: field<number>(),
        async run(_, ctx) {
          calls.n++
          return {
            got: [await later(pace(), ctx.item, () => ctx.interrupt({ t: LETTERS[ctx.item] }))],
          }
        },
      },
    },
    edges: { start: () => each('ask', [0, 1, 2]), ask: 'end' },
  })
}
