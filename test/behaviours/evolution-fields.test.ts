// An old checkpoint and a new graph: what its fields have become.
import * as z from 'zod'
import {
  append,
  compile,
  field,
  graph,
  memory,
  merge,
  reduced,
  sum,
  type Graph,
  type Store,
} from 'heddle'
import { describe, expect, it } from 'vitest'
import { failure, keepBooks, rowsOf, Story } from './harness.ts'

keepBooks()

/** What a graph of a version looks like, in the test's words. */
interface Shape {
  readonly state?: object
  readonly version?: number
  readonly migrate?: (
    state: Readonly<Record<string, unknown>>,
    from: number,
  ) => Readonly<Record<string, unknown>>
}

/** What a node was given, by the order of its runs. */
const seen: Record<string, unknown>[] = []

/** Asks, then shows its state. */
const asking = ({ state = {}, ...more }: Shape): Graph =>
  graph({
    name: 'asking',
    ...more,
    state: { answer: field<unknown>(undefined), ...state },
    nodes: {
      first: () => {},
      ask: async (_: unknown, ctx: { interrupt(): Promise<unknown> }) => ({
        answer: await ctx.interrupt(),
      }),
      show: (now: Record<string, unknown>) => void seen.push({ ...now }),
    },
    edges: { start: 'first', first: 'ask', ask: 'show', show: 'end' },
  } as never)

/** A thread of the old graph that waits for its answer, seen by the new one. */
async function grown(old: Shape, now: Shape, input: object = {}): Promise<Story> {
  seen.length = 0
  const store = memory()
  await new Story(() => asking(old), 'in process', { store }).start(input)
  return new Story(() => asking(now), 'rebuilt from the store', { store })
}

const TURNS: Readonly<Record<string, (story: Story) => Promise<unknown>>> = {
  'an answer': (story) => story.answerOne('yes'),
  'a fork': async (story) => story.app.fork('t1', { from: (await story.snapshot()).checkpoint }),
  'a fork to another thread': async (story) =>
    story.app.fork('t1', { from: (await story.snapshot()).checkpoint, to: 't2' }),
  'a run from a checkpoint': async (story) =>
    story.goOn({ from: (await story.history()).at(-1)?.checkpoint }),
}

describe('a field that is new', () => {
  it('has its default, before it is written too', async () => {
    let made = 0
    const state = {
      fresh: z.string().default('none'),
      list: reduced(z.array(z.string()).default(['d']), append),
      made: field(() => ++made > 0),
      maybe: z.string().optional(),
    }
    const story = await grown({}, { state })
    const rows = await story.rows()
    const expected = { fresh: 'none', list: ['d'], made: true }
    expect((await story.snapshot()).state).toEqual(expected)
    for (const { state: then } of await story.history()) expect(then).toEqual(expected)
    expect(await story.rows()).toEqual(rows)
    expect((await story.answerOne(1)).state).toEqual({ answer: 1, ...expected })
    expect(seen).toEqual([{ answer: 1, ...expected }])
    const older = new Story(() => asking({}), 'in process', { store: story.store })
    expect((await older.snapshot()).state).toEqual({ answer: 1 })
  })

  for (const [name, go] of Object.entries(TURNS)) {
    it(`and must be given refuses ${name}, with nothing changed`, async () => {
      const story = await grown({}, { state: { needed: z.string() } })
      const before = await story.rows()
      const error = await failure(go(story))
      expect(error).toMatchObject({
        code: 'schema_error',
        details: { graph: 'asking', field: 'needed' },
        message: expect.stringMatching(/^Cannot go on with thread "t1": .*"needed".*"asking"/),
      })
      expect(await story.rows()).toEqual(before)
      expect(seen).toEqual([])
      // To look is not refused: it shows what is stored.
      expect((await story.snapshot()).state).toEqual({})
      const mended = new Story(() => asking({}), 'in process', { store: story.store })
      expect((await mended.answerOne(2)).state).toEqual({ answer: 2 })
    })
  }

  it('and must be given is given by a migration', async () => {
    const needed = { needed: z.string() }
    const story = await grown(
      {},
      { state: needed, version: 2, migrate: (all) => ({ ...all, needed: 'x' }) },
    )
    expect((await story.answerOne(1)).state).toEqual({ answer: 1, needed: 'x' })
  })
})

describe('a field that is gone', () => {
  it('stays in old checkpoints and is in no new one, also when it comes back', async () => {
    const state = { old: field('kept'), list: reduced(field<string[]>([]), append) }
    const story = await grown({ state }, {}, { old: 'given', list: ['a'] })
    const [then] = await story.history()
    expect((await story.answerOne(1)).state).toEqual({ answer: 1 })
    const again = new Story(() => asking({ state }), 'rebuilt from the store', {
      store: story.store,
    })
    expect((await again.snapshot()).state).toEqual({ answer: 1, old: 'kept', list: [] })
    expect((await again.snapshot(then?.checkpoint)).state).toEqual({ old: 'given', list: ['a'] })
  })
})

