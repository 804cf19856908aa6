// Threads with a past: turns, answers, failures, branches and forks by chance, and all that can be seen of them.
import { append, compile, field, graph, memory, reduced } from 'heddle'
import type { CompiledGraph, CompileOptions, Graph, Snapshot, Store } from 'heddle'
import { manualClock } from 'heddle/testing'

import { all, mulberry32, rowsOf } from './harness.ts'
import { silent } from '../fakes/silent.ts'

/** Counts; appends, works once, asks, and runs a child that counts and asks itself. Fails once in a while, until it is run again. */
export function wanderer(): Graph {
  const inner = graph({
    name: 'inner',
    state: { n: field(0), said: reduced(field<string[]>([]), append) },
    nodes: {
      async step({ n }, ctx) {
        const said = n === 2 ? String(await ctx.interrupt('inside')) : `s${n}`
        return { n: n + 1, said: [said] }
      },
    },
    edges: { start: 'step', step: ({ n }) => (n < 4 ? 'step' : 'end') },
  })
  return graph({
    name: 'wanderer',
    state: {
      n: field(0),
      label: field('none'),
      list: reduced(field<string[]>([]), append),
      rare: reduced(field<number[]>([]), append),
    },
    nodes: {
      async go({ n }, ctx) {
        const by = await ctx.once('by', () => `n${n}`)
        await ctx.emit(by)
        if (n % 7 === 3) return { n: n + 1, list: [`${by} ${String(await ctx.interrupt(n))}`] }
        if (n % 11 === 6) {
          const { said } = await ctx.child(inner, {})
          return { n: n + 1, list: said }
        }
        if (n % 10 === 9) return { n: n + 1, label: `l${n}`, rare: [n] }
        return { n: n + 1, list: [by] }
      },
      beside: ({ n }) => ({ rare: n % 13 === 0 ? [n] : [] }),
    },
    edges: {
      start: ['go', 'beside'],
      go: ({ n }) => (n % 9 === 0 ? 'end' : ['go' as const, 'beside' as const]),
      beside: () => [],
    },
  })
}

/** A thread of which a past by chance was made, and what it lies in. */
export interface Past {
  readonly store: Store
  readonly clock: ReturnType<typeof manualClock>
  readonly app: CompiledGraph
  /** Another process on other rows. */
  on(store: Store, options?: CompileOptions): CompiledGraph
}

export async function past(seed: number, rounds = 12, store: Store = memory()): Promise<Past> {
  const random = mulberry32(seed)
  const clock = manualClock()
  const durability = seed % 5 === 0 ? 'exit' : 'step'
  const on = (rows: Store, options: CompileOptions = {}): CompiledGraph =>
    compile(wanderer(), { store: rows, clock, durability, logger: silent, ...options })
  const app = on(store)
  await app.run({ thread: 't', input: {} })
  for (let round = 0; round < rounds; round++) {
    await clock.advance(Math.floor(random() * 5000))
    const way = random()
    const { status } = (await app.state('t'))!
    const history = await all(app.history('t'))
    const from = history[Math.floor(random() * history.length)]!.checkpoint
    if (way < 0.2 && from !== history[0]!.checkpoint) {
      const update = random() < 0.5 ? { update: { label: `round ${round}` } } : {}
      await app.fork('t', { from, ...update })
    } else if (way < 0.35 && from !== history[0]!.checkpoint) await app.run({ thread: 't', from })
    else if (status === 'interrupted' && way < 0.45) await app.cancel('t')
    else if (status === 'interrupted') {
      const open = await app.interruptions({ thread: 't' })
      await app.run({ thread: 't', answers: { [open[0]!.id]: `r${round}` } })
    } else if (status === 'success') await app.run({ thread: 't', input: {} })
    else await app.run({ thread: 't' })
  }
  return { store, clock, app, on }
}

/** The paths of child graphs. */
export const PATHS: readonly (readonly string[])[] = [[], ['go']]

/** Snapshots by the path of their graph, newest first. */
export const looks = (app: CompiledGraph): Promise<Snapshot[][]> =>
  Promise.all(PATHS.map((ns) => all(app.history('t', { ns }))))

/** Rows of a thread but for its head, which counts commits. */
export const without = (
  rows: readonly { readonly key: string; readonly value: string }[],
): object =>
  Object.fromEntries(rows.flatMap(({ key, value }) => (/^[h]\//.test(key) ? [] : [[key, value]])))

/** The same rows in a store of their own. */
export async function copyOf(store: Store): Promise<Store> {
  const copy = memory()
  await copy.commit({ puts: (await rowsOf(store)).map(({ key, value }) => ({ key, value })) })
  return copy
}
