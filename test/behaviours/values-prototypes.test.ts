// B17: data from elsewhere never changes a prototype, and names that objects have by birth are ordinary names.
import {
  append,
  compile,
  each,
  field,
  graph,
  memory,
  merge,
  reduced,
  type Context,
  type Graph,
} from 'heddle'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { eachWay, keepBooks, Story } from './harness.ts'

keepBooks()

const names = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'valueOf',
  'prototype',
  'then',
] as const

const hostile = (): Record<string, unknown> =>
  JSON.parse(
    '{"__proto__":{"admin":true},"constructor":{"prototype":{"p":1}},"a":1,"deep":[{"__proto__":{"x":[{"__proto__":null}]}}]}',
  ) as never

function check(value: unknown, what: string): void {
  const found = value as Record<string, unknown>
  expect(Object.getPrototypeOf(found), what).toBe(Object.prototype)
  expect(Object.hasOwn(found, '__proto__'), what).toBe(true)
  expect(found['admin'], what).toBe(undefined)
  expect(found['a'], what).toBe(1)
  expect(JSON.stringify(found), what).toBe(JSON.stringify(hostile()))
}

let shape: string
const prototypes = (): string =>
  JSON.stringify(
    [Object.prototype, Array.prototype, Function.prototype, Map.prototype].map((one) =>
      Reflect.ownKeys(one).map(String),
    ),
  )
beforeEach(() => (shape = prototypes()))
afterEach(() => {
  expect(prototypes()).toBe(shape)
  expect(({} as { admin?: unknown }).admin).toBe(undefined)
  expect(({} as { p?: unknown }).p).toBe(undefined)
})

eachWay(
  'members that are called __proto__ and constructor stay members, wherever they pass',
  async (open) => {
    const seen: string[] = []
    const note = (what: string, value: unknown): void => {
      check(value, what)
      seen.push(what)
    }
    const child = graph({
      name: 'child',
      state: { v: field<unknown>() },
      nodes: { c: ({ v }) => note('child input', v) },
      edges: { start: 'c', c: 'end' },
    })
    const make = () =>
      graph({
        name: 'hostile',
        state: {
          v: field<unknown>(),
          merged: reduced(field<Record<string, unknown>>({}), merge),
          own: reduced(field<Record<string, unknown>>({}), (a: object, b: object) => ({
            ...a,
            ...b,
          })),
          list: reduced(field<unknown[]>([]), append),
        },
        events: field<unknown>(),
        nodes: {
          async a({ v }, ctx) {
            note('input', v)
            note('metadata', ctx.metadata)
            await ctx.emit(v)
            note('once', await ctx.once('__proto__', hostile))
            note('child output', (await ctx.child(child, { v }, { key: '__proto__' })).v)
            const answer = await ctx.interrupt(v, { key: '__proto__' })
            note('answer', answer)
            return { merged: hostile(), own: answer as object, list: [hostile()] }
          },
          item: { item: field<unknown>(), run: (_, { item }) => note('item', item) },
          b: (state) => {
            note('merged', state.merged)
            note('own', state.own)
            note('list', state.list[0])
            note('spread', { ...state }.merged)
            return { merged: { b: 2 } }
          },
        },
        edges: {
          start: 'a',
          a: () => ['b', each('item', [hostile()])],
          b: 'end',
          item: 'end',
        },
      })
    const story = open(make)
    const { open: asked } = await story.start({ v: hostile() }, { metadata: hostile() })
    note('question', asked[0]!.payload)
    note('event', story.events('backend')[0]!.data)
    const { state } = await story.answerOne(hostile())
    note('state', state.v)
    expect(state.merged).toEqual({ ...hostile(), b: 2 })
    expect(Object.hasOwn(state.merged as object, '__proto__')).toBe(true)
    note('stored', (await story.snapshot()).state.v)
    expect((await story.snapshot()).metadata).toEqual(hostile())
    expect(new Set(seen).size).toBe(15)
  },
)

eachWay(
  'an input or an update with a member __proto__ sets no prototype of the state',
  async (open) => {
    const make = () =>
      graph({
        name: 'update',
        state: { n: field(0) },
        nodes: { a: () => JSON.parse('{"__proto__":{"n":7}}') as never },
        edges: { start: 'a', a: 'end' },
      })
    const story = open(make)
    await story.refuses({ input: JSON.parse('{"__proto__":{"n":5}}') }, 'schema_error')
    await expect(story.start({})).rejects.toMatchObject({
      code: 'schema_error',
      details: { field: '__proto__' },
    })
    expect((await story.snapshot()).state).toEqual({ n: 0 })
  },
)

test('fields, nodes, threads, users, keys and child graphs may be called as prototypes are', async () => {
  const entries = <Value>(value: (name: string) => Value): Record<string, Value> =>
    Object.fromEntries(names.map((name) => [name, value(name)]))
  const leaf = (name: string): Graph =>
    graph({
      name,
      state: entries(() => field<unknown>(undefined)),
      nodes: entries((node) => () => entries((key) => `${node} of ${key}`)),
      edges: {
        start: names[0],
        [names[0]]: 'end',
        ...Object.fromEntries(names.slice(1).map((one) => [one, 'end'])),
      },
    } as never)
  for (const name of names) {
    const store = memory()
    const make = (): Graph =>
      graph({
        name,
        state: entries(() => reduced(field<unknown[]>([]), append)),
        nodes: {
          ...entries((node) => async (state: Record<string, unknown[]>, ctx: Context<unknown>) => {
            expect(Object.keys(state)).toEqual([...names])
            const kept = await ctx.once(node, () => node)
            const inner = await ctx.child(leaf(name), {}, { key: node })
            const answer = await ctx.interrupt(node, { key: node })
            return { [name]: [[kept, inner[node], answer, ctx.user]] }
          }),
        },
        edges: { start: [...names], ...entries(() => 'end') },
      } as never)
    const story = new Story(make, 'rebuilt from the store', { store, thread: name })
    const { open } = await story.start({}, { user: name })
    expect(open.map(({ key }) => key)).toEqual([...names])
    const answers = Object.fromEntries(open.map(({ id, key }) => [id, `to ${key}`]))
    const { state } = await story.answer(answers, { user: name })
    const expected = names.map((node) => [node, `${names[0]} of ${node}`, `to ${node}`, name])
    for (const one of names) expect(state[one], one).toEqual(one === name ? expected : [])
    expect(Object.getPrototypeOf(state)).toBe(Object.prototype)
    const app = compile(make(), { store })
    expect((await app.state(name))?.state).toEqual(state)
    expect(await app.state('toString_')).toBe(undefined)
    await story.refuses({ answers: entries(() => 1) }, 'nothing_to_resume')
  }
})

test('a way out to a name that objects have by birth is no node', async () => {
  for (const name of names) {
    const story = new Story(
      () =>
        graph({
          name: 'g',
          state: { n: field(0) },
          nodes: { a: () => {} },
          edges: { start: 'a', a: () => name as never },
        }),
      'in process',
    )
    await expect(story.start()).rejects.toMatchObject({
      code: 'graph_invalid',
      details: { node: 'a' },
    })
  }
})
