// A thread with everything a thread can have, and how it ends wherever it goes on.
import {
  append,
  field,
  graph,
  reduced,
  type CompiledGraph,
  type Graph,
  type Snapshot,
} from 'heddle'
import { all } from './portable.ts'

/** Bodies of nodes and of stored work that were entered. */
export type Calls = Record<string, number>

/** A list of more than 32 updates, child graphs inside child graphs that ask, work done once, a wait, and a fan-out of which some have finished. */
export function voyage(calls: Calls = {}): Graph {
  const called = (name: string): void => void (calls[name] = (calls[name] ?? 0) + 1)
  const party = ['stroll', 'sleep', 'cook'] as const
  const cabin = graph({
    name: 'cabin',
    state: { said: field('') },
    nodes: {
      pack: () => called('pack'),
      async call(_, ctx) {
        called('call')
        return { said: String(await ctx.interrupt('Who is there?', { key: 'door' })) }
      },
    },
    edges: { start: 'pack', pack: 'call', call: 'end' },
  })
  const deck = graph({
    name: 'deck',
    state: { seen: reduced(field<string[]>([]), append) },
    nodes: {
      walk: () => ({ seen: ['sea'] }),
      async visit(_, ctx) {
        const token = await ctx.once('token', () => {
          called('token')
          return 'token'
        })
        const { said } = await ctx.child(cabin, {})
        return { seen: [token, said] }
      },
    },
    edges: { start: 'walk', walk: 'visit', visit: 'end' },
  })
  return graph({
    name: 'voyage',
    state: {
      n: field(0),
      when: field(new Date(0)),
      log: reduced(field<unknown[]>([]), append),
    },
    nodes: {
      sail: ({ n }) => ({ n: n + 1, when: new Date(n), log: [new Map([[`day ${n}`, BigInt(n)]])] }),
      async stroll(_, ctx) {
        called('stroll')
        const { seen: cards } = await ctx.child(deck, {})
        return { log: [cards] }
      },
      async sleep(_, ctx) {
        called('sleep')
        return { log: [await ctx.wait('2030-01-01T00:00:00Z', 'dawn')] }
      },
      async cook(_, ctx) {
        called('cook')
        await ctx.emit('smell')
        return { log: ['cooked'] }
      },
      land: () => ({ log: ['land'] }),
    },
    edges: {
      start: 'sail',
      sail: ({ n }) => (n < 40 ? 'sail' : [...party]),
      stroll: 'land',
      sleep: 'land',
      cook: 'land',
      land: 'end',
    },
  })
}

/** Everything that can be seen of a thread, but for its name and its metadata. */
export async function seen(app: CompiledGraph, thread: string): Promise<object> {
  const named = <Row extends { readonly thread: string }>(rows: readonly Row[]): object[] =>
    rows.map((row) => ({ ...row, thread: '' }))
  const snap = ({ interruptions, timers, ...rest }: Snapshot): object => ({
    ...rest,
    thread: '',
    metadata: {},
    interruptions: named(interruptions),
    timers: named(timers),
  })
  const history = async (ns: string[]): Promise<object[]> =>
    (await all(app.history(thread, { ns }))).map(snap)
  return {
    history: await history([]),
    deck: await history(['stroll']),
    cabin: await history(['stroll', 'visit']),
    runs: named(await all(app.runs(thread))),
    open: named(await app.interruptions({ thread })),
    answered: named(await app.interruptions({ thread, status: 'answered' })),
    inbox: named((await app.interruptions()).filter((one) => one.thread === thread)),
  }
}

/** Answers what is open and wakes what waits, and tells what the thread ends with. */
export async function ended(app: CompiledGraph, thread: string): Promise<object> {
  const { interruptions, timers } = (await app.state(thread))!
  const answers = [...interruptions, ...timers].map(({ id }) => [id, 'Ann'])
  const { status, state } = await app.run({ thread, answers: Object.fromEntries(answers) })
  if (status !== 'success') throw new Error(`it is ${status}`)
  return state as object
}