describe('a reducer that folds another type', () => {
  it.each([
    ['a list', reduced(field<unknown[]>([]), append)],
    ['a record', reduced(field<Record<string, unknown>>({}), merge)],
    ['a number', reduced(field(0), sum)],
  ])('is refused as %s of what is none, with nothing changed', async (_, x) => {
    for (const stored of ['text', null, new Map([[1, 2]])]) {
      const story = await grown(
        { state: { x: field<unknown>(undefined) } },
        { state: { x } },
        { x: stored },
      )
      const before = await story.rows()
      const error = await story.refuses({ answer: 1 }, 'schema_error')
      expect(error).toMatchObject({ details: { graph: 'asking', field: 'x' } })
      expect(await story.rows()).toEqual(before)
      expect((await story.snapshot()).state).toEqual({ x: stored })
    }
  })

  it.each([
    ['a list', reduced(field<unknown[]>([]), append), [1]],
    ['a record', reduced(field<Record<string, unknown>>({}), merge), { a: 1 }],
    ['a number', reduced(field(0), sum), 7],
    ['a number that JSON has none of', reduced(field(0), sum), Number.NaN],
  ])('takes %s as it is', async (_, x, stored) => {
    const story = await grown(
      { state: { x: field<unknown>(undefined) } },
      { state: { x } },
      { x: stored },
    )
    expect((await story.answerOne(1)).state).toEqual({ answer: 1, x: stored })
  })
})

