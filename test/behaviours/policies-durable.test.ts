import {
  append,
  budget,
  compile,
  field,
  graph,
  memory,
  reduced,
  runLimits,
  tool,
  type CompiledGraph,
  type Emitted,
  type Graph,
  type Store,
} from 'heddle'
import { manualClock, withFaults } from 'heddle/testing'
import { describe, expect, it, test } from 'vitest'
import { readHead, type Head } from '../../src/durable/head.ts'
import { sealed } from '../../src/durable/seal.ts'
import { silent } from '../fakes/silent.ts'
import { failure, keepBooks, rowsOf } from './harness.ts'
import { desk, endings, texts } from './policies-parts.ts'

keepBooks()

const clock = () => manualClock('2026-01-01T00:00:00Z')

/** The head of the one thread of a store. */
async function headOf(store: Store): Promise<Head> {
  return readHead(await headText(store))
}

async function headText(store: Store): Promise<string> {
  const [head, ...more] = await sealed(store).list({ prefix: 'h/', limit: 2 })
  expect(more).toEqual([])
  return head!.value
}

const counted = async (store: Store): Promise<unknown> =>
  (await headOf(store)).used?.map(([toolCalls]) => toolCalls)

describe('what is counted', () => {
  it('is not stored of a thread that calls no tool, whatever policies its app has', async () => {
    const { does } = desk()
    const stored = await Promise.all(
      [[], [budget({ calls: 1 }), runLimits({ toolCalls: 1 })]].map(async (hooks) => {
        const [store, time] = [memory(), clock()]
        const options = { store, hooks, clock: time, random: () => 0.5, newId: (p: string) => p }
        const app = compile(does((ctx) => ctx.interrupt())(), options)
        await app.run({ thread: 't', input: {} })
        expect((await headOf(store)).used).toBeUndefined()
        return (await rowsOf(store)).map(({ key, value }) => [key, value])
      }),
    )
    expect(stored[0]).toEqual(stored[1])
  })

  it('is stored with the result, and a head of before it reads as nothing counted', async () => {
    const { post, does } = desk()
    const store = memory()
    const work = does(async (ctx) => [await ctx.call(post, { text: 'a' }), await ctx.interrupt()])
    await compile(work(), { store, clock: clock() }).run({ thread: 't', input: {} })
    expect(await counted(store)).toEqual([1, 1])
    const text = await headText(store)
    const old = JSON.parse(text) as unknown[]
    const { used, ...rest } = readHead(text)
    expect(used).toEqual([
      [1, 0, 0],
      [1, 0, 0],
    ])
    expect(readHead(JSON.stringify(old.slice(0, -1)))).toEqual({ ...rest, used: undefined })
  })

  it('goes with a thread to another store, and stays with a fork in the thread', async () => {
    const { post, does } = desk()
    const hooks = [budget({ calls: 3, per: 'thread' })]
    const work = does(async (ctx) => endings(await ctx.callAll(texts(['a', 'b']))))
    const [here, there] = [memory(), memory()]
    const appOf = (store: Store): CompiledGraph =>
      compile(work(), { store, hooks, tools: [post], logger: silent, clock: clock() })
    const app = appOf(here)
    const { checkpoint } = await app.run({ thread: 't', input: {} })
    const exported: unknown = JSON.parse(JSON.stringify(await app.exportThread('t')))
    const other = appOf(there)
    await other.importThread(exported as never, { to: 'u' })
    expect(await counted(there)).toEqual([2, 2])
    const outOf = async (one: CompiledGraph, thread: string): Promise<unknown> =>
      (await one.run({ thread, input: {} })).state['out']
    expect(await outOf(other, 'u')).toEqual(['posted a', 'budget_exceeded'])
    await app.fork('t', { from: checkpoint })
    expect(await outOf(app, 't')).toEqual(['posted a', 'budget_exceeded'])
    const { thread } = await app.fork('t', { from: checkpoint, to: 'v' })
    expect(await outOf(app, thread)).toEqual(['posted a', 'posted b'])
  })

  it.each([
    [
      'whole, tokens and no cost',
      [
        [1, 0, 0, 12],
        [1, 0, 0, 12],
      ],
    ],
    [
      'whole, cost and no tokens',
      [
        [1, 0, 0, null, 0.5],
        [1, 0, 0, null, 0.5],
      ],
    ],
    [
      'a count below 0',
      [
        [-1, 0, 0],
        [0, 0, 0],
      ],
    ],
    [
      'a count that is no whole number',
      [
        [0.5, 0, 0],
        [0, 0, 0],
      ],
    ],
    ['a tally that is missing', [[1, 0, 0]]],
    [
      'a tally that is too short',
      [
        [1, 0],
        [1, 0, 0],
      ],
    ],
    [
      'an amount that is a text',
      [
        [1, 0, 0, 'many'],
        [1, 0, 0],
      ],
    ],
  ])('comes from elsewhere only if it is whole: %s', async (what, used) => {
    const whole = what.startsWith('whole')
    const { post, does } = desk()
    const work = does((ctx) => ctx.call(post, { text: 'a' }))
    const app = compile(work(), { clock: clock() })
    await app.run({ thread: 't', input: {} })
    const { digest: _sum, ...value } = await app.exportThread('t')
    const [head, ...rows] = value.entries as [string, ...unknown[]]
    const entries = [JSON.stringify({ ...(JSON.parse(head) as object), used }), ...rows]
    const { digest } = await import('../../src/lib/digest.ts')
    const sum = await digest(JSON.stringify([1, value.graph, value.thread, entries]))
    const given = app.importThread({ ...value, entries, digest: sum }, { to: 'u' })
    if (whole) expect(await given).toMatchObject({ id: 'u' })
    else expect(await failure(given)).toMatchObject({ code: 'corrupt_checkpoint' })
  })
})

