// Graphs in graphs, for tests of pauses.
import { append, each, field, graph, reduced, subgraph, type Context } from 'heddle'

/** Counts calls by name. */
export type Calls = Record<string, number>

const list = () => reduced(field<unknown[]>([]), append)

/** Three levels: `enter` > `pass` > `left` and `right`, with `beside` at the top. */
export function top(calls: Calls) {
  const asks = (name: string) => async (_: unknown, ctx: Context) => {
    count(calls, name)
    return { got: [await ctx.interrupt(name)] }
  }
  const bottom = graph({
    name: 'bottom',
    state: { got: list() },
    nodes: {
      left: asks('left'),
      right: asks('right'),
      join: {
        after: ['left', 'right'],
        run({ got }) {
          count(calls, 'join')
          return { got: [`after ${got.join()}`] }
        },
      },
    },
    edges: { start: ['left', 'right'], left: 'join', right: 'join', join: 'end' },
  })
  const middle = graph({
    name: 'middle',
    state: { got: list() },
    nodes: {
      async pass(_, ctx) {
        count(calls, 'pass')
        const { got } = await ctx.child(bottom, {})
        return { got: [...got, await ctx.interrupt('and?')] }
      },
    },
    edges: { start: 'pass', pass: 'end' },
  })
  return graph({
    name: 'top',
    state: { got: list() },
    nodes: {
      first() {
        count(calls, 'first')
        return { got: ['first'] }
      },
      enter: subgraph(middle, {
        input() {
          count(calls, 'enter')
          return {}
        },
        output: ({ got }) => ({ got }),
      }),
      beside: asks('beside'),
    },
    edges: { start: 'first', first: ['enter', 'beside'], enter: 'end', beside: 'end' },
  })
}

/** Three tasks of an `each`; each runs children side by side in one node, one of which asks twice. */
export function forest(pace: () => Promise<void>) {
  const leaf = graph({
    name: 'leaf',
    state: { name: field<string>(), got: field<unknown[]>([]) },
    nodes: {
      async ask({ name }, ctx) {
        await pace()
        const got = [await ctx.interrupt(name)]
        await pace()
        if (name.endsWith('a')) got.push(await ctx.interrupt(`${name} again`))
        return { got }
      },
    },
    edges: { start: 'ask', ask: 'end' },
  })
  return graph({
    name: 'forest',
    state: { got: list() },
    nodes: {
      tree: {
        item: field<number>(),
        async run(_, ctx) {
          const grow = async (name: string): Promise<unknown[]> => {
            await pace()
            return [...(await ctx.child(leaf, { name: `${ctx.item}.${name}` })).got]
          }
          const [a, b] = await Promise.all([grow('a'), grow('b')])
          return { got: [[a?.[0], b?.[0], a?.[1]]] }
        },
      },
    },
    edges: { start: () => each('tree', [0, 1, 2]), tree: 'end' },
  })
}

function count(calls: Calls, name: string): void {
  calls[name] = (calls[name] ?? 0) + 1
}
