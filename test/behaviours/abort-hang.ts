// Graphs that hang in every place where a run may be stopped.
import { each, field, graph, reduced, subgraph, type Graph, type Schema } from 'heddle'
import { gate, type Gate } from '../fakes/gate.ts'

/** What a place that hangs needs: it says when it is there, and hangs until it is let go. */
export interface Hang {
  readonly there: Gate
  readonly held: Gate
  /** Hangs, the first time. */
  stay(): Promise<void>
  calls: Record<string, number>
}

export function hang(): Hang {
  const there = gate()
  const held = gate()
  let first = true
  return {
    there,
    held,
    calls: {},
    async stay() {
      if (!first) return
      first = false
      there.open()
      await held.promise
    },
  }
}

/** A schema that takes its time over values other than its default. */
export const slowSchema = (stay: () => Promise<void>): Schema<number, number> => ({
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) =>
      value === undefined ? { value: 0 } : stay().then(() => ({ value: value as number })),
  },
})

export const count = (calls: Record<string, number>, name: string): void =>
  void (calls[name] = (calls[name] ?? 0) + 1)

export const simple = (
  h: Hang,
  parts: object = {},
  edges: object = {},
  state: object = {},
): Graph =>
  graph({
    name: 'simple',
    state: { x: field<number>(0), ...state },
    nodes: {
      a: () => (count(h.calls, 'a'), { x: 1 }),
      b: () => (count(h.calls, 'b'), { x: 2 }),
      ...parts,
    },
    edges: { start: 'a', a: 'b', b: 'end', ...edges },
  } as never)

export const inner = (h: Hang): Graph<{ y: Schema<number | undefined, number> }, string, never> =>
  graph({
    name: 'inner',
    state: { y: field<number>(0) },
    nodes: {
      first: () => ({ y: 1 }),
      async second() {
        await h.stay()
        return { y: 2 }
      },
    },
    edges: { start: 'first', first: 'second', second: 'end' },
  })

/** Where a run may be when it is stopped; `input` where the input is what takes long. */
export const places: Record<string, (h: Hang) => Graph> = {
  'a node': (h) =>
    simple(h, {
      async a() {
        count(h.calls, 'a')
        await h.stay()
        return { x: 1 }
      },
    }),
  'one of several nodes, the others finished': (h) =>
    simple(
      h,
      {
        async c() {
          count(h.calls, 'c')
          await h.stay()
        },
      },
      { start: ['a', 'c'], c: 'end' },
    ),
  'an async router': (h) => simple(h, {}, { a: () => h.stay().then(() => 'b') }),
  'an async router of start': (h) => simple(h, {}, { start: () => h.stay().then(() => 'a') }),
  "the schema of a node's update": (h) => simple(h, {}, {}, { x: slowSchema(h.stay) }),
  'the schema of a folded field': (h) =>
    simple(h, {}, {}, { x: reduced(slowSchema(h.stay), (_old: number, by: number) => by) }),
  'the schema of an item': (h) =>
    simple(
      h,
      { b: { item: slowSchema(h.stay), run: () => (count(h.calls, 'b'), { x: 2 }) } },
      { a: () => [each('b', [1])] },
    ),
  'work under once': (h) =>
    simple(h, {
      async a(_: unknown, ctx: { once(key: string, work: () => unknown): Promise<unknown> }) {
        count(h.calls, 'a')
        await ctx.once('work', () => h.stay())
        return { x: 1 }
      },
    }),
  "a child graph's node": (h) =>
    simple(h, {
      async a(_: unknown, ctx: { child(g: Graph, input: object): Promise<unknown> }) {
        count(h.calls, 'a')
        await ctx.child(inner(h), {})
        return { x: 1 }
      },
    }),
  'a graph as a node': (h) =>
    simple(h, {
      a: subgraph(inner(h), { input: () => ({}), output: () => ({ x: 1 }) }),
    }),
}