describe('a process that dies', () => {
  /** Posts three texts, one after the other; the second is slow until it is told otherwise. */
  function slowDesk(): {
    readonly work: Graph
    readonly posted: string[]
    readonly entered: string[]
    dead: boolean
  } {
    const made = {
      work: undefined as never as Graph,
      posted: [] as string[],
      entered: [] as string[],
      dead: true,
    }
    const post = tool({
      name: 'post',
      description: '',
      input: field<string>(),
      async run(text) {
        made.entered.push(text)
        if (made.dead && text === 'b') await new Promise(() => {})
        made.posted.push(text)
      },
    })
    made.work = graph({
      name: 'slow',
      state: { log: reduced(field<string[]>([]), append) },
      nodes: {
        async work(_, ctx) {
          for (const text of ['a', 'b', 'c']) await ctx.call(post, text)
          return { log: ['done'] }
        },
      },
      edges: { start: 'work', work: 'end' },
    })
    return made
  }

  test('has counted what it has stored, and not what was under way', async () => {
    const slow = slowDesk()
    const [store, time] = [memory(), clock()]
    const options = { store, clock: time, hooks: [budget({ calls: 2 })], logger: silent }
    void compile(slow.work, options)
      .run({ thread: 't', input: {} })
      .catch(() => {})
    await until(async () => expect(slow.entered).toEqual(['a', 'b']))
    expect(await counted(store)).toEqual([1, 1])
    slow.dead = false
    const another = { now: () => time.now() + 100_000, after: time.after }
    const app = compile(slow.work, { ...options, clock: another })
    const error = await failure(app.run({ thread: 't' }))
    expect(error).toMatchObject({ code: 'budget_exceeded', details: { used: 2, allowed: 2 } })
    expect(slow.posted).toEqual(['a', 'b'])
    expect(await counted(store)).toEqual([2, 2])
  })

  test.each(['before', 'after'] as const)(
    'has counted each call once, dead %s any of its commits',
    async (crash) => {
      for (let at = 1, whole = false; !whole; at++) {
        const slow = slowDesk()
        slow.dead = false
        const inner = memory()
        const store = withFaults(inner, [{ at, crash }])
        const time = clock()
        const options = { logger: silent }
        await compile(slow.work, { ...options, clock: time, store })
          .run({ thread: 't', input: {} })
          .catch(() => {})
        whole = !store.crashed
        const later = { now: () => time.now() + 100_000, after: time.after }
        const app = compile(slow.work, { ...options, clock: later, store: inner })
        const state = await app.state('t')
        if (!state) await app.run({ thread: 't', input: {} })
        else if (state.status !== 'success') await app.run({ thread: 't' })
        expect(await counted(inner), `${crash} operation ${at}`).toEqual([3, 3])
      }
    },
  )
})

test('what a shadow says is told again of a call that ran again, and of none that was replayed', async () => {
  const { post, does } = desk()
  const told: Emitted[] = []
  const hooks = [
    budget({ calls: 1, shadow: true }),
    { onEvent: (event: Emitted): void => void told.push(event) },
  ]
  const work = does(async (ctx) => {
    for (const text of ['a', 'b']) await ctx.call(post, { text })
    await ctx.interrupt()
    await ctx.call(post, { text: 'c' })
  })
  const store = memory()
  const appOf = (): CompiledGraph =>
    compile(work(), { store, hooks, logger: silent, clock: clock() })
  await appOf().run({ thread: 't', input: {} })
  expect(told).toHaveLength(1)
  await appOf().run({ thread: 't', answer: 'on' })
  expect(told.map(({ event }) => (event as { used: number }).used)).toEqual([1, 2])
})

/** Looks again until what is claimed holds. */
async function until(holds: () => Promise<void>): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    try {
      return await holds()
    } catch {
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return holds()
}
