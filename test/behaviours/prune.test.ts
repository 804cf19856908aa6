// Old checkpoints go, with all that only they needed; what stays is read as before and goes on as before.
import { append, compile, field, graph, memory, reduced } from 'heddle'
import type { CompiledGraph, Graph, Store } from 'heddle'
import { cloudflareKv } from 'heddle/cloudflare-kv'
import { manualClock, withFaults } from 'heddle/testing'
import { describe, expect, it } from 'vitest'
import { eventualKv } from '../fakes/eventual-kv.ts'
import { smallStore } from '../fakes/small-store.ts'

import { all, failure, keepBooks, rowsOf } from './harness.ts'
import { past } from './prune-parts.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

/** Counts to a number and lists what it counts; asks before the last. */
const counting = (most: number, about = ''): Graph =>
  graph({
    name: 'counting',
    state: { n: field(0), label: field(''), list: reduced(field<string[]>([]), append) },
    nodes: {
      async count({ n }, ctx) {
        await ctx.emit({ n })
        const by = `${about}${n}`
        if (n === most - 1) return { n: n + 1, list: [String(await ctx.interrupt(by))] }
        return { n: n + 1, ...(n % 5 === 4 ? { label: by } : {}), list: [by] }
      },
    },
    edges: { start: 'count', count: ({ n }) => (n < most ? 'count' : 'end') },
  })

const kinds = async (store: Store): Promise<Record<string, number>> => {
  const count: Record<string, number> = {}
  for (const { key } of await rowsOf(store)) {
    const kind = key.startsWith('t/') ? key.split('/')[2]! : key[0]!
    count[kind] = (count[kind] ?? 0) + 1
  }
  return count
}

it('keepLast keeps so many and drops the rest, for good', async () => {
  const store = memory()
  const app = compile(counting(70), { store })
  await app.run({ thread: 't', input: {} })
  const before = await all(app.history('t'))
  expect(await app.prune('t', { keepLast: 10 })).toEqual({ removed: before.length - 10 })
  expect(await all(app.history('t'))).toEqual(before.slice(0, 10))
  const gone = before[10]!.checkpoint
  expect(before[9]!.parent).toBe(gone)
  expect(await app.state('t', { checkpoint: gone })).toBeUndefined()
  expect(await all(app.history('t', { before: gone }))).toEqual([])
  expect(await failure(app.run({ thread: 't', from: gone }))).toMatchObject({
    code: 'unknown_checkpoint',
  })
  const left = await rowsOf(store)
  expect(await app.prune('t', { keepLast: 10 })).toEqual({ removed: 0 })
  expect(await rowsOf(store)).toEqual(left)
  const { state } = await app.run({ thread: 't', answer: 'yes' })
  expect(state).toMatchObject({ n: 70, label: '64' })
  expect((state as { list: string[] }).list).toHaveLength(70)
})

it('one checkpoint of a thread that has ended takes few rows, however long it was', async () => {
  const counted = async (most: number): Promise<object> => {
    const store = memory()
    const app = compile(counting(most), { store, stepLimit: most })
    await app.run({ thread: 't', input: {} })
    await app.run({ thread: 't', answer: 'yes' })
    await app.prune('t', { keepLast: 1 })
    return kinds(store)
  }
  // The state of 33 updates is its first and the other 32 in one.
  expect(await counted(32)).toEqual({ h: 1, n: 1, c: 1, s: 4, r: 2 })
  expect(await counted(1024)).toEqual({ h: 1, n: 1, c: 1, s: 4, r: 2 })
})

it('olderThan keeps what is not older, and the newest whatever its age', async () => {
  const clock = manualClock()
  const app = compile(counting(4), { clock })
  await app.run({ thread: 't', input: {} })
  await clock.advance(1000)
  await app.run({ thread: 't', answer: 'yes' })
  await clock.advance(1000)
  await app.run({ thread: 't', input: { n: 2 } })
  const before = await all(app.history('t'))
  const at = (ms: number): Date => new Date(Date.parse('2026-03-01T08:00:00Z') + ms)
  expect(await app.prune('t', { olderThan: at(0) })).toEqual({ removed: 0 })
  expect(await app.prune('t', { olderThan: at(1000) })).toEqual({ removed: 4 })
  expect(await all(app.history('t'))).toEqual(before.slice(0, -4))
  // What either of two keeps stays.
  expect(await app.prune('t', { olderThan: at(5000), keepLast: 2 })).toMatchObject({ removed: 1 })
  expect(await all(app.history('t'))).toEqual(before.slice(0, 2))
  expect(await app.prune('t', { olderThan: at(9e9) })).toEqual({ removed: 1 })
  expect(await all(app.history('t'))).toEqual(before.slice(0, 1))
})

