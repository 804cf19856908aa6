// B24.1: the store fails. What is claimed is what is stored, and what is stored can be read.
import {
  append,
  compile,
  field,
  graph,
  LeaseLost,
  memory,
  reduced,
  type Graph,
  type Store,
} from 'heddle'
import { describe, expect, it } from 'vitest'
import { gate } from '../fakes/gate.ts'
import { broken, fails, graphOf, thrower } from './stream-parts.ts'
import { after, all, countingClock, failure, keepBooks } from './harness.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

/** A store that refuses every commit that writes a matching row, while it is broken. */
function refusing(row: RegExp, error: unknown): Store & { broken: boolean; refused: number } {
  const under = memory()
  return Object.assign(Object.create(under) as Store, {
    broken: true,
    refused: 0,
    async commit(
      this: { broken: boolean; refused: number },
      batch: Parameters<Store['commit']>[0],
    ) {
      if (this.broken && batch.puts?.some(({ key }) => row.test(key))) {
        this.refused++
        throw error
      }
      return under.commit(batch)
    },
  })
}

describe('when the store refuses', () => {
  const two = (calls: { a: number; b: number }): Graph =>
    graph({
      name: 'two',
      state: { log: reduced(field<string[]>([]), append) },
      nodes: {
        a: () => (calls.a++, { log: ['a'] }),
        b: () => (calls.b++, { log: ['b'] }),
      },
      edges: { start: 'a', a: 'b', b: 'end' },
    })

  it('every checkpoint of a step, the run fails with its error and claims nothing', async () => {
    const calls = { a: 0, b: 0 }
    const full = new Error('disk full')
    const store = refusing(/\/c\/-\//, full)
    const app = compile(two(calls), { store, clock: countingClock(), logger: silent })
    store.broken = false
    const live = app.stream({ thread: 't', input: {} })
    await live.id
    store.broken = true
    expect(await failure(live.outcome)).toBe(full)
    // Once more, as SPEC has it, and not again.
    expect(store.refused).toBe(2)
    expect(await app.state('t')).toMatchObject({
      status: 'error',
      state: { log: [] },
      next: ['a'],
      error: { message: 'disk full' },
    })
    expect(calls).toEqual({ a: 1, b: 0 })
    store.broken = false
    expect(await app.run({ thread: 't' })).toMatchObject({
      status: 'success',
      state: { log: ['a', 'b'] },
    })
    expect(calls).toEqual({ a: 2, b: 1 })
  })

  it('once, the commit is tried again and the run succeeds', async () => {
    const calls = { a: 0, b: 0 }
    const under = memory()
    let commits = 0
    const flaky: Store = Object.assign(Object.create(under) as Store, {
      async commit(batch: Parameters<Store['commit']>[0]) {
        if (++commits % 2 === 1) throw new Error('try again')
        return under.commit(batch)
      },
    })
    const app = compile(two(calls), { store: flaky, clock: countingClock() })
    expect(await app.run({ thread: 't', input: {} })).toMatchObject({
      status: 'success',
      state: { log: ['a', 'b'] },
    })
    expect(calls).toEqual({ a: 1, b: 1 })
  })

  it('the claim, the run is refused with its error and there is no thread', async () => {
    const full = new Error('disk full')
    const calls = { a: 0, b: 0 }
    const store = refusing(/^h\//, full)
    const app = compile(two(calls), { store, clock: countingClock(), logger: silent })
    const live = app.stream({ thread: 't', input: {} })
    expect(await failure(all(live))).toBe(full)
    expect(await failure(live.id)).toBe(full)
    expect(await app.state('t')).toBeUndefined()
    expect(calls).toEqual({ a: 0, b: 0 })
    store.broken = false
    expect(await app.run({ thread: 't', input: {} })).toMatchObject({ status: 'success' })
  })

  it('to note that the run has begun, the run is recorded as failed and the thread is free', async () => {
    const full = new Error('disk full')
    const calls = { a: 0, b: 0 }
    const under = memory()
    let commits = 0
    const store: Store = Object.assign(Object.create(under) as Store, {
      async commit(batch: Parameters<Store['commit']>[0]) {
        // The claim is the first; the second and its repetition say "running".
        if (++commits === 2 || commits === 3) throw full
        return under.commit(batch)
      },
    })
    const app = compile(two(calls), { store, clock: countingClock(), logger: silent })
    const live = app.stream({ thread: 't', input: {} })
    expect(await failure(all(live))).toBe(full)
    expect(await app.state('t')).toMatchObject({ status: 'error', error: { message: 'disk full' } })
    expect(calls).toEqual({ a: 0, b: 0 })
    expect(await app.run({ thread: 't' })).toMatchObject({ status: 'success' })
  })

  it('what a node stores with once, the node can not hide it', async () => {
    const full = new Error('disk full')
    const calls = { n: 0, work: 0 }
    const store = refusing(/\/w\//, full)
    const g = graph({
      name: 'onces',
      state: { out: field<unknown>(undefined), kept: field<unknown>(undefined) },
      nodes: {
        n: {
          async run(_, ctx) {
            calls.n++
            try {
              const out = await ctx.once('work', () => ++calls.work)
              return { out, kept: await ctx.interrupt('sure?') }
            } catch {
              return { out: 'hidden', kept: await ctx.interrupt('hidden') }
            }
          },
          retry: { attempts: 3, delay: 1 },
        },
      },
      edges: { start: 'n', n: 'end' },
    })
    const app = compile(g, { store, clock: countingClock(), logger: silent })
    expect(await fails(app)).toBe(full)
    expect(calls).toEqual({ n: 1, work: 1 })
    expect(await app.state('t')).toMatchObject({ status: 'error', interruptions: [] })
    store.broken = false
    expect(await app.run({ thread: 't' })).toMatchObject({ status: 'interrupted' })
    expect(await app.run({ thread: 't', answer: 'yes' })).toMatchObject({
      state: { out: 2, kept: 'yes' },
    })
  })

  it('a result while another is on its way, what is stored can still be read', async () => {
    const full = new Error('disk full')
    const calls = { a: 0, b: 0, c: 0 }
    const store = refusing(/\/w\//, full)
    const held = gate()
    const g = graph({
      name: 'parallel',
      state: { log: reduced(field<string[]>([]), append) },
      nodes: {
        a: () => (calls.a++, { log: ['a'] }),
        async b() {
          calls.b++
          for (let turn = 0; turn < 5; turn++) await Promise.resolve()
          return { log: ['b'] }
        },
        async c() {
          calls.c++
          await held.promise
          return { log: ['c'] }
        },
      },
      edges: { start: ['a', 'b', 'c'], a: 'end', b: 'end', c: 'end' },
    })
    const app = compile(g, { store, clock: countingClock(), logger: silent })
    expect(await fails(app)).toBe(full)
    held.open()
    store.broken = false
    expect(await app.run({ thread: 't' })).toMatchObject({ state: { log: ['a', 'b', 'c'] } })
    expect(calls).toEqual({ a: 2, b: 2, c: 2 })
  })

  it('lost to another owner elsewhere, a node may throw that too: its own run is recorded', async () => {
    const lost = new LeaseLost('Cannot write to thread "other": another owner has it', {
      thread: 'other',
    })
    const app = compile(
      graphOf({
        n() {
          throw lost
        },
      }),
      { clock: countingClock(), logger: silent },
    )
    expect(await fails(app)).toBe(lost)
    expect(await app.state('t')).toMatchObject({ status: 'error', error: { code: 'lease_lost' } })
  })

  it('to record the failure too, the first error is what the caller gets', async () => {
    const store = refusing(/\.e$/, new Error('disk full'))
    const warned: string[] = []
    const logger = { ...silent, warn: (message: string) => void warned.push(message) }
    const app = compile(graphOf({ n: thrower }), {
      store,
      clock: countingClock(),
      logger,
      leaseMs: 20,
    })
    const live = app.stream({ thread: 't', input: {} })
    expect(await failure(all(live))).toBe(broken)
    expect(warned).toHaveLength(1)
    store.broken = false
    await after(30)
    expect(await compile(graphOf({}), { store }).run({ thread: 't' })).toMatchObject({
      status: 'success',
    })
  })
})
