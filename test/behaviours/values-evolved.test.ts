// A graph that has changed on threads that go on: fields come, go, and change between a list and a plain field.
import { append, compile, field, graph, memory, reduced, sum } from 'heddle'
import { expect, test } from 'vitest'
import { keepBooks } from './harness.ts'

keepBooks()

const shapes = {
  plain: () => field<unknown[]>([]),
  list: () => reduced(field<unknown[]>([]), append),
  own: () => reduced(field<unknown[]>([]), (all: unknown[], more: unknown[]) => [...all, ...more]),
}
type Shape = keyof typeof shapes

/** The same graph, with its field `x` as a field of some shape; a turn adds one item. */
const shaped = (shape: Shape) =>
  graph({
    name: 'evolving',
    state: { x: shapes[shape](), n: reduced(field(0), sum) },
    nodes: {
      add: ({ x, n }) => ({
        x: shape === 'plain' ? [...x, { n }, undefined] : [{ n }, undefined],
        n: 1,
      }),
    },
    edges: { start: 'add', add: 'end' },
  })

test('a field keeps its items when it becomes a list, a plain field or one with a reducer', async () => {
  const orders: Shape[][] = [
    ['plain', 'list', 'plain', 'list'],
    ['list', 'plain', 'own', 'list', 'list'],
    ['own', 'list', 'own', 'plain', 'plain', 'list'],
  ]
  for (const order of orders) {
    const store = memory()
    const before: unknown[] = []
    for (const [turn, shape] of order.entries()) {
      const app = compile(shaped(shape), { store })
      const found = (await app.state('t'))?.state.x
      expect(found ?? [], `${order.join()} read as ${shape}`).toEqual(before)
      const { state } = await app.run({ thread: 't', input: {} })
      before.push({ n: turn }, undefined)
      expect(state.x).toEqual(before)
      expect((await compile(shaped(shape), { store }).state('t'))?.state).toEqual({
        x: before,
        n: turn + 1,
      })
    }
    const lengths: number[] = []
    for await (const { state } of compile(shaped('list'), { store }).history('t'))
      lengths.push(state.x.length)
    expect(lengths).toEqual(order.flatMap((_, turn) => [2 * turn, 2 * turn + 2]).toReversed())
  }
})

test('fields that are gone are not read, those that are new have their defaults', async () => {
  const store = memory()
  const older = graph({
    name: 'fields',
    state: { old: field('kept'), list: reduced(field<string[]>([]), append), n: field(0) },
    nodes: { a: () => ({ n: 1, list: ['a'] }) },
    edges: { start: 'a', a: 'end' },
  })
  const newer = graph({
    name: 'fields',
    state: { n: field(0), fresh: field('none'), more: reduced(field<string[]>([]), append) },
    nodes: { a: ({ n }) => ({ n: n + 1, more: ['b'] }) },
    edges: { start: 'a', a: 'end' },
  })
  await compile(older, { store }).run({ thread: 't', input: {} })
  const app = compile(newer, { store })
  expect((await app.state('t'))?.state).toEqual({ n: 1, fresh: 'none', more: [] })
  expect((await app.run({ thread: 't', input: { fresh: 'given' } })).state).toEqual({
    n: 2,
    fresh: 'given',
    more: ['b'],
  })
  expect((await compile(newer, { store }).state('t'))?.state).toEqual({
    n: 2,
    fresh: 'given',
    more: ['b'],
  })
})
