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

type Change<Update, Name extends string> = Update | Goto<Name | 'end', Update> | void

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
) => Change<Update, Name> | Promise<Change<Update, Name>>

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
}

/** What a node is: a function, or one with settings. */
export type Node<State = any, Update = any, Name extends string = any, Event = any, Item = any> =
  | NodeFn<State, Update, Name, Event, Item>
  | NodeSpec<State, Update, Name, Event, Item>

type Names<Items> = Extract<keyof Items, string>
type EachOf<Items> = { [K in Names<Items>]: Each<K, Items[K]> }[Names<Items>]

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

/** What `graph` takes. */
export interface GraphSpec<F extends Fields, Items, Event> {
  /** Names the graph in errors, pictures and storage; threads belong to it. */
  readonly name: string
  readonly state: F
  /** The events nodes may emit; leave out for a graph that emits none. Not checked at run time. */
  readonly events?: Schema<any, Event>
  /** Questions whose answers are checked before a thread is claimed; others are checked when the node reads them. */
  readonly questions?: readonly Question<any, any>[]
  readonly nodes: {
    readonly [K in keyof Items]: K extends 'start' | 'end'
      ? never
      : Node<StateOf<F>, UpdateOf<F>, NoInfer<Names<Items>>, NoInfer<Event>, Items[K]>
  }
  /** One way out for `start` and for every node; the compiler rejects a missing or unknown name. */
  readonly edges: {
    readonly [K in Exclude<NoInfer<Names<Items>>, 'end'> | 'start']: Edge<
      StateOf<F>,
      NoInfer<Names<Items>>,
      NoInfer<EachOf<Items>>
    >
  }
}

/** A graph is data: what it remembers, what it does, and where it goes next. */
export interface Graph<F extends Fields = any, Name extends string = any, Event = any> {
  readonly name: string
  readonly state: F
  readonly events?: Schema<any, Event>
  readonly questions?: readonly Question<any, any>[]
  readonly nodes: { readonly [K in Name]: Node<StateOf<F>, UpdateOf<F>, any, Event> }
  readonly edges: { readonly [K in Name | 'start']: Edge<StateOf<F>> }
}

/**
 * Declares a graph. This only gives the object its type: nothing runs until it is compiled.
 *
 * @param spec State, nodes and edges
 * @returns The same object
 */
export function graph<F extends Fields, Items extends Record<string, unknown>, Event = never>(
  spec: GraphSpec<F, Items, Event>,
): Graph<F, Names<Items>, Event> {
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