describe('a graph of a newer version', () => {
  const old: Shape = {
    state: { n: z.string().default('1'), words: reduced(field<string[]>([]), append) },
  }
  const now: Shape = {
    version: 2,
    state: {
      n: z.number(),
      words: reduced(field<string[]>([]), append),
      extra: z.string().default('e'),
    },
    migrate: ({ n, ...rest }) => ({ ...rest, n: Number(n) }),
  }

  it('migrates what it loads, once a load, and stores it with the next step', async () => {
    const froms: unknown[] = []
    const migrate: Shape['migrate'] = (state, from) => {
      froms.push([from, structuredClone(state)])
      return now.migrate!(state, from)
    }
    const story = await grown(old, { ...now, migrate }, { n: '41', words: ['a'] })
    const rows = await story.rows()
    const stored = { n: '41', words: ['a'] }
    const expected = { n: 41, words: ['a'], extra: 'e' }
    expect((await story.snapshot()).state).toEqual(expected)
    expect(froms).toEqual([[1, stored]])
    for (const { state } of await story.history()) expect(state).toEqual(expected)
    expect(await story.rows()).toEqual(rows)
    froms.length = 0
    expect(await story.answerOne('yes')).toMatchObject({ status: 'success', state: expected })
    expect(seen).toEqual([{ answer: 'yes', ...expected }])
    expect(froms[0]).toEqual([1, stored])
    // From here on it is of this version.
    froms.length = 0
    expect((await story.snapshot()).state).toEqual({ answer: 'yes', ...expected })
    expect((await story.start({})).status).toBe('interrupted')
    expect(froms).toEqual([])
    // What is older is still shown as today's graph has it.
    const states = (await story.history()).map(({ state }) => state['n'])
    expect(new Set(states)).toEqual(new Set([41]))
    expect(froms.length).toBeGreaterThan(0)
  })

  it('may change what it is given: that is its own', async () => {
    const migrate: Shape['migrate'] = (state) => {
      const own = state as { n: unknown; words: string[] }
      own.words.push('more')
      own.n = Number(own.n)
      return own
    }
    const story = await grown(old, { ...now, migrate }, { n: '1', words: ['a'] })
    for (let look = 0; look < 3; look++)
      expect((await story.snapshot()).state).toMatchObject({ n: 1, words: ['a', 'more'] })
  })

  it.each<[string, Shape, object]>([
    [
      'throws',
      {
        migrate: () => {
          throw new Error('no way over')
        },
      },
      { message: 'no way over' },
    ],
    ['leaves out what is needed', { migrate: () => ({}) }, { details: { field: 'n' } }],
    [
      'leaves what does not fit',
      { migrate: (all) => all },
      { details: { field: 'n', graph: 'asking' } },
    ],
    [
      'is not there, and something does not fit',
      { migrate: undefined as never },
      { details: { field: 'n' } },
    ],
    [
      'makes a field that is none',
      { migrate: () => ({ n: 1, nn: 2 }) },
      { details: { field: 'nn' } },
    ],
    ['makes no object', { migrate: () => 7 as never }, { code: 'schema_error' }],
    ['makes a promise', { migrate: (async () => ({ n: 1 })) as never }, { code: 'schema_error' }],
    [
      'makes what can not be stored',
      { migrate: () => ({ n: 1, words: [() => {}] }) },
      { code: 'unserializable_value' },
    ],
  ])('whose migration %s is refused, with nothing changed', async (_, shape, refusal) => {
    const given = Object.fromEntries(
      Object.entries({ ...now, ...shape }).filter(([, one]) => one !== undefined),
    )
    const story = await grown(old, given)
    for (const go of Object.values(TURNS)) {
      const before = await story.rows()
      expect(await failure(go(story))).toMatchObject(refusal)
      expect(await story.rows()).toEqual(before)
    }
    // To look shows what is stored.
    expect((await story.snapshot()).state).toEqual({ n: '1', words: [] })
    const mended = new Story(() => asking(now), 'in process', { store: story.store })
    expect((await mended.answerOne(1)).state).toMatchObject({ n: 1 })
  })

  it('without a migration holds what is stored to its schemas, and drops what is gone', async () => {
    const state = { n: z.string().max(3), size: z.number().default(0) }
    const story = await grown(old, { version: 2, state }, { n: '123', words: ['a'] })
    expect((await story.answerOne(1)).state).toEqual({ answer: 1, n: '123', size: 0 })
    const longer = await grown(old, { version: 2, state }, { n: '1234' })
    await longer.refuses({ answer: 1 }, 'schema_error')
  })

  it('is told from which version it comes, over several', async () => {
    const chain = (version: number): Shape => ({
      version,
      state: { path: field<string[]>([]) },
      migrate: (all, from) => ({
        ...all,
        path: [...(all['path'] as string[]), `${from}>${version}`],
      }),
    })
    const story = await grown({ state: { path: field<string[]>([]) } }, chain(3))
    expect((await story.snapshot()).state['path']).toEqual(['1>3'])
    await story.answerOne(1)
    const later = new Story(() => asking(chain(7)), 'in process', { store: story.store })
    expect((await later.snapshot()).state['path']).toEqual(['1>3', '3>7'])
    const [first] = (await later.history()).slice(-1)
    expect(first?.state['path']).toEqual(['1>7'])
  })

  it('refuses what a version after it has stored, with nothing changed', async () => {
    const story = await grown({ ...now, state: { ...now.state, n: z.number().default(5) } }, old)
    for (const go of Object.values(TURNS)) {
      const before = await story.rows()
      expect(await failure(go(story))).toMatchObject({
        code: 'graph_changed',
        details: { thread: 't1', missing: [] },
        message: expect.stringMatching(/version 2 .*version 1/),
      })
      expect(await story.rows()).toEqual(before)
    }
    expect((await story.snapshot()).state).toMatchObject({ n: 5 })
  })

  it('stores nothing anew of a field that stays as it is', async () => {
    const big = 'x'.repeat(100_000)
    const bytes: number[] = []
    for (const { shape } of [{ shape: old }, { shape: now }]) {
      const state = { big: field(''), list: reduced(field<string[]>([]), append) }
      const add = (one: Shape): Shape => ({ ...one, state: { ...one.state, ...state } })
      const story = await grown(add(old), add(shape), { big, list: [big] })
      const before = size(await rowsOf(story.store as Store))
      await story.answerOne(1)
      bytes.push(size(await rowsOf(story.store as Store)) - before)
    }
    expect(bytes[1]! - bytes[0]!).toBeLessThan(1000)
  })
})

it.each([0, -1, 1.5, Number.NaN, '2', 2 ** 31])('a graph of version %s is refused', (version) => {
  expect(() => compile(asking({ version: version as number }))).toThrow(
    expect.objectContaining({
      code: 'graph_invalid',
      message: expect.stringContaining('"version"'),
    }),
  )
})

it('a checkpoint of the first version says none', async () => {
  for (const [version, says] of [
    [undefined, false],
    [1, false],
    [2, true],
  ] as const) {
    const story = new Story(
      () => asking(version === undefined ? {} : { version }),
      'in process',
      {},
    )
    await story.start()
    const rows = (await story.rows()).filter(({ key }) => key.includes('/c/'))
    expect(rows.map(({ value }) => value.includes('"version"'))).toEqual(rows.map(() => says))
  }
})

const size = (rows: readonly { readonly key: string; readonly value: string }[]): number =>
  rows.reduce((all, { key, value }) => all + key.length + value.length, 0)
