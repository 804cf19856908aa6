// What the compiler holds a graph to: names, ways out, settings, items, events, children.
import { z } from 'zod'
import { append, each, field, goto, graph, reduced, subgraph } from 'heddle'
import type { Context, Graph, NodeFn, StateOf, UpdateOf } from 'heddle'
import { same } from './same.ts'

const state = { name: z.string(), tags: z.array(z.string()).default([]), city: z.string() }
const nodes = { a: () => ({ city: 'a' }), b: () => {} }
const one = { start: 'a', a: 'end' } as const

// --- names in edges
const g = graph({ name: 'g', state, nodes, edges: { start: ['a', 'b'], a: 'b', b: 'end' } })
same<typeof g, Graph<typeof state, 'a' | 'b', never>>(true)
graph({
  name: 'g',
  state,
  nodes,
  edges: { start: 'a', a: ({ tags }) => (tags[0] ? 'b' : 'end'), b: 'a' },
})
graph({
  name: 'g',
  state,
  nodes,
  edges: { start: 'a', a: () => ['a', 'b'], b: async ({ name }) => (name ? 'a' : 'end') },
})
graph({
  name: 'g',
  state,
  nodes,
  edges: { start: 'a', a: { to: ['b', 'end'], pick: () => 'b' }, b: 'end' },
})
// @ts-expect-error no node has this name
graph({ name: 'g', state, nodes, edges: { start: 'a', a: 'c', b: 'end' } })
// @ts-expect-error no node has this name: fan-out
graph({ name: 'g', state, nodes, edges: { start: ['a', 'c'], a: 'b', b: 'end' } })
// @ts-expect-error no node has this name: router
graph({ name: 'g', state, nodes, edges: { start: 'a', a: () => 'c', b: 'end' } })
// @ts-expect-error no node has this name: list from a router
graph({ name: 'g', state, nodes, edges: { start: 'a', a: () => ['b', 'c'], b: 'end' } })
graph({
  name: 'g',
  state,
  nodes,
  // @ts-expect-error no node has this name: async router
  edges: { start: 'a', a: async ({ name }) => (name ? 'c' : 'b'), b: 'end' },
})
graph({
  name: 'g',
  state,
  nodes,
  // @ts-expect-error no node has this name: `to`
  edges: { start: 'a', a: { to: ['c'], pick: () => 'b' }, b: 'end' },
})
graph({
  name: 'g',
  state,
  nodes,
  // @ts-expect-error no node has this name: router with `to`
  edges: { start: 'a', a: { to: ['b'], pick: () => 'c' }, b: 'end' },
})
// @ts-expect-error `b` has no way out
graph({ name: 'g', state, nodes, edges: { start: 'a', a: 'b' } })
// @ts-expect-error no way in
graph({ name: 'g', state, nodes, edges: { a: 'b', b: 'end' } })
// @ts-expect-error an edge from a node that does not exist
graph({ name: 'g', state, nodes, edges: { start: 'a', a: 'b', b: 'end', c: 'a' } })
// @ts-expect-error `start` is no target
graph({ name: 'g', state, nodes, edges: { start: 'a', a: 'start', b: 'end' } })
graph({
  name: 'g',
  state,
  // @ts-expect-error `end` is reserved
  nodes: { ...nodes, end: () => {} },
  edges: { start: 'a', a: 'b', b: 'end' },
})
// @ts-expect-error `start` is reserved
graph({ name: 'g', state, nodes: { a: nodes.a, start: () => {} }, edges: one })
// @ts-expect-error a router reads the state
graph({ name: 'g', state, nodes: { a: nodes.a }, edges: { start: 'a', a: ({ nam }) => nam } })
// @ts-expect-error a graph has a name
graph({ state, nodes: { a: nodes.a }, edges: one })

// --- names are known even if every node waits for its state to be typed
const solo = graph({ name: 'g', state, nodes: { a: ({ name }) => ({ city: name }) }, edges: one })
same<typeof solo, Graph<typeof state, 'a', never>>(true)
// @ts-expect-error no node has this name: the only node has parameters
graph({ name: 'g', state, nodes: { a: (_) => {} }, edges: { start: 'b', a: 'end' } })
graph({
  name: 'g',
  state,
  nodes: {
    a: ({ name }) => ({ city: name }),
    b: async ({ name }, ctx) => ({ city: name + ctx.node }),
  },
  // @ts-expect-error no node has this name: all nodes have parameters
  edges: { start: 'a', a: ({ name }) => (name ? 'b' : 'c'), b: 'end' },
})
// TypeScript widens the only literal of an async function: say that it is constant.
graph({
  name: 'g',
  state,
  nodes,
  edges: { start: 'a', a: async () => 'b' as const, b: 'end' },
})