it('a clock that was set back leaves no hole in what is kept', async () => {
  const clock = manualClock()
  const app = compile(counting(4), { clock })
  await app.run({ thread: 't', input: {} })
  clock.set('2026-03-01T07:00:00Z')
  await app.run({ thread: 't', answer: 'yes' })
  clock.set('2026-03-01T09:00:00Z')
  await app.run({ thread: 't', input: { n: 2 } })
  const before = await all(app.history('t'))
  const { removed } = await app.prune('t', { olderThan: new Date('2026-03-01T08:00:00Z') })
  expect(removed).toBe(0)
  expect(await all(app.history('t'))).toEqual(before)
})

it.each([
  [{}, TypeError, 'neither keepLast nor olderThan'],
  [undefined, TypeError, ''],
  [null, TypeError, ''],
  [{ keepLast: undefined }, TypeError, 'neither'],
  [{ keepLast: 0 }, RangeError, 'keepLast'],
  [{ keepLast: -1 }, RangeError, 'keepLast'],
  [{ keepLast: 1.5 }, RangeError, 'keepLast'],
  [{ keepLast: NaN }, RangeError, 'keepLast'],
  [{ keepLast: '3' }, RangeError, 'keepLast'],
  [{ olderThan: 5 }, TypeError, 'olderThan'],
  [{ olderThan: '2026-01-01' }, TypeError, 'olderThan'],
  [{ olderThan: new Date(NaN) }, TypeError, 'olderThan'],
  [{ keepLast: 1, other: 1 }, TypeError, 'other'],
])('%j is refused before anything is read', async (kept, Refusal, about) => {
  const store = withFaults(memory())
  const app = compile(counting(3), { store })
  const error = await failure(app.prune('t', kept as never))
  expect(error).toBeInstanceOf(Refusal)
  expect(error.message).toContain(about)
  expect(store.log).toEqual([])
})

it('a thread that does not exist has nothing to remove; one of another graph is refused', async () => {
  const store = memory()
  const app = compile(counting(3), { store })
  expect(await app.prune('t', { keepLast: 1 })).toEqual({ removed: 0 })
  await app.run({ thread: 't', input: {} })
  const other = compile(
    graph({ name: 'other', state: {}, nodes: { a() {} }, edges: { start: 'a', a: 'end' } }),
    { store },
  )
  expect(await failure(other.prune('t', { keepLast: 1 }))).toMatchObject({ code: 'graph_mismatch' })
})

it('a thread that somebody runs is refused and left as it is', async () => {
  const store = memory()
  let go = (): void => {}
  const slow = graph({
    name: 'slow',
    state: { n: field(0) },
    nodes: {
      step: ({ n }) => ({ n: n + 1 }),
      wait: () => new Promise<void>((resolve) => (go = resolve)),
    },
    edges: { start: 'step', step: ({ n }) => (n < 5 ? 'step' : 'wait'), wait: 'end' },
  })
  const options = { store, clock: manualClock(), logger: silent }
  const running = compile(slow, options).run({ thread: 't', input: {} })
  const app = compile(slow, options)
  while ((await app.state('t'))?.next.includes('wait') !== true) await Promise.resolve()
  const before = await rowsOf(store)
  expect(await failure(app.prune('t', { keepLast: 1 }))).toMatchObject({
    code: 'thread_busy',
    details: { thread: 't', until: '2026-03-01T08:01:00.000Z' },
  })
  expect(await rowsOf(store)).toEqual(before)
  go()
  await running
  expect(await app.prune('t', { keepLast: 1 })).toEqual({ removed: 6 })
})

it('a thread whose owner has died is refused until it has been recovered', async () => {
  const store = memory()
  const clock = manualClock()
  const make = (on: Store): CompiledGraph =>
    compile(counting(5), { store: on, clock, logger: silent })
  await failure(
    make(withFaults(store, [{ at: 7, crash: 'after' }])).run({ thread: 't', input: {} }),
  )
  const app = make(store)
  await clock.advance(120_000)
  expect(await failure(app.prune('t', { keepLast: 1 }))).toMatchObject({ code: 'thread_busy' })
  await app.tick()
  expect((await app.prune('t', { keepLast: 1 })).removed).toBeGreaterThan(3)
})

it('rows that crashes have left go when the thread has gone on', async () => {
  let orphans = 0
  for (const tear of [1, 2]) {
    for (let at = 3; at < 12; at++) {
      const store = memory()
      const loose = { ...store, caps: { ...store.caps, atomic: false } }
      const clock = manualClock()
      const make = (on: Store): CompiledGraph =>
        compile(counting(5), { store: on, clock, logger: silent })
      const dying = withFaults(loose, [{ at, tear, crash: 'after' }])
      await make(dying)
        .run({ thread: 't', input: {} })
        .catch(() => {})
      await clock.advance(120_000)
      const app = make(loose)
      await app.tick()
      if (!(await app.state('t'))) await app.run({ thread: 't', input: {} })
      await app.run({ thread: 't', answer: 'yes' })
      const left = async (): Promise<number> => {
        const { entries } = await app.exportThread('t')
        const rows = (await rowsOf(store)).filter(({ key }) => key.startsWith('t/'))
        return 1 + rows.length - entries.length
      }
      orphans += await left()
      await app.prune('t', { keepLast: 100 })
      expect(await left(), `rows that nothing leads to, ${at}, ${tear}`).toBe(0)
    }
  }
  expect(orphans).toBeGreaterThan(3)
})

