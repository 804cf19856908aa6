// A graph with one node whose results are cached, and what came of it.
import {
  compile,
  field,
  graph,
  memory,
  type CompiledGraph,
  type CompileOptions,
  type Context,
  type Entry,
  type NodeSpec,
  type Store,
  type StreamEvent,
} from 'heddle'
import type { ManualClock } from 'heddle/testing'
import { silent } from '../fakes/silent.ts'
import { until } from './abort-idle.ts'

export type State = { readonly n: unknown; readonly out: unknown }
export type Work = (state: State, ctx: Context<never, unknown>) => unknown

/** How the graph and its app differ from the usual. */
export interface Made extends CompileOptions {
  readonly name?: string
  readonly version?: number
  readonly timeout?: number
  readonly retry?: NodeSpec['retry']
  /** What a second node does when `n` is "go", before the first is entered again. */
  readonly after?: (ctx: Context<never, unknown>) => unknown
}

/** An app whose node `work` is cached, and the values of `n` with which the node was entered. */
export function make(
  cache: NodeSpec<State>['cache'],
  work: Work,
  { name = 'cached', version = 1, timeout, retry, after, ...options }: Made = {},
): { readonly app: CompiledGraph; readonly entered: unknown[]; readonly store: Store } {
  const entered: unknown[] = []
  const store = options.store ?? memory()
  const spec = {
    name,
    version,
    state: { n: field<unknown>(undefined), out: field<unknown>('absent') },
    nodes: {
      work: {
        run(state: State, ctx: Context<never, unknown>) {
          entered.push(state.n)
          return work(state, ctx)
        },
        cache,
        timeout,
        retry,
      },
      more: () => ({ n: 'more' }),
      after: async (_: State, ctx: Context<never, unknown>) => {
        await after?.(ctx)
        return { n: 'gone' }
      },
    },
    edges: {
      start: 'work',
      work: ({ n }: State) => (n === 'go' ? 'after' : 'end'),
      more: 'end',
      after: 'work',
    },
  }
  const app = compile(graph(spec as never), { logger: silent, ...options, store })
  return { app: app as unknown as CompiledGraph, entered, store }
}

/** The rows of caches in a store. */
export const cacheRows = (store: Store): Promise<readonly Entry[]> =>
  store.list({ prefix: 'c/', limit: 1000 })

/** That nodes have ended. */
export const endsOf = (events: readonly StreamEvent[]): StreamEvent[] =>
  events.filter(({ kind }) => kind === 'node_end')

/** Lets time pass until work has settled: digests take turns of the event loop that no clock knows of. */
export async function passing<Value>(clock: ManualClock, work: Promise<Value>): Promise<Value> {
  let over = false
  const settle = (): void => void (over = true)
  work.then(settle, settle)
  await until(async () => {
    await clock.advance(10)
    return over
  })
  return work
}
