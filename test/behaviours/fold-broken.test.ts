// B13: what breaks between the nodes of a step and its checkpoint: reducers, schemas, routers.
import { append, compile, field, graph, memory, reduced, subgraph, type Schema } from 'heddle'
import { expect, test } from 'vitest'
import { after, eachWay, keepBooks } from './harness.ts'

keepBooks()

/** Where the graph is broken until it is mended. */
const places = ['reducer', 'late schema', 'schema', 'router', 'late router', 'item'] as const

for (const place of places) {
  for (const durability of ['step', 'exit'] as const) {
    eachWay(
      `a ${place} that throws fails the run, and what the nodes did counts once (${durability})`,
      async (open) => {
        const calls: string[] = []
        let broken = true
        const story = open(() => breakable(place, calls, () => broken), { durability })
        await expect(story.start()).rejects.toThrow(/broken/)
        expect(calls).toEqual(['s', 'a', 'b', 'c'])
        const [newest] = await story.history()
        expect(newest).toMatchObject({
          status: 'error',
          next: ['a', 'b', 'c'],
          state: { log: ['s'], own: '' },
        })
        expect(newest?.error?.message).toMatch(/broken/)
        await expect(story.goOn()).rejects.toThrow(/broken/)
        broken = false
        const { state, status } = await story.goOn()
        expect({ state, status }).toEqual({
          state: { log: ['s', 'a', 'b', 'c'], own: 'abc' },
          status: 'success',
        })
        expect(calls).toEqual(['s', 'a', 'b', 'c'])
      },
    )
  }
}

function breakable(place: (typeof places)[number], calls: string[], broken: () => boolean) {
  const fail = (where: string): void => {
    if (where === place && broken()) throw new Error(`${where} is broken`)
  }
  const text: Schema<string | undefined, string> = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate(value = '') {
        // Only the folded value is ever of two letters.
        const result =
          String(value).length > 1 && place.endsWith('schema') && broken()
            ? { issues: [{ message: 'broken' }] }
            : { value: value as string }
        return place === 'late schema' ? after(1).then(() => result) : result
      },
    },
  }
  const node = (name: string) => () => {
    calls.push(name)
    return { log: [name], ...(name !== 's' && { own: name }) }
  }
  return graph({
    name: 'breakable',
    state: {
      log: reduced(field<string[]>([]), append),
      own: reduced(text, (all: string, one: string) => {
        if (one === 'b') fail('reducer')
        return all + one
      }),
    },
    nodes: {
      s: node('s'),
      a: node('a'),
      b: node('b'),
      c: node('c'),
      w: { item: field<string>(), run: () => {} },
    },
    edges: {
      start: 's',
      s: ['a', 'b', 'c'],
      a: 'end',
      b() {
        fail('router')
        fail('item')
        return 'end'
      },
      async c() {
        await after(1)
        fail('late router')
        return 'end' as const
      },
      w: 'end',
    },
  })
}

eachWay(
  'a loop that fails goes on where it stopped, whatever its nodes are called',
  async (open) => {
    const rounds: number[] = []
    const tasks: string[] = []
    let broken = true
    const make = () =>
      graph({
        name: 'loop',
        state: { n: field(0), log: reduced(field<string[]>([]), append) },
        nodes: {
          async a({ n }, ctx) {
            tasks.push(ctx.task)
            rounds.push(n)
            return { n: await ctx.once('next', () => n + 1), log: [`a${n}`] }
          },
          async b({ n }) {
            await after(3)
            if (n === 2 && broken) throw new Error('broken')
            return { log: [`b${n}`] }
          },
          j: () => {},
        },
        edges: { start: ['a', 'b'], a: 'j', b: 'j', j: ({ n }) => (n < 4 ? ['a', 'b'] : 'end') },
      })
    for (const durability of ['step', 'exit'] as const) {
      broken = true
      rounds.length = tasks.length = 0
      const story = open(make, { durability })
      await expect(story.start()).rejects.toThrow('broken')
      broken = false
      const { state } = await story.goOn()
      expect(state, durability).toEqual({
        n: 4,
        log: ['a0', 'b0', 'a1', 'b1', 'a2', 'b2', 'a3', 'b3'],
      })
      expect(rounds, durability).toEqual([0, 1, 2, 3])
      expect(new Set(tasks).size, `${durability}: tasks of different rounds`).toBe(4)
    }
  },
)

test('a child graph gives what is new, and the list of the parent is not doubled', async () => {
  const list = () => reduced(field<string[]>([]), append)
  const child = graph({
    name: 'child',
    state: { log: list() },
    nodes: { c: ({ log }) => ({ log: [`c${log.length}`] }) },
    edges: { start: 'c', c: 'end' },
  })
  const parent = graph({
    name: 'parent',
    state: { log: list() },
    nodes: {
      s: () => ({ log: ['s'] }),
      sub: subgraph(child, {
        input: ({ log }: { readonly log: string[] }) => ({ log }),
        output: (end, { log }) => ({ log: end.log.slice(log.length) }),
      }),
      own: async (_, ctx) => ({ log: (await ctx.child(child, {})).log }),
    },
    edges: { start: 's', s: 'sub', sub: 'own', own: 'end' },
  })
  const store = memory()
  const { state } = await compile(parent, { store }).run({ thread: 't', input: {} })
  expect(state).toEqual({ log: ['s', 'c1', 'c0'] })
  expect((await compile(parent, { store }).state('t'))?.state).toEqual(state)
})

eachWay(
  'a run that is stored at its pauses only keeps what was done once before each',
  async (open) => {
    const works: string[] = []
    const once = (name: string) => () => {
      works.push(name)
      return name
    }
    const inner = graph({
      name: 'inner',
      state: { got: field<unknown>(undefined) },
      nodes: {
        first: async (_, ctx) => ({ got: await ctx.once('w', once('i1')) }),
        async second(_, ctx) {
          const kept = await ctx.once('w', once('i2'))
          return { got: [kept, await ctx.interrupt('inner?')] }
        },
      },
      edges: { start: 'first', first: 'second', second: 'end' },
    })
    const make = () =>
      graph({
        name: 'exit',
        state: { log: reduced(field<unknown[]>([]), append) },
        nodes: {
          a: async (_, ctx) => ({ log: [await ctx.once('w', once('a'))] }),
          async b(_, ctx) {
            const kept = await ctx.once('w', once('b'))
            const one = await ctx.interrupt('1')
            const more = await ctx.once('v', once('c'))
            return { log: [kept, one, more, await ctx.interrupt('2')] }
          },
          side: async (_, ctx) => ({ log: [await ctx.once('w', once('side'))] }),
          d: async (_, ctx) => ({ log: [(await ctx.child(inner, {})).got] }),
        },
        edges: { start: 'a', a: ['b', 'side'], b: 'd', side: 'd', d: 'end' },
      })
    const story = open(make, { durability: 'exit' })
    await story.start()
    await story.answerOne('x')
    await story.answerOne('y')
    const { state } = await story.answerOne('z')
    expect(state).toEqual({ log: ['a', 'b', 'x', 'c', 'y', 'side', ['i2', 'z']] })
    expect(works).toEqual(['a', 'b', 'side', 'c', 'i1', 'i2'])
  },
)