// --- settings
graph({
  name: 'g',
  state,
  nodes: { a: { run: ({ city }) => ({ name: city }), timeout: 10 } },
  edges: one,
})
graph({
  name: 'g',
  state,
  nodes: { a: nodes.a, b: { run: nodes.b, after: ['a'], retry: { attempts: 3 } } },
  edges: { start: 'a', a: 'b', b: 'end' },
})
// @ts-expect-error a misspelt setting
graph({ name: 'g', state, nodes: { a: { run: () => {}, timout: 10 } }, edges: one })
// @ts-expect-error a setting of the wrong type
graph({ name: 'g', state, nodes: { a: { run: () => {}, timeout: '10' } }, edges: one })
graph({
  name: 'g',
  state,
  // @ts-expect-error a join on a node that does not exist
  nodes: { a: nodes.a, b: { run: nodes.b, after: ['x'] } },
  edges: { start: 'a', a: 'b', b: 'end' },
})
// @ts-expect-error a retry without a number of attempts
graph({ name: 'g', state, nodes: { a: { run: () => {}, retry: {} } }, edges: one })
graph({
  name: 'g',
  state,
  // @ts-expect-error a misspelt setting of a retry
  nodes: { a: { run: () => {}, retry: { attempts: 3, dely: 1 } } },
  edges: one,
})

// --- goto
graph({
  name: 'g',
  state,
  nodes: {
    a: async ({ name }) => (name ? goto('b', { city: 'x' }) : { name: 'y' }),
    b: ({ name }) => (name ? goto('end') : goto(['a', 'b'])),
  },
  edges: { start: 'a', a: 'b', b: 'end' },
})
const ab = { start: 'a', a: 'b', b: 'end' } as const
// @ts-expect-error goto a node that does not exist
graph({ name: 'g', state, nodes: { a: () => goto('c'), b: nodes.b }, edges: ab })
graph({
  name: 'g',
  state,
  // @ts-expect-error goto a node that does not exist, among others
  nodes: { a: async ({ name }) => goto(['b', 'c'], { name }), b: nodes.b },
  edges: ab,
})
// @ts-expect-error goto with an update of the wrong type
graph({ name: 'g', state, nodes: { a: () => goto('b', { name: 1 }), b: nodes.b }, edges: ab })
// @ts-expect-error only `goto` makes one
graph({ name: 'g', state, nodes: { a: () => ({ goto: 'b', update: {} }), b: nodes.b }, edges: ab })

// --- each: the node says what an item is; `ctx.item` and the edge are held to it
const Doc = z.object({ id: z.string(), size: z.coerce.number() })
type Doc = z.output<typeof Doc>
const grade = { item: Doc, run: (_: unknown, ctx: Context<never, Doc>) => ({ name: ctx.item.id }) }
graph({
  name: 'g',
  state,
  nodes: {
    split: () => {},
    grade: {
      item: Doc,
      run: async (_, ctx) => {
        same<typeof ctx.item, { id: string; size: number }>(true)
        return { name: ctx.item.id }
      },
    },
    plain: (_, ctx) => {
      same<typeof ctx.item, unknown>(true)
    },
  },
  edges: {
    start: 'split',
    split: ({ tags }) =>
      tags.length > 0
        ? [
            each(
              'grade',
              tags.map((id) => ({ id, size: 1 })),
            ),
            'plain',
          ]
        : 'end',
    grade: 'end',
    plain: 'end',
  },
})
const graded = { a: nodes.b, grade }
graph({
  name: 'g',
  state,
  nodes: graded,
  // @ts-expect-error items of the wrong type
  edges: { start: 'a', a: ({ tags }) => each('grade', tags), grade: 'end' },
})
graph({
  name: 'g',
  state,
  nodes: graded,
  // @ts-expect-error a node that does not exist
  edges: { start: 'a', a: () => each('grad', [{ id: '', size: 1 }]), grade: 'end' },
})
graph({
  name: 'g',
  state,
  nodes: graded,
  // @ts-expect-error only `each` makes one
  edges: { start: 'a', a: () => ({ each: 'grade', items: [{ id: '', size: 1 }] }), grade: 'end' },
})

