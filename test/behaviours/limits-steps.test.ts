// B28: the step limit is exact, keeps what was done, and is no dead end.
import {
  append,
  compile,
  field,
  graph,
  goto,
  isHeddleError,
  memory,
  reduced,
  subgraph,
  type Fields,
  type Graph,
} from 'heddle'
import { describe, expect, it } from 'vitest'
import { all, countingClock, eachWay, failure, keepBooks } from './harness.ts'

keepBooks()

type Calls = Record<string, number>

/** n1 → … → n5, one step each; the nodes named in `asks` ask before they go on. */
function chain(calls: Calls, asks: readonly string[] = []): Graph<Fields, string, never> {
  const names = ['n1', 'n2', 'n3', 'n4', 'n5']
  const run =
    (name: string) => async (_: unknown, ctx: { interrupt(p: string): Promise<unknown> }) => {
      calls[name] = (calls[name] ?? 0) + 1
      if (asks.includes(name)) await ctx.interrupt(name)
      return { log: [name] }
    }
  return graph({
    name: 'chain',
    state: { log: reduced(field<string[]>([]), append) },
    nodes: Object.fromEntries(names.map((name) => [name, run(name)])),
    edges: Object.fromEntries(['start', ...names].map((name, i) => [name, names[i] ?? 'end'])),
  } as never)
}

const once = { n1: 1, n2: 1, n3: 1, n4: 1 }

eachWay('as many steps as the limit are a success', async (open) => {
  const calls: Calls = {}
  const story = open(() => chain(calls), { stepLimit: 5 })
  expect((await story.start()).status).toBe('success')
  expect(calls).toEqual({ ...once, n5: 1 })
})

eachWay('one step more is refused, what was done is kept, and a new run goes on', async (open) => {
  const calls: Calls = {}
  const story = open(() => chain(calls), { stepLimit: 4 })
  const error = await failure(story.start())
  expect(isHeddleError(error, 'step_limit_exceeded')).toBe(true)
  expect(error).toMatchObject({
    details: { limit: 4 },
    message: 'Cannot take step 5 of graph "chain": a run takes at most 4',
  })
  expect(calls).toEqual(once)
  const steps = (await story.history()).filter(({ source }) => source === 'step')
  expect(steps.map(({ step, next }) => [step, next])).toEqual([
    [4, ['n5']],
    [3, ['n4']],
    [2, ['n3']],
    [1, ['n2']],
  ])
  expect(await story.snapshot()).toMatchObject({
    status: 'error',
    state: { log: ['n1', 'n2', 'n3', 'n4'] },
    next: ['n5'],
    error: { code: 'step_limit_exceeded' },
  })
  const ended = await story.goOn()
  expect(ended).toMatchObject({ status: 'success', state: { log: ['n1', 'n2', 'n3', 'n4', 'n5'] } })
  expect(calls).toEqual({ ...once, n5: 1 })
})

eachWay('a resume counts from the start; the step it enters again counts too', async (open) => {
  const calls: Calls = {}
  const story = open(() => chain(calls, ['n2']), { stepLimit: 3 })
  expect((await story.start()).status).toBe('interrupted')
  expect(await failure(story.answerOne('yes'))).toMatchObject({
    code: 'step_limit_exceeded',
    details: { limit: 3 },
  })
  expect(calls).toEqual({ n1: 1, n2: 2, n3: 1, n4: 1 })
  expect((await story.goOn()).status).toBe('success')
  expect(calls).toEqual({ n1: 1, n2: 2, n3: 1, n4: 1, n5: 1 })
})

it('a limit of one still gets to the end, step by step', async () => {
  const calls: Calls = {}
  const app = compile(chain(calls), { store: memory(), clock: countingClock(), stepLimit: 1 })
  for (let run = 0; run < 4; run++)
    expect(await failure(app.run({ thread: 't', ...(run === 0 && { input: {} }) }))).toMatchObject({
      code: 'step_limit_exceeded',
    })
  expect((await app.run({ thread: 't' })).status).toBe('success')
  expect(calls).toEqual({ ...once, n5: 1 })
})

it.each([0, -1, 1.5, Number.NaN, Infinity, '5', null, true, 5n])(
  'a limit of %s is refused before anything runs',
  (stepLimit) => {
    const calls: Calls = {}
    expect(() => compile(chain(calls), { stepLimit: stepLimit as never })).toThrow(RangeError)
    expect(() => compile(chain(calls), { stepLimit: stepLimit as never })).toThrow(
      /^Cannot compile graph "chain": stepLimit is /,
    )
    expect(calls).toEqual({})
  },
)