/** Pieces of values, those of rows that are not there apart. */
async function piecesIn(store: Store): Promise<{ count: number; strays: string[] }> {
  const keys = (await rowsOf(store)).map(({ key }) => key)
  const named = new Set(keys)
  const pieces = keys.filter((key) => key.split('/')[2] === 'x' && key.split('/')[3] !== 'h')
  const strays = pieces.filter((key) => !named.has(key.replace('/x/', '/').replace(/\.\d+$/, '')))
  return { count: pieces.length, strays }
}

it('values in pieces go with all of them', async () => {
  const store = smallStore(memory())
  const app = compile(counting(40, 'x'.repeat(3000)), { store })
  await app.run({ thread: 't', input: {} })
  const before = await all(app.history('t'))
  await app.prune('t', { keepLast: 2 })
  expect(await all(app.history('t'))).toEqual(before.slice(0, 2))
  const { count, strays } = await piecesIn(store)
  expect(count).toBeGreaterThan(100)
  expect(strays).toEqual([])
})

it('pieces that crashes have left go when the thread has gone on', async () => {
  let found = 0
  for (let at = 5; at < 80; at += 3) {
    const store = smallStore(memory())
    const clock = manualClock()
    const make = (on: Store): CompiledGraph =>
      compile(counting(6, 'x'.repeat(3000)), { store: on, clock, logger: silent })
    await make(withFaults(store, [{ at, crash: 'after' }]))
      .run({ thread: 't', input: {} })
      .catch(() => {})
    await clock.advance(120_000)
    const app = make(store)
    await app.tick()
    if (!(await app.state('t'))) await app.run({ thread: 't', input: {} })
    await app.run({ thread: 't', answer: 'yes' })
    found += (await piecesIn(store)).strays.length
    await app.prune('t', { keepLast: 100 })
    expect((await piecesIn(store)).strays, `pieces after a crash at ${at}`).toEqual([])
  }
  expect(found).toBeGreaterThan(5)
})

it('events of what is kept are told, those before are not', async () => {
  const app = compile(counting(20))
  await app.run({ thread: 't', input: {} })
  await app.run({ thread: 't', answer: 'yes' })
  const run = (await all(app.runs('t')))[0]!.id
  const events = await all(app.subscribe('t', { run }))
  await app.prune('t', { keepLast: 3 })
  const told = await all(app.subscribe('t', { run }))
  expect(told.length).toBeGreaterThan(5)
  expect(told).toEqual(events.slice(-told.length))
  const [oldest] = (await all(app.history('t'))).slice(-1)
  expect(told).toContainEqual(
    expect.objectContaining({ kind: 'step', checkpoint: oldest!.checkpoint }),
  )
})

it('a key starts nothing again as long as its run is remembered', async () => {
  const app = compile(counting(3))
  const request = { thread: 't', input: {}, idempotencyKey: 'k' } as const
  const first = await app.run(request)
  await app.prune('t', { keepLast: 1 })
  expect(await app.run(request)).toEqual(first)
})

describe('on a store whose lists lag', () => {
  it('is refused until all that was written is listed', async () => {
    const clock = manualClock()
    const store = cloudflareKv(eventualKv({ seesOwn: 1, lagMs: 0 }).at('here'), {
      lease: memory(),
    })
    const app = compile(counting(12), { store, clock })
    await app.run({ thread: 't', input: {} })
    const before = await all(app.history('t'))
    const refused = { code: 'thread_busy', details: { until: '2026-03-01T08:10:00.000Z' } }
    expect(await failure(app.prune('t', { keepLast: 2 }))).toMatchObject(refused)
    expect(await failure(app.exportThread('t'))).toMatchObject(refused)
    await clock.advance(600_000)
    expect(await app.prune('t', { keepLast: 2 })).toEqual({ removed: 10 })
    expect(await all(app.history('t'))).toEqual(before.slice(0, 2))
  })

  it('is refused without a lease', async () => {
    const store = cloudflareKv(eventualKv({ seesOwn: 1, lagMs: 0 }).at('here'))
    const app = compile(counting(3), { store })
    await app.run({ thread: 't', input: {} })
    expect(await failure(app.prune('t', { keepLast: 1 }))).toMatchObject({ code: 'store_unsafe' })
  })
})

it('every kind of past ends in a thread that can be pruned to one', async () => {
  const { app } = await past(2)
  await app.prune('t', { keepLast: 1 })
  expect(await all(app.history('t'))).toHaveLength(1)
})
