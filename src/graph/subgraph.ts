import type { Context, RunContext } from './context.ts'
import type { Graph } from './graph.ts'
import type { Fields, InputFor, StateOf } from './state.ts'

/**
 * Makes a node out of a graph, known to pictures and inspectors. The child has its own namespace and
 * starts fresh each time the node is entered. Inside a function, `ctx.child` does the same.
 *
 * @param child The graph to run
 * @param map What the child gets, and what the parent keeps of its final state
 */
export function subgraph<F extends Fields, Event, State, Item, Update>(
  child: Graph<F, any, Event>,
  map: {
    readonly input: (state: State, ctx: RunContext & { readonly item: Item }) => InputFor<F>
    readonly output: (child: StateOf<F>, state: State) => Update
  },
): {
  readonly graph: Graph<F, any, Event>
  readonly run: (state: State, ctx: Context<Event, Item>) => Promise<Update>
} {
  return {
    graph: child,
    run: async (state, ctx) => map.output(await ctx.child(child, map.input(state, ctx)), state),
  }
}