describe('a loop', () => {
  const loop = (calls: { n: number }): Graph =>
    graph({
      name: 'loop',
      state: { n: field<number>(0) },
      nodes: { n: ({ n }) => (calls.n++, { n: n + 1 }) },
      edges: { start: 'n', n: 'n' },
    })

  it('without an end is stopped at 100 steps by default', async () => {
    const calls = { n: 0 }
    const app = compile(loop(calls), { clock: countingClock() })
    const live = app.stream({ thread: 't', input: {} })
    const kinds: string[] = []
    const reading = (async () => {
      for await (const { kind } of live) kinds.push(kind)
    })()
    expect(await failure(reading)).toMatchObject({ code: 'step_limit_exceeded' })
    expect(calls.n).toBe(100)
    expect(kinds.filter((kind) => kind === 'step')).toHaveLength(100)
    expect(kinds).not.toContain('done')
  })

  it('by goto is stopped too', async () => {
    let n = 0
    const app = compile(
      graph({
        name: 'jumps',
        state: {},
        nodes: { a: () => (n++, goto('a')) },
        edges: { start: 'a', a: 'end' },
      }),
      { clock: countingClock(), stepLimit: 7 },
    )
    expect(await failure(app.run({ thread: 't', input: {} }))).toMatchObject({
      code: 'step_limit_exceeded',
    })
    expect(n).toBe(7)
  })

  it('at a fan-out takes one step however many nodes run in it', async () => {
    const app = compile(
      graph({
        name: 'fan',
        state: { log: reduced(field<string[]>([]), append) },
        nodes: {
          a: () => ({ log: ['a'] }),
          b: () => ({ log: ['b'] }),
          c: { run: () => ({ log: ['c'] }), after: ['a', 'b'] },
        },
        edges: { start: ['a', 'b'], a: 'c', b: 'c', c: 'end' },
      }),
      { clock: countingClock(), stepLimit: 2 },
    )
    expect(await app.run({ thread: 't', input: {} })).toMatchObject({
      state: { log: ['a', 'b', 'c'] },
    })
  })

  it('in a child graph is stopped by a count of its own, and fails the node that runs it', async () => {
    const calls = { n: 0 }
    const parent = { n: 0 }
    const app = compile(
      graph({
        name: 'parent',
        state: { n: field<number>(0) },
        nodes: {
          a: () => void parent.n++,
          b: subgraph(loop(calls), {
            input: () => ({}),
            output: (child) => ({ n: child['n'] as number }),
          }),
        },
        edges: { start: 'a', a: 'b', b: 'end' },
      } as never),
      { clock: countingClock(), stepLimit: 10 },
    )
    expect(await failure(app.run({ thread: 't', input: {} }))).toMatchObject({
      code: 'step_limit_exceeded',
      message: 'Cannot take step 11 of graph "loop": a run takes at most 10',
    })
    expect(calls.n).toBe(10)
    expect(await app.state('t')).toMatchObject({ status: 'error', next: ['b'] })
    // The next run has ten more.
    expect(await failure(app.run({ thread: 't' }))).toMatchObject({
      code: 'step_limit_exceeded',
      message: 'Cannot take step 21 of graph "loop": a run takes at most 10',
    })
    expect(calls.n).toBe(20)
    expect(parent.n).toBe(1)
  })

  it('a child graph that keeps within its own limit takes none of its parent', async () => {
    const calls: Calls = {}
    const app = compile(
      graph({
        name: 'parent',
        state: { log: reduced(field<string[]>([]), append) },
        nodes: {
          a: async (_, ctx) => ({
            log: (await ctx.child(chain(calls), {}))['log'] as unknown as string[],
          }),
          b: () => ({ log: ['b'] }),
        },
        edges: { start: 'a', a: 'b', b: 'end' },
      }),
      { clock: countingClock(), stepLimit: 5 },
    )
    expect(await app.run({ thread: 't', input: {} })).toMatchObject({
      state: { log: ['n1', 'n2', 'n3', 'n4', 'n5', 'b'] },
    })
  })

  it('that pauses in every turn is never stopped: each resume is a run', async () => {
    const app = compile(
      graph({
        name: 'talk',
        state: { log: reduced(field<unknown[]>([]), append) },
        nodes: { ask: async (_, ctx) => ({ log: [await ctx.interrupt('more?')] }) },
        edges: { start: 'ask', ask: ({ log }) => (log.at(-1) === 'no' ? 'end' : 'ask') },
      }),
      { clock: countingClock(), stepLimit: 2 },
    )
    await app.run({ thread: 't', input: {} })
    for (let turn = 0; turn < 6; turn++)
      expect((await app.run({ thread: 't', answer: turn })).status).toBe('interrupted')
    expect(await app.run({ thread: 't', answer: 'no' })).toMatchObject({
      status: 'success',
      state: { log: [0, 1, 2, 3, 4, 5, 'no'] },
    })
    expect((await all(app.runs('t'))).length).toBe(8)
  })
})