// --- child graphs
const child = graph({
  name: 'child',
  state: { q: z.string(), a: z.string().default('') },
  events: field<{ hit: string }>(),
  nodes: { x: () => ({ a: '' }) },
  edges: { start: 'x', x: 'end' },
})
const input = ({ name }: { name: string }) => ({ q: name })
graph({
  name: 'g',
  state,
  events: field<{ hit: string } | { token: string }>(),
  nodes: {
    ask: async ({ name }, ctx) => {
      const found = await ctx.child(child, { q: name })
      same<typeof found.a, string>(true)
      return { name: found.a }
    },
    sub: subgraph(child, {
      input,
      output: ({ a }) => ({ name: a }),
    }),
  },
  edges: { start: 'ask', ask: 'sub', sub: 'end' },
})
graph({
  name: 'g',
  state,
  nodes: {
    a: async ({ name }, ctx) => {
      const { a } = await ctx.child(child, { q: name }, { emit: () => undefined })
      return { name: a }
    },
  },
  edges: one,
})
graph({
  name: 'g',
  state,
  nodes: {
    a: async ({ name }, ctx) => {
      // @ts-expect-error this graph doesn't emit what the child does
      await ctx.child(child, { q: name })
      // @ts-expect-error the wrong input for a child
      await ctx.child(child, { question: name }, { emit: () => undefined })
    },
  },
  edges: one,
})
graph({
  name: 'g',
  state,
  // @ts-expect-error a child's events that this graph doesn't have
  nodes: { a: subgraph(child, { input, output: ({ a }) => ({ name: a }) }) },
  edges: one,
})
graph({
  name: 'g',
  state,
  events: field<{ hit: string }>(),
  // @ts-expect-error an output that is no update of the parent
  nodes: { a: subgraph(child, { input, output: ({ a }) => ({ nam: a }) }) },
  edges: one,
})
graph({
  name: 'g',
  state,
  events: field<{ hit: string }>(),
  nodes: {
    // @ts-expect-error an input that is read from no field of the parent
    a: subgraph(child, { input: (s: { nam: string }) => ({ q: s.nam }), output: () => ({}) }),
  },
  edges: one,
})

// --- graphs from other modules and from data
const fields = {
  n: z.number().default(0),
  log: reduced(z.array(z.string()).default([]), append),
}
type Counter = Context<{ at: number }>
async function count(
  { n }: StateOf<typeof fields>,
  ctx: Counter,
): Promise<UpdateOf<typeof fields>> {
  await ctx.emit({ at: n })
  return { n: n + 1 }
}
const typed: NodeFn<StateOf<typeof fields>, UpdateOf<typeof fields>, 'b', { at: number }> = ({
  n,
}) => (n > 3 ? goto('b') : { n: n + 1 })
export const far = graph({
  name: 'far',
  state: fields,
  events: field<{ at: number }>(),
  nodes: { a: count, b: typed },
  edges: { start: 'a', a: 'b', b: ({ n }) => (n < 9 ? 'a' : 'end') },
})
same<typeof far, Graph<typeof fields, 'a' | 'b', { at: number }>>(true)
// @ts-expect-error a node that emits what this graph doesn't
graph({ name: 'far', state: fields, nodes: { a: count }, edges: one })
const names = ['one', 'two', 'three']
export const dynamic = graph({
  name: 'dynamic',
  state: fields,
  nodes: Object.fromEntries(names.map((name) => [name, () => ({ log: [name] })])),
  edges: Object.fromEntries([...names, 'start'].map((name, at) => [name, names[at] ?? 'end'])) as {
    [name: string]: string
    start: string
  },
})
// --- versions
export const second = graph({
  name: 'g',
  version: 2,
  migrate(stored, from) {
    same<typeof stored, Readonly<Record<string, unknown>>>(true)
    same<typeof from, number>(true)
    return { ...stored, city: 'x' }
  },
  state,
  nodes,
  edges: { start: 'a', a: 'b', b: 'end' },
})
same<typeof second, Graph<typeof state, 'a' | 'b', never>>(true)
// @ts-expect-error a version is a number
graph({ name: 'g', version: '2', state, nodes, edges: { start: 'a', a: 'b', b: 'end' } })
// @ts-expect-error a migration is done at once
graph({ name: 'g', migrate: async () => {}, state, nodes, edges: { start: 'a', a: 'b', b: 'end' } })
// @ts-expect-error a migration makes a state
graph({ name: 'g', migrate: () => 1, state, nodes, edges: { start: 'a', a: 'b', b: 'end' } })

// Any graph fits where any graph is taken.
const graphs: Graph[] = [g, child, far, dynamic]
void graphs
