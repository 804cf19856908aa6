import type { Schema } from '../schema.ts'
import type { Context } from './context.ts'
import type { Question } from './question.ts'
import type { Fields, StateOf, UpdateOf } from './state.ts'

/** Sends the run to other nodes than the edges say. Made by `goto`. */
export interface Goto<Name extends string = string, Update = unknown> {
  /** Tells it from an update that has such fields; JSON can't hold a symbol, so it can't be forged. */
  readonly '~heddle': symbol
  readonly goto: Name | readonly Name[]
  readonly update: Update
}

/** One task per item. Made by `each`. */
export interface Each<Name extends string = string, Item = unknown> {
  /** Tells it from anything else a router may return. */
  readonly '~heddle': symbol
  readonly each: Name
  readonly items: readonly Item[]
}

type Result<Update, Name extends string> = Update | Goto<Name | 'end', Update> | Literals | void

/** Nothing is one. The compiler finds literals in it before it knows the state, and doesn't widen `role: 'user'`. */
interface Literals {
  readonly '~heddle': never
  readonly [member: string]: Literal
}
type Literal = { readonly [member: string]: Literal } | readonly Literal[] | '' | 0 | true

/** Reads the state and returns what changes. Its `state` is a private copy: only what it returns counts. */
export type NodeFn<
  State = any,
  Update = any,
  Name extends string = any,
  Event = any,
  Item = any,
> = (
  state: State,
  ctx: Context<Event, Item>,
) => Result<Update, Name> | Promise<Result<Update, Name>>

/** How often and how soon something is tried again. A pause, an abort or a policy outcome is never retried. */
export interface Retry {
  /** How many times in all, the first included. */
  readonly attempts: number
  /** Milliseconds before the second attempt. @default 500 */
  readonly delay?: number
  /** What the delay is multiplied by each time. @default 2 */
  readonly factor?: number
  /** The longest delay, in milliseconds. @default 30_000 */
  readonly maxDelay?: number
  /** Share of each delay that is random, 0 to 1. @default 0.2 */
  readonly jitter?: number
  /** Whether this error is worth another attempt. @default always */
  readonly when?: (error: unknown) => boolean
}

/** Where a cached result may be used again: in the run and those that go on from it, in the thread, or anywhere. */
export type CacheScope = 'run' | 'thread' | 'global'

/** Settings of a node; a plain function is a node with none. */
export interface NodeSpec<
  State = any,
  Update = any,
  Name extends string = any,
  Event = any,
  Item = any,
> {
  readonly run: NodeFn<State, Update, Name, Event, Item>
  /** The graph inside, for pictures and inspectors. Set by `subgraph`. */
  readonly graph?: Graph<any, any, Event>
  /** What one item of an `each` looks like: types `ctx.item`, and every item is checked against it. */
  readonly item?: Schema<any, Item>
  /** Runs once, in the step after all of these have finished. */
  readonly after?: readonly Name[]
  /** Milliseconds before the node's signal aborts with a `TimeoutError`. @default none */
  readonly timeout?: number
  readonly retry?: Retry
  /** Keeps a finished update for the same key, `ttl` milliseconds. `key` picks what it depends on; the whole state by default. */
  readonly cache?: {
    readonly scope: CacheScope
    readonly ttl?: number
    readonly key?: (state: State) => unknown
  }
}

/** What a node is: a function, or one with settings. */
export type Node<State = any, Update = any, Name extends string = any, Event = any, Item = any> =
  | NodeFn<State, Update, Name, Event, Item>
  | NodeSpec<State, Update, Name, Event, Item>

type EachOf<Name extends string, Items extends Record<string, unknown>> = Name extends unknown
  ? Each<Name, Items[Name]>
  : never

/** Where to go next: a name, several, or one task per item. */
export type Target<Name extends string = string, Tasks = Each> =
  | Name
  | 'end'
  | Tasks
  | readonly (Name | Tasks)[]

/** Where a node leads: a target, a function of state, or that function with the names it may return (for the picture). */
export type Edge<State = any, Name extends string = any, Tasks = any> =
  | Name
  | 'end'
  | readonly Name[]
  | ((state: State) => Target<Name, Tasks> | Promise<Target<Name, Tasks>>)
  | {
      readonly to: readonly (Name | 'end')[]
      readonly pick: (state: State) => Target<Name, Tasks> | Promise<Target<Name, Tasks>>
    }

