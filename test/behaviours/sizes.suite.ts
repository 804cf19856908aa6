// What is more than a store takes at once, against stores of the place we run in: each cuts where its own limits are.
import {
  append,
  compile,
  each,
  field,
  graph,
  reduced,
  sum,
  type CompiledGraph,
  type Graph,
  type Store,
} from 'heddle'
import { all, casesOf, equal, rowsOf, type Case, type Open } from './portable.ts'

const MANY = 1_500
const numbers = Array.from({ length: MANY }, (_, n) => n)

/** A task for each number; it asks, or counts. */
const tasks = (asks: boolean): Graph =>
  graph({
    name: 'tasks',
    state: { total: reduced(field(0), sum), said: reduced(field<string[]>([]), append) },
    nodes: {
      task: {
        item: field<number>(),
        run: async (_, ctx) =>
          asks ? { said: [(await ctx.interrupt(ctx.item)) as string] } : { total: 1 },
      },
    },
    edges: { start: () => each('task', numbers), task: 'end' },
  })

const note = (name = 'note'): Graph =>
  graph({
    name,
    state: { text: field(''), n: field(0) },
    nodes: { count: ({ n }) => ({ n: n + 1 }) },
    edges: { start: 'count', count: ({ n }) => (n < 5 ? 'count' : 'end') },
  })

/** Deletes the thread, which leaves nothing. */
async function remove(app: Pick<CompiledGraph, 'delete'>, thread: string, store: Store) {
  await app.delete(thread)
  equal([...(await rowsOf(store)).keys()], [], 'rows that are left')
}

/** The cases, against stores of the place we run in. */
export function suite(open: Open): readonly Case[] {
  return casesOf('sizes', open, {
    async 'a value of 3.6 MB'(reopen) {
      const store = await reopen()
      // Characters of one to four bytes, so that every cut may fall inside one.
      const text = '漢é"😀x\\'.repeat(310_000)
      equal(new TextEncoder().encode(text).length > 3_600_000, true, 'it is as long as that')
      const { state } = await compile(note(), { store }).run({ thread: 't', input: { text } })
      equal(state, { text, n: 5 }, 'state')
      const later = compile(note(), { store: await reopen() })
      equal((await later.state('t'))?.state, { text, n: 5 }, 'state as it is read')
      equal(
        (await all(later.history('t', { limit: 2 }))).map(({ step }) => step),
        [5, 4],
        'steps',
      )
      await remove(later, 't', store)
    },

    async '1 MB of metadata'(reopen) {
      const store = await reopen()
      const metadata = { note: '漢"x'.repeat(200_000) }
      await compile(note(), { store }).run({ thread: 't', input: {}, metadata })
      const later = compile(note(), { store: await reopen() })
      equal((await later.state('t'))?.metadata, metadata, 'metadata')
      equal(
        (await all(later.threads())).map((one) => one.metadata),
        [metadata],
        'of the list',
      )
      equal((await later.run({ thread: 't', input: {} })).status, 'success', 'another turn')
      await remove(later, 't', store)
    },

    async 'names of 100,000 characters'(reopen) {
      const store = await reopen()
      const name = 'n'.repeat(100_000)
      const app = compile(note(name), { store }).tenant(name)
      await app.run({ thread: name, input: {} })
      const later = compile(note(name), { store: await reopen() }).tenant(name)
      equal(
        (await all(later.threads())).map(({ id, tenant }) => [id, tenant]),
        [[name, name]],
        'threads',
      )
      await remove(later, name, store)
    },

    async 'a step of 1,500 tasks'(reopen) {
      const store = await reopen()
      const app = compile(tasks(false), { store })
      equal((await app.run({ thread: 't', input: {} })).state, { total: MANY, said: [] }, 'state')
      const rows = [...(await rowsOf(store)).keys()]
      equal(
        rows.filter((key) => key.includes('/w/')),
        [],
        'the journal of a step that is history',
      )
      await remove(app, 't', store)
    },

    async '1,500 questions at once'(reopen) {
      const store = await reopen()
      await compile(tasks(true), { store }).run({ thread: 't', input: {} })
      const later = compile(tasks(true), { store: await reopen() })
      const asked = await later.interruptions({ limit: 5_000 })
      equal(
        asked.map(({ payload }) => payload),
        numbers,
        'questions',
      )
      const answers = (of: typeof asked): never =>
        Object.fromEntries(of.map(({ id, payload }) => [id, `said ${String(payload)}`])) as never
      const some = await later.run({ thread: 't', answers: answers(asked.slice(0, 3)) })
      equal(some.status, 'interrupted', 'status after three answers')
      const rest = await later.run({ thread: 't', answers: answers(asked.slice(3)) })
      equal(rest.state, { total: 0, said: numbers.map((n) => `said ${n}`) }, 'answers')
      equal(await later.interruptions(), [], 'questions that are left')
      await remove(later, 't', store)
    },
  })
}
