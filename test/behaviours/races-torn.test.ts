// Owners that lose their thread in the middle of a commit, where a commit isn't one: its rows land, its head doesn't.
import { append, compile, field, graph, memory, reduced, type Batch, type Store } from 'heddle'
import { manualClock, withFaults } from 'heddle/testing'
import { expect, it } from 'vitest'
import { all, keepBooks } from './harness.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

const LEASE = 60_000

const steps = (count: number) =>
  graph({
    name: 'steps',
    state: { log: reduced(field<number[]>([]), append) },
    nodes: { step: ({ log }) => ({ log: [log.length] }) },
    edges: { start: 'step', step: ({ log }) => (log.length < count ? 'step' : 'end') },
  })

const asking = graph({
  name: 'asking',
  state: { said: field<unknown>(null) },
  nodes: { ask: async (_, ctx) => ({ said: await ctx.interrupt('ok?') }) },
  edges: { start: 'ask', ask: 'end' },
})

it('a cancel that dies half way leaves a thread that goes on by the clock, or with an input', async () => {
  const clock = manualClock()
  const store = memory()
  const app = compile(asking, { store, clock, logger: silent })
  await app.run({ thread: 't1', input: {} })
  await app.run({ thread: 't2', input: {} })
  for (const thread of ['t1', 't2']) {
    // It reads the head, claims it and voids what is open; then it is gone.
    const dying = withFaults(store, [{ at: 2, crash: 'after' }])
    const canceller = compile(asking, { store: dying, clock, logger: silent })
    await expect(canceller.cancel(thread)).rejects.toThrow('the process is gone')
  }
  await clock.advance(LEASE)
  expect(await app.run({ thread: 't2', input: {} })).toMatchObject({ status: 'interrupted' })
  expect((await app.tick()).recovered).toEqual(['t1'])
  for (const thread of ['t1', 't2'])
    expect(await app.run({ thread, answer: 1 })).toMatchObject({ state: { said: 1 } })
})

it('a claim that has won and then loses the thread is no refusal', async () => {
  const base = torn(memory())
  const other = compile(steps(3), { store: base.store, logger: silent })
  // The head is its own by the first commit; its rows come with the second.
  const app = compile(steps(3), {
    store: base.before(2, () => other.cancel('t1')),
    logger: silent,
  })
  await expect(app.run({ thread: 't1', input: {} })).rejects.toMatchObject({ code: 'cancelled' })
  expect(await other.run({ thread: 't1' })).toMatchObject({ state: { log: [0, 1, 2] } })
})

it('nor is one whose reply is lost, and the thread with it', async () => {
  const base = memory()
  const other = compile(steps(3), { store: base, logger: silent })
  let commits = 0
  const commit = async (batch: Batch) => {
    const revision = await base.commit(batch)
    if (++commits > 1) return revision
    await other.cancel('t1')
    throw new Error('the line is dead')
  }
  const app = compile(steps(3), { store: { ...base, commit }, logger: silent })
  await expect(app.run({ thread: 't1', input: {} })).rejects.toMatchObject({
    code: 'cancelled',
    cause: { message: 'the line is dead' },
  })
})

it('a node whose work was not known to be stored is not tried again in the same run', async () => {
  const base = memory()
  let dead = 0
  const commit = async (batch: Batch) => {
    const revision = await base.commit(batch)
    // Two replies are lost: that of the commit with the result, and that of the look at what became of it.
    if (batch.puts?.some(({ value }) => value.includes('"once"')) && dead === 0) dead = 2
    if (dead === 2) throw new Error(`the line is dead: ${dead--}`)
    return revision
  }
  const get = async (keys: readonly string[]) => {
    if (dead === 1) throw new Error(`the line is dead: ${dead--}`)
    return base.get(keys)
  }
  let work = 0
  const paying = graph({
    name: 'paying',
    state: { paid: field(0) },
    nodes: {
      pay: {
        run: async (_, ctx) => ({ paid: await ctx.once('pay', () => ++work) }),
        retry: { attempts: 3, delay: 0 },
      },
    },
    edges: { start: 'pay', pay: 'end' },
  })
  const clock = manualClock()
  const app = compile(paying, { store: { ...base, commit, get }, clock, logger: silent })
  await expect(app.run({ thread: 't1', input: {} })).rejects.toThrow('the line is dead')
  await clock.advance(LEASE)
  expect(await app.run({ thread: 't1' })).toMatchObject({ state: { paid: 1 } })
  expect(work).toBe(1)
})

it('what a cancelled owner still writes is no part of what comes after it', async () => {
  const base = torn(memory())
  const other = compile(steps(5), { store: base.store, logger: silent })
  // Claim, rows, running, then a commit a step.
  const app = compile(steps(5), {
    store: base.before(5, () => other.cancel('t1')),
    logger: silent,
  })
  await expect(app.run({ thread: 't1', input: {} })).rejects.toMatchObject({ code: 'cancelled' })
  expect(await other.run({ thread: 't1' })).toMatchObject({ state: { log: [0, 1, 2, 3, 4] } })
  expect(base.rewritten.filter((key) => !key.endsWith('.e'))).toEqual([])
})

it('history leaves out a checkpoint of which only a part landed', async () => {
  const base = torn(memory())
  const other = compile(steps(5), { store: base.store, logger: silent })
  const app = compile(steps(5), {
    store: base.before(5, () => other.cancel('t1'), /\/c\//),
    logger: silent,
  })
  await expect(app.run({ thread: 't1', input: {} })).rejects.toMatchObject({ code: 'cancelled' })
  await other.run({ thread: 't1' })
  const lengths = (await all(other.history('t1'))).map(({ state }) => state.log.length)
  expect(lengths).toEqual([5, 4, 3, 2, 1, 1, 0])
})

/** A store whose commits aren't whole: rows first, then the head with its check. Tells which rows changed. */
function torn(base: Store) {
  const rows = new Map<string, string>()
  const rewritten: string[] = []
  const isHead = ({ key }: { readonly key: string }): boolean => key.startsWith('h/')
  const write = async ({ checks = [], puts = [], deletes = [] }: Batch, only?: RegExp) => {
    for (const { key, value } of puts.filter((put) => !isHead(put))) {
      if (only?.test(key) === false) continue
      if (rows.has(key) && rows.get(key) !== value) rewritten.push(key)
      rows.set(key, value)
      await base.commit({ puts: [{ key, value }] })
    }
    const revision = await base.commit({ checks, puts: puts.filter(isHead) })
    if (revision !== undefined) await base.commit({ deletes })
    return revision
  }
  const store: Store = { ...base, caps: { ...base.caps, atomic: false }, commit: write }
  /** The same, but something happens before a commit, and only some rows of that commit land. */
  const before = (n: number, happens: () => Promise<void>, only?: RegExp): Store => {
    let commits = 0
    const commit = async (batch: Batch) => {
      if (++commits !== n) return write(batch)
      await happens()
      return write(batch, only)
    }
    return { ...store, commit }
  }
  return { store, before, rewritten }
}
