// What nodes do that nobody expects of them, and what must come of it all the same.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { compile, each, field, goto, graph, memory, type Graph, type Schema } from 'heddle'
import { withFaults } from 'heddle/testing'
import { silent } from '../fakes/silent.ts'

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const unhandled: unknown[] = []
const note = (reason: unknown): void => void unhandled.push(reason)

beforeEach(() => {
  unhandled.length = 0
  process.on('unhandledRejection', note)
})

afterEach(async () => {
  await sleep(5)
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
})

const run = (odd: Graph, options: object = {}) =>
  compile(odd, { logger: silent, ...options }).run({ thread: 't', input: {} })

describe('a step of 5,000 tasks that finish at once', () => {
  const many = graph({
    name: 'many',
    state: {},
    nodes: { task: { item: field<number>(), run() {} } },
    edges: {
      start: () =>
        each(
          'task',
          Array.from({ length: 5000 }, (_, n) => n),
        ),
      task: 'end',
    },
  })
  it.each([Infinity, 4])('ends, %d at a time', async (concurrency) => {
    expect(await run(many, { concurrency })).toMatchObject({ status: 'success' })
  })
})

it('a node whose result can not be looked at fails the run, beside others and alone', async () => {
  const broken = Proxy.revocable({}, {})
  broken.revoke()
  const odd = graph({
    name: 'odd',
    state: {},
    nodes: { slow: () => sleep(1), odd: () => broken.proxy as never },
    edges: { start: ['slow', 'odd'], slow: 'end', odd: 'end' },
  })
  await expect(run(odd, { concurrency: 1 })).rejects.toBeInstanceOf(TypeError)
  await expect(run(odd)).rejects.toBeInstanceOf(TypeError)
})

it('a join waits for the tasks of a node, however many empty lists name it too', async () => {
  const order: string[] = []
  const both = graph({
    name: 'both',
    state: {},
    nodes: {
      task: { item: field<number>(), run: () => void order.push('task') },
      join: { after: ['task'], run: () => void order.push('join') },
    },
    edges: { start: () => [each('task', []), each('task', [1])], task: 'join', join: 'end' },
  })
  await run(both)
  expect(order).toEqual(['task', 'join'])
})

it('work under once may ask, itself or by a child graph', async () => {
  const child = graph({
    name: 'child',
    state: { said: field('') },
    nodes: { ask: async (_, ctx) => ({ said: String(await ctx.interrupt('child?')) }) },
    edges: { start: 'ask', ask: 'end' },
  })
  const asks = graph({
    name: 'asks',
    state: { said: field('') },
    nodes: {
      one: async (_, ctx) => ({ said: String(await ctx.once('k', () => ctx.interrupt('q'))) }),
      two: async ({ said }, ctx) => ({
        said: said + (await ctx.once('k', () => ctx.child(child, {}))).said,
      }),
    },
    edges: { start: 'one', one: 'two', two: 'end' },
  })
  const app = compile(asks, { logger: silent })
  await app.run({ thread: 't', input: {} })
  expect(await app.run({ thread: 't', answer: 'a' })).toMatchObject({ status: 'interrupted' })
  expect(await app.run({ thread: 't', answer: 'b' })).toMatchObject({ state: { said: 'ab' } })
})

it('a retry does not repeat work whose result is on its way to the store', async () => {
  let entered = 0
  let effects = 0
  const retries = graph({
    name: 'retries',
    state: {},
    nodes: {
      a: {
        retry: { attempts: 2, delay: 0 },
        run: async (_, ctx) => {
          const work = ctx.once('k', () => ++effects)
          if (entered++ === 0) await sleep(3).then(() => Promise.reject(new Error('first')))
          await work
        },
      },
    },
    edges: { start: 'a', a: 'end' },
  })
  await run(retries, { store: withFaults(memory(), [{ at: 'all', delay: 10 }]) })
  expect([entered, effects]).toEqual([2, 1])
})

it('a state that its reader froze can be read', async () => {
  const freezes = graph({
    name: 'freezes',
    state: { items: field([1]) },
    nodes: { a: (state) => ({ items: [...Object.freeze(state).items, ...state.items, 2] }) },
    edges: { start: 'a', a: 'end' },
  })
  expect(await run(freezes)).toMatchObject({ state: { items: [1, 1, 2] } })
})

it('a goto leads to nodes by name only', async () => {
  const jumps = graph({
    name: 'jumps',
    state: {},
    nodes: { a: () => goto(each('b', [1]) as never), b() {} },
    edges: { start: 'a', a: 'end', b: 'end' },
  })
  await expect(run(jumps)).rejects.toMatchObject({ code: 'graph_invalid' })
})

describe('of several things that fail at once, all are heard of', () => {
  it('routers', async () => {
    const fails = (late: boolean) => () => {
      if (late) return Promise.reject(new Error('late'))
      throw new Error('now')
    }
    const routers = graph({
      name: 'routers',
      state: {},
      nodes: { a() {}, b() {} },
      edges: { start: ['a', 'b'], a: fails(true) as never, b: fails(false) as never },
    })
    await expect(run(routers)).rejects.toThrow('now')
  })
  it('fields of one update', async () => {
    const good = (late: boolean): Schema<string, string> => {
      const validate = (value: unknown) => {
        const bad = { issues: [{ message: 'bad' }] }
        const result = value === 'bad' ? bad : { value: '' }
        return late ? Promise.resolve(result) : result
      }
      return { '~standard': { version: 1, vendor: 'test', validate } }
    }
    const fields = graph({
      name: 'fields',
      state: { p: good(true), q: good(false) },
      nodes: { a: () => ({ p: 'bad', q: 'bad' }) },
      edges: { start: 'a', a: 'end' },
    })
    await expect(run(fields)).rejects.toMatchObject({ code: 'schema_error' })
  })
  it('calls whose promise was dropped', async () => {
    const drops = graph({
      name: 'drops',
      state: {},
      nodes: {
        a: (_, ctx) => {
          void ctx.wait('tomorrow')
          void ctx.interrupt((() => 1) as never)
        },
      },
      edges: { start: 'a', a: 'end' },
    })
    expect(await run(drops)).toMatchObject({ status: 'success' })
  })
})

it('undefined is a value of a field that checks nothing, wherever it comes from', async () => {
  const nothing = graph({
    name: 'nothing',
    state: { bare: field<unknown>(), filled: field<unknown>('default'), other: field(1) },
    nodes: {
      ask: async (_, ctx) => ({ bare: await ctx.interrupt('?') }),
      set: () => ({ filled: undefined }),
    },
    edges: { start: 'ask', ask: 'set', set: 'end' },
  })
  const app = compile(nothing, { logger: silent })
  const started = await app.run({ thread: 't', input: { bare: 1, other: undefined } })
  expect(started.state).toEqual({ bare: 1, filled: 'default', other: 1 })
  const ended = await app.run({ thread: 't', answer: undefined })
  expect(Object.entries(ended.state as object)).toEqual([
    ['bare', undefined],
    ['filled', undefined],
    ['other', 1],
  ])
  await expect(app.run({ thread: 'u', input: {} as never })).rejects.toMatchObject({
    code: 'schema_error',
  })
  expect(() => compile(nothing, null as never)).toThrow(TypeError)
})
