// Many tasks, questions and rows at once on stores that take little, whatever fails on the way.
import {
  append,
  compile,
  each,
  field,
  graph,
  isHeddleError,
  memory,
  reduced,
  sum,
  type CompiledGraph,
  type Graph,
  type Store,
} from 'heddle'
import { manualClock, withFaults, type Operation } from 'heddle/testing'
import { describe, expect, it } from 'vitest'
import { smallStore } from '../fakes/small-store.ts'

import { atEveryOperation, LEASE, machine, told } from './faults-tools.ts'
import { failure, keepBooks } from './harness.ts'
import { all, rowsOf } from './portable.ts'
import { LIKE_DENO, SIZES, stray } from './sizes-parts.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n)

/** A task for each number; those of a list ask. */
const tasks = (count: number, asks: readonly number[] = [], item = (n: number) => `${n}`): Graph =>
  graph({
    name: 'tasks',
    state: { total: reduced(field(0), sum), said: reduced(field<string[]>([]), append) },
    nodes: {
      task: {
        item: field<string>(),
        run: async (_, ctx) => {
          const n = Number.parseInt(ctx.item as string, 10)
          if (!asks.includes(n)) return { total: 1 }
          return { said: [(await ctx.interrupt(n)) as string] }
        },
      },
    },
    edges: { start: () => each('task', numbers(count).map(item)), task: 'end' },
  })

