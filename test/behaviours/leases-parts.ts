// What the tests of leases share: nodes that take their time, and processes that stop without a word.
import { append, compile, field, graph, reduced, type CompileOptions, type Context } from 'heddle'
import type { CompiledGraph, Graph, Store } from 'heddle'
import { manualClock, type ManualClock } from 'heddle/testing'
import { silent } from '../fakes/silent.ts'

export const LEASE = 60_000

/** What a node hears and does, by number of entry. */
export type Body = (ctx: Context<never>, entry: number) => unknown

/** Three steps, of which the second does what a test wants. */
export const line = (body: Body): { readonly make: () => Graph; readonly entered: string[] } => {
  const entered: string[] = []
  const make = (): Graph =>
    graph({
      name: 'line',
      state: { log: reduced(field<string[]>([]), append) },
      nodes: {
        first() {
          entered.push('first')
          return { log: ['first'] }
        },
        async second(_, ctx) {
          entered.push('second')
          const n = entered.filter((name) => name === 'second').length
          await body(ctx as Context<never>, n)
          return { log: [`second ${n}`] }
        },
        last() {
          entered.push('last')
          return { log: ['last'] }
        },
      },
      edges: { start: 'first', first: 'second', second: 'last', last: 'end' },
    })
  return { make, entered }
}

/** A gate that a node waits at. */
export function gate(): { readonly passed: Promise<void>; open(): void } {
  let open!: () => void
  const passed = new Promise<void>((resolve) => (open = resolve))
  return { passed, open }
}

/** A process: a clock of its own, and a store that answers nothing any more when it is gone. */
export interface Process {
  readonly app: CompiledGraph
  readonly clock: ManualClock
  /** Stops it without a word: nothing that it waits for ever comes. */
  kill(): void
}

/** Starts a process at a time. */
export function processAt(
  time: number,
  make: () => Graph,
  store: Store,
  options: CompileOptions = {},
): Process {
  const clock = manualClock(new Date(time))
  let gone = false
  const never = new Promise<never>(() => {})
  const alive = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    if (gone) return never
    const value = await work()
    return gone ? never : value
  }
  const own: Store = {
    ...store,
    get: (keys) => alive(() => store.get(keys)),
    list: (range) => alive(() => store.list(range)),
    commit: (batch) => alive(() => store.commit(batch)),
    clear: (prefix) => alive(() => store.clear(prefix)),
  }
  const app = compile(make(), { store: own, clock, leaseMs: LEASE, logger: silent, ...options })
  return { app, clock, kill: () => void (gone = true) }
}

/** Lets everything go as far as it can without the clock. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}
