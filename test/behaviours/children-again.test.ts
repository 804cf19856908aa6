// A child graph that is entered again: by a retry of its node, or after a cancel.
import { append, compile, field, graph, memory, reduced, type Batch, type Store } from 'heddle'
import { expect, it } from 'vitest'
import { after, keepBooks } from './harness.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

it('a retry of the node repeats no task of the child whose result is stored, and writes no row again', async () => {
  const calls = { a: 0, b: 0, router: 0 }
  const child = graph({
    name: 'child',
    state: { log: reduced(field<string[]>([]), append) },
    events: field<string>(),
    nodes: {
      async a(_, ctx) {
        calls.a++
        await ctx.emit('a')
        return { log: ['a'] }
      },
      b: () => ({ log: [`b${++calls.b}`] }),
    },
    edges: {
      start: 'a',
      a: () => {
        if (++calls.router === 1) throw new Error('this once')
        return 'b' as const
      },
      b: 'end',
    },
  })
  const parent = graph({
    name: 'parent',
    state: { log: field<string[]>([]) },
    events: field<string>(),
    nodes: {
      p: {
        run: async (_, ctx) => ({ log: (await ctx.child(child, {})).log }),
        retry: { attempts: 2, delay: 0 },
      },
    },
    edges: { start: 'p', p: 'end' },
  })
  const { store, rewritten } = watched(memory())
  const app = compile(parent, { store, logger: silent })
  expect(await app.run({ thread: 't1', input: {} })).toMatchObject({
    status: 'success',
    state: { log: ['a', 'b1'] },
  })
  expect(calls).toEqual({ a: 1, b: 1, router: 2 })
  expect(rewritten).toEqual([])
})

it('a retry finds the child where the attempt before is about to store it', async () => {
  let begins = (): void => {}
  const begun = new Promise<void>((resolve) => (begins = resolve))
  const base = memory()
  // The commit of the child's first step takes its time.
  const commit = async (batch: Batch) => {
    if (batch.puts?.some(({ value }) => value.includes('"ran":[["one"'))) {
      begins()
      await after(30)
    }
    return base.commit(batch)
  }
  const calls: string[] = []
  const child = graph({
    name: 'child',
    state: { n: field(0) },
    nodes: {
      one: () => void calls.push('one'),
      two: () => void calls.push('two'),
    },
    edges: { start: 'one', one: 'two', two: 'end' },
  })
  const parent = graph({
    name: 'parent',
    state: {},
    nodes: {
      p: {
        run: async (_, ctx) => {
          const fails = async (): Promise<void> => {
            if (calls.push('p') > 1) return
            await begun
            throw new Error('this once')
          }
          await Promise.all([fails(), ctx.child(child, {})])
        },
        retry: { attempts: 2, delay: 0 },
      },
    },
    edges: { start: 'p', p: 'end' },
  })
  const app = compile(parent, { store: { ...base, commit }, logger: silent })
  expect(await app.run({ thread: 't1', input: {} })).toMatchObject({ status: 'success' })
  expect(calls).toEqual(['p', 'one', 'p', 'two'])
})

it('what a child asks after a cancel is another question, and the paused run keeps its record', async () => {
  const child = graph({
    name: 'child',
    state: { said: field<unknown>(null) },
    nodes: { ask: async (_, ctx) => ({ said: await ctx.interrupt('ok?') }) },
    edges: { start: 'ask', ask: 'end' },
  })
  const parent = graph({
    name: 'parent',
    state: { said: field<unknown>(null) },
    nodes: { p: async (_, ctx) => ({ said: (await ctx.child(child, {})).said }) },
    edges: { start: 'p', p: 'end' },
  })
  const { store, rewritten } = watched(memory())
  const app = compile(parent, { store, logger: silent })
  const first = await app.run({ thread: 't1', input: {} })
  await app.cancel('t1')
  const runs = []
  for await (const { status } of app.runs('t1')) runs.push(status)
  expect(runs).toEqual(['interrupted'])

  const second = await app.run({ thread: 't1' })
  const [before, again] = [first, second].map((outcome) =>
    outcome.status === 'interrupted' ? outcome.interruptions.map(({ id }) => id) : [],
  )
  expect(again).toHaveLength(1)
  expect(again).not.toEqual(before)
  const cancelled = await app.interruptions({ thread: 't1', status: 'cancelled' })
  expect(cancelled.map(({ id }) => id)).toEqual(before)
  expect(await app.run({ thread: 't1', answer: 'yes' })).toMatchObject({ state: { said: 'yes' } })
  expect(rewritten).toEqual([])
})

it('of two children at once, one that fails stops the other, which tells nothing any more', async () => {
  let signal: AbortSignal | undefined
  let starts = (): void => {}
  const started = new Promise<void>((resolve) => (starts = resolve))
  const child = graph({
    name: 'child',
    state: { fails: field<boolean>() },
    events: field<string>(),
    nodes: {
      async work({ fails }, ctx) {
        if (fails) {
          await started
          throw new Error('no')
        }
        signal = ctx.signal
        starts()
        await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
        await ctx.emit('too late')
      },
    },
    edges: { start: 'work', work: 'end' },
  })
  const parent = graph({
    name: 'parent',
    state: {},
    events: field<string>(),
    nodes: {
      p: async (_, ctx) => {
        await Promise.all([true, false].map((fails) => ctx.child(child, { fails })))
      },
    },
    edges: { start: 'p', p: 'end' },
  })
  const app = compile(parent, { logger: silent })
  const kinds: string[] = []
  const read = async (): Promise<void> => {
    for await (const { kind } of app.stream({ thread: 't1', input: {} })) kinds.push(kind)
  }
  await expect(read()).rejects.toThrow('no')
  expect(signal?.aborted).toBe(true)
  expect(kinds).toEqual(['node_start'])
})

/** A store that notes rows, heads apart, that are written a second time with another text. */
function watched(store: Store): { readonly store: Store; readonly rewritten: string[] } {
  const rows = new Map<string, string>()
  const rewritten: string[] = []
  const commit = (batch: Batch): ReturnType<Store['commit']> => {
    for (const { key, value } of batch.puts ?? []) {
      if (!key.startsWith('h/') && rows.has(key) && rows.get(key) !== value) rewritten.push(key)
      rows.set(key, value)
    }
    for (const key of batch.deletes ?? []) rows.delete(key)
    return store.commit(batch)
  }
  return { store: { ...store, commit }, rewritten }
}