// The compiler keeps the outcome of a conditional type, and works out anything else again at every use. That is all the
// conditions on `F` and on the keys of `edges` are for: `npm run bench` counts what a large graph costs.
type Change<F extends Fields> = F extends unknown ? UpdateOf<F> : never

/** What `graph` takes. */
export interface GraphSpec<
  F extends Fields,
  Name extends string,
  Items extends Record<string, unknown>,
  Event,
> {
  /** Names the graph in errors, pictures and storage; threads belong to it. */
  readonly name: string
  readonly state: F
  /** The events nodes may emit; leave out for a graph that emits none. Not checked at run time. */
  readonly events?: Schema<any, Event>
  /** Questions whose answers are checked before a thread is claimed; others are checked when the node reads them. */
  readonly questions?: readonly Question<any, any>[]
  /** Raise it when stored state needs `migrate`. @default 1 */
  readonly version?: number
  /** Turns state stored by an older version into today's. Called on load, never written until the next step. */
  readonly migrate?: (
    state: Readonly<Record<string, unknown>>,
    from: number,
  ) => Readonly<Record<string, unknown>>
  // The first part is where the names come from, also when no node says anything else before its state is known.
  readonly nodes: { readonly [K in Name]: unknown } & {
    readonly [K in keyof Items]: K extends 'start' | 'end'
      ? never
      : Node<StateOf<F>, Change<F>, NoInfer<Name>, NoInfer<Event>, Items[K]>
  }
  /** One way out for `start` and for every node; the compiler rejects a missing or unknown name. */
  readonly edges: {
    readonly [K in Exclude<NoInfer<Name>, 'end'> | 'start']: K extends 'end'
      ? never
      : Edge<StateOf<F>, NoInfer<Name>, NoInfer<EachOf<Name, Items>>>
  }
}

/** A graph is data: what it remembers, what it does, and where it goes next. */
export interface Graph<F extends Fields = any, Name extends string = any, Event = any> {
  readonly name: string
  readonly state: F
  readonly events?: Schema<any, Event>
  readonly questions?: readonly Question<any, any>[]
  readonly version?: number
  readonly migrate?: (
    state: Readonly<Record<string, unknown>>,
    from: number,
  ) => Readonly<Record<string, unknown>>
  readonly nodes: { readonly [K in Name]: Node<StateOf<F>, UpdateOf<F>, any, Event> }
  readonly edges: { readonly [K in Name | 'start']: Edge<StateOf<F>> }
}

/**
 * Declares a graph. This only gives the object its type: nothing runs until it is compiled.
 *
 * @param spec State, nodes and edges
 * @returns The same object
 */
export function graph<
  F extends Fields,
  Name extends string,
  Items extends Record<string, unknown>,
  Event = never,
>(spec: GraphSpec<F, Name, Items, Event>): Graph<F, Name, Event> {
  return spec as never
}

const GOTO: symbol = /* @__PURE__ */ Symbol.for('heddle.goto')
const EACH: symbol = /* @__PURE__ */ Symbol.for('heddle.each')

/** Leaves a node for other nodes than its edges name. The update counts as if returned. */
export function goto<const Name extends string, Update = {}>(
  target: Name | readonly Name[],
  update: Update = {} as Update,
): Goto<Name, Update> {
  return { '~heddle': GOTO, goto: target, update }
}

/** Runs a node once per item, in one step; results are folded in the order of the items. No items: nothing runs for it. */
export function each<const Name extends string, Item>(
  node: Name,
  items: readonly Item[],
): Each<Name, Item> {
  return { '~heddle': EACH, each: node, items }
}

/** Whether a value was made by `goto`, in any copy of the package. */
export function isGoto(value: unknown): value is Goto {
  return (value as Goto | null | undefined)?.['~heddle'] === GOTO
}

/** Whether a value was made by `each`, in any copy of the package. */
export function isEach(value: unknown): value is Each {
  return (value as Each | null | undefined)?.['~heddle'] === EACH
}
