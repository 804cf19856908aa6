// B13: two writers of a field without a reducer.
import { append, each, field, goto, graph, reduced, type Graph } from 'heddle'
import { expect, test } from 'vitest'
import { eachWay, keepBooks, Story } from './harness.ts'

keepBooks()

eachWay(
  'two nodes of one step that set one field are refused, and fixing the graph mends the thread',
  async (open) => {
    const calls: string[] = []
    let mended = false
    const make = (): Graph =>
      graph({
        name: 'conflict',
        state: {
          x: mended ? reduced(field(''), (a: string, b: string) => a + b) : field(''),
          log: reduced(field<string[]>([]), append),
        },
        nodes: {
          s: () => ({ x: 's' }),
          a() {
            calls.push('a')
            return { x: 'v', log: ['a'] }
          },
          async b() {
            calls.push('b')
            // The same value is a conflict too: whether two values are alike is chance.
            return { log: ['b'], x: 'v' }
          },
          j: () => {},
        },
        edges: { start: 's', s: ['a', 'b'], a: 'j', b: 'j', j: 'end' },
      }) as Graph
    const story = open(make)
    const refusal = {
      code: 'write_conflict',
      details: { field: 'x', nodes: ['a', 'b'] },
      message:
        'Cannot fold field "x" of graph "conflict": nodes "a" and "b" both set it in one step and it has no reducer',
    }
    await expect(story.start()).rejects.toMatchObject(refusal)
    const before = await story.history()
    expect(before.map(({ state, next, status }) => ({ state, next, status }))).toEqual([
      { state: { x: 's', log: [] }, next: ['a', 'b'], status: 'error' },
      { state: { x: '', log: [] }, next: ['s'], status: 'running' },
    ])
    expect(before[0]?.error).toMatchObject({ name: 'WriteConflict', code: 'write_conflict' })
    // What they returned is kept: neither is entered again.
    await expect(story.goOn()).rejects.toMatchObject(refusal)
    expect(calls).toEqual(['a', 'b'])
    mended = true
    const fixed = new Story(make, 'rebuilt from the store', { store: story.store })
    expect((await fixed.goOn()).state).toEqual({ x: 'svv', log: ['a', 'b'] })
    expect(calls).toEqual(['a', 'b'])
  },
)

const writers: Readonly<Record<string, readonly [graph: () => Graph, nodes: readonly string[]]>> = {
  'two tasks of one each': [
    () =>
      graph({
        name: 'g',
        state: { x: field(0) },
        nodes: { w: { item: field<number>(), run: (_, { item }) => ({ x: item }) } },
        edges: { start: () => each('w', [1, 2]), w: 'end' },
      }),
    ['w', 'w'],
  ],
  'an update of a goto, and undefined': [
    () =>
      graph({
        name: 'g',
        state: { x: field<unknown>(0) },
        nodes: { a: () => goto('end', { x: 1 }), b: () => ({ x: undefined }) },
        edges: { start: ['a', 'b'], a: 'end', b: 'end' },
      }),
    ['a', 'b'],
  ],
  'two nodes of a child graph': [
    () => {
      const inner = graph({
        name: 'inner',
        state: { x: field(0) },
        nodes: { c: () => ({ x: 1 }), d: () => ({ x: 1 }) },
        edges: { start: ['c', 'd'], c: 'end', d: 'end' },
      })
      return graph({
        name: 'g',
        state: { x: field(0) },
        nodes: { n: async (_, ctx) => ({ x: (await ctx.child(inner, {})).x }) },
        edges: { start: 'n', n: 'end' },
      })
    },
    ['c', 'd'],
  ],
}

for (const [what, [make, nodes]] of Object.entries(writers)) {
  test(`a conflict names the field and both nodes: ${what}`, async () => {
    for (const durability of ['step', 'exit'] as const) {
      const story = new Story(make, 'in process', { durability })
      await expect(story.start()).rejects.toMatchObject({
        code: 'write_conflict',
        details: { field: 'x', nodes },
      })
      const history = await story.history()
      expect(history.map(({ state, status }) => ({ state, status }))).toEqual([
        { state: { x: 0 }, status: 'error' },
      ])
    }
  })
}

test('a field is set in step after step, and by the one node of a step that sets it', async () => {
  const make = () =>
    graph({
      name: 'g',
      state: { x: field(0), y: field(0) },
      nodes: { a: () => ({ x: 1 }), b: () => ({ y: 2 }), c: ({ x }) => ({ x: x + 10 }) },
      edges: { start: ['a', 'b'], a: 'c', b: 'c', c: 'end' },
    })
  expect((await new Story(make, 'in process').start()).state).toEqual({ x: 11, y: 2 })
})