describe.each(SIZES)('a store of %s', (_, make) => {
  it('voids 300 questions at once', async () => {
    const store = make()
    const app = compile(tasks(300, numbers(300)), { store })
    await app.run({ thread: 't', input: {} })
    await app.cancel('t')
    expect([...(await rowsOf(store)).keys()].filter((key) => /^[od]\//.test(key))).toEqual([])
    await app.delete('t')
    expect([...(await rowsOf(store)).keys()]).toEqual([])
  })
})

it('a checkpoint names 10,000 tasks with what each is about', async () => {
  const store = smallStore(memory(), LIKE_DENO)
  const item = (n: number): string => `${n} ${'漢'.repeat(20)}`
  const make = (): CompiledGraph =>
    compile(tasks(10_000, [9_999], item), { store, concurrency: 500 })
  const first = await make().run({ thread: 't', input: {} })
  expect(first).toMatchObject({ status: 'interrupted', interruptions: [{ payload: 9_999 }] })
  const last = await make().run({ thread: 't', answer: 'done' })
  expect(last).toMatchObject({ status: 'success', state: { total: 9_999, said: ['done'] } })
  expect(await stray(store)).toEqual([])
})

describe('whatever fails at whatever operation', () => {
  const text = (n: number): string => `${n} ${'é'.repeat(800)}`

  /** Twelve tasks of which four ask, each with more than a value holds. */
  const make = (name: string, calls: Record<string, number>): Graph =>
    graph({
      name,
      state: { said: reduced(field<string[]>([]), append), total: reduced(field(0), sum) },
      nodes: {
        task: {
          item: field<string>(),
          run: async (_, ctx) => {
            const item = ctx.item as string
            const done = await ctx.once('work', () => {
              calls[item] = (calls[item] ?? 0) + 1
              return text(1)
            })
            if (Number.parseInt(item, 10) % 3) return { said: [done] }
            return { said: [(await ctx.interrupt(item)) as string] }
          },
        },
        sum: ({ said }) => ({ total: said.length }),
      },
      edges: {
        start: () => each('task', numbers(12).map(text)),
        task: 'sum',
        sum: 'end',
      },
    })

  const attempt = async (
    store: Store,
    name: string,
    faults: Parameters<typeof withFaults>[1] = [],
  ): Promise<readonly Operation[]> => {
    const calls: Record<string, number> = {}
    const here = machine(store, make(name, calls), faults)
    const first = here.store
    let end = ''
    for (let round = 0; end !== 'success'; round++) {
      if (round > 20) throw new Error(`it doesn't end: ${end}`)
      const state = await here.app.state(name).catch(() => undefined)
      if (here.store.crashed) here.later(LEASE + 1)
      else if (!state) end = (await told(here.app, { thread: name, input: {} })).end
      else if (state.status === 'interrupted') {
        const answers = state.interruptions.map(({ id, payload }) => [id, `to ${String(payload)}`])
        end = (
          await told(here.app, { thread: name, answers: Object.fromEntries(answers) as never })
        ).end
      } else if (state.status === 'success') end = 'success'
      else end = (await told(here.app, { thread: name })).end
      if (end === 'thread_busy' || end === 'resume_conflict') here.later(LEASE + 1)
    }
    const log = [...first.log]
    const { app } = here
    const said = numbers(12).map((n) => (n % 3 ? text(1) : `to ${text(n)}`))
    expect((await app.state(name))?.state).toEqual({ said, total: 12 })
    const answered = await app.interruptions({ thread: name, status: 'answered' })
    expect(answered.map(({ answer }) => answer)).toEqual([0, 3, 6, 9].map((n) => `to ${text(n)}`))
    // An effect is repeated only if its result did not reach the store.
    expect(Math.max(...Object.values(calls))).toBeLessThanOrEqual(faults.length > 0 ? 2 : 1)
    await app.delete(name)
    // Rows of indexes that a crash has left lead nowhere, and go when they are read.
    await app.interruptions()
    here.later(LEASE + 1)
    await here.app.tick()
    return log
  }

  it.each(['crash before', 'crash after', 'lost reply', 'error'] as const)(
    '%s: it ends as if nothing had',
    { timeout: 120_000 },
    async (way) => {
      await atEveryOperation(smallStore(memory()), way, attempt)
    },
  )

  it.each(['crash before', 'crash after', 'lost reply', 'torn'] as const)(
    '%s, without atomic batches: it ends as if nothing had',
    { timeout: 120_000 },
    async (way) => {
      await atEveryOperation(smallStore(memory(), { atomic: false }), way, attempt)
    },
  )
})

describe('claims that are larger than a batch', () => {
  const count = 30
  const asking = tasks(count, numbers(count))

  /** Two processes that answer every question at once, the first held up at its operation number `at`. */
  it('never mix: the answers are those of the one that has won', { timeout: 60_000 }, async () => {
    let reached = true
    let conflicts = 0
    for (let at = 1; reached; at++) {
      const under = smallStore(memory())
      await compile(asking, { store: under }).run({ thread: 't', input: {} })
      const open = await compile(asking, { store: under }).interruptions({ thread: 't' })
      const answers = (who: string): never =>
        Object.fromEntries(open.map(({ id }) => [id, `${who}'s answer`])) as never
      const slow = withFaults(under, [{ at, freeze: true }])
      const app = compile(asking, { store: slow, logger: silent })
      const first = app
        .run({ thread: 't', answers: answers('Ann') })
        .catch((error: unknown) => error)
      for (let turn = 0; turn < 1_000 && slow.log.length < at; turn++)
        await new Promise((resolve) => setImmediate(resolve))
      reached = slow.log.length >= at
      const other = compile(asking, { store: under, logger: silent })
      const second = await other
        .run({ thread: 't', answers: answers('Ben') })
        .catch((e: unknown) => e)
      slow.release()
      const ends = [await first, second]
      const lost = ends.filter((end) => isHeddleError(end))
      expect(lost, `held up at ${at}`).toHaveLength(1)
      conflicts += lost.filter((end) => isHeddleError(end, 'resume_conflict')).length
      const winner = lost[0] === second ? 'Ann' : 'Ben'
      const said = numbers(count).map(() => `${winner}'s answer`)
      expect((await other.state('t'))?.state).toEqual({ total: 0, said })
      const answered = await other.interruptions({ thread: 't', status: 'answered' })
      expect(answered.map(({ answer }) => answer)).toEqual(said)
      await other.delete('t')
      expect([...(await rowsOf(under)).keys()]).toEqual([])
    }
    expect(conflicts).toBeGreaterThan(3)
  })

  it('of a new thread count as nothing until they are whole, and leave nothing', async () => {
    const make = graph({
      name: 'note',
      state: { text: field('') },
      nodes: { keep() {} },
      edges: { start: 'keep', keep: 'end' },
    })
    const input = { text: 'x'.repeat(20_000) }
    for (let at = 2, crashed = true; crashed; at++) {
      const under = smallStore(memory())
      const clock = manualClock()
      const dying = withFaults(under, [{ at, crash: 'after' }])
      await compile(make, { store: dying, clock, logger: silent })
        .run({ thread: 't', input })
        .catch(() => {})
      crashed = dying.crashed
      const app = compile(make, { store: under, clock, logger: silent })
      if (crashed && (await app.state('t')) === undefined) {
        expect(await all(app.threads())).toEqual([])
        expect(await failure(app.run({ thread: 't', input }))).toMatchObject({
          code: 'thread_busy',
        })
        await clock.advance(60_001)
        expect(await app.tick()).toMatchObject({ recovered: [] })
        expect([...(await rowsOf(under)).keys()], `after a crash at ${at}`).toEqual([])
        expect(await app.run({ thread: 't', input })).toMatchObject({ status: 'success' })
      }
      await clock.advance(60_001)
      await app.tick()
      expect((await app.state('t'))?.state).toEqual(input)
      await app.delete('t')
      expect([...(await rowsOf(under)).keys()], `after a crash at ${at}`).toEqual([])
    }
  })
})
