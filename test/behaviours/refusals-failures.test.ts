// B18: what a node throws, returns against its schema, or makes of an item that can't be stored.
import { append, each, field, graph, reduced } from 'heddle'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { eachWay, failure, keepBooks, Story } from './harness.ts'

keepBooks()

const fn = (): void => {}

eachWay(
  'an item that a router makes is refused by its node, and the run can go on when it is mended',
  async (open) => {
    const calls: string[] = []
    let broken = true
    const make = () =>
      graph({
        name: 'items',
        state: { n: field(0) },
        nodes: {
          a: () => {
            calls.push('a')
            return { n: 1 }
          },
          w: { item: field<unknown>(), run: (_, { item }) => void calls.push(`w${String(item)}`) },
        },
        edges: { start: 'a', a: () => each('w', [1, broken ? { x: fn } : 2]), w: 'end' },
      })
    const story = open(make)
    expect(await failure(story.start())).toMatchObject({
      code: 'unserializable_value',
      details: { node: 'w', path: 'item 1.x', type: 'function' },
    })
    expect((await story.snapshot()).next).toEqual(['a'])
    broken = false
    expect(await story.goOn()).toMatchObject({ status: 'success', state: { n: 1 } })
    expect(calls).toEqual(['a', 'w1', 'w2'])
  },
)

test('a failure that can not be stored is recorded by its message, and rejects as it is', async () => {
  const thrown: Readonly<Record<string, readonly [unknown, object]>> = {
    'an error with a function': [
      Object.assign(new Error('own words'), { fn, self: { fn } }),
      { name: 'Error', message: 'own words' },
    ],
    'an object with a function': [
      { message: 'own words', fn },
      { name: 'Error', message: 'own words' },
    ],
    'a text': ['own words', { name: 'Error', message: 'own words' }],
    nothing: [undefined, { name: 'Error' }],
    null: [null, { name: 'Error' }],
    'a symbol': [Symbol('own words'), { name: 'Error', message: 'Symbol(own words)' }],
    'an object without a prototype': [Object.create(null), { name: 'Error' }],
    'an error whose message throws': [
      Object.defineProperty(new Error('x'), 'message', {
        get() {
          throw new Error('no')
        },
      }),
      {},
    ],
  }
  for (const [what, [reason, info]] of Object.entries(thrown)) {
    const story = new Story(() => rejecting(reason), 'rebuilt from the store')
    const got = await story.start().then(
      () => 'nothing',
      (error: unknown) => ({ error }),
    )
    expect(got, what).toEqual({ error: reason })
    const { error, status, next } = await story.snapshot()
    expect({ status, next }, what).toEqual({ status: 'error', next: ['bad'] })
    expect(error, what).toMatchObject(info)
  }
})

eachWay(
  'an update that its schema does not take fails at the write, by node and field',
  async (open) => {
    const make = () =>
      graph({
        name: 'strict',
        state: {
          v: z.object({ n: z.number() }).default({ n: 0 }),
          list: reduced(z.array(z.number()).default([]), append),
          own: reduced(z.array(z.number()).max(2).default([]), (a: number[], b: number[]) => [
            ...a,
            ...b,
          ]),
          what: z.string(),
        },
        nodes: {
          n({ what }) {
            if (what === 'v') return { v: { n: 'x' } as never }
            if (what === 'list') return { list: [1, 'x'] as never }
            if (what === 'own') return { own: [1, 2, 3] }
            if (what === 'unknown') return { w: 1 } as never
            if (what === 'text') return 'v' as never
            if (what === 'map') return new Map([['v', { n: 1 }]]) as never
            return [{ v: { n: 1 } }] as never
          },
        },
        edges: { start: 'n', n: 'end' },
      })
    for (const [what, details] of [
      ['v', { field: 'v', issues: [{ path: ['n'] }] }],
      ['list', { field: 'list', issues: [{ path: [1] }] }],
      ['own', { field: 'own' }],
      ['unknown', { field: 'w' }],
      ['text', { issues: [{ message: 'Expected an object of fields, got string' }] }],
      ['map', { issues: [{ message: 'Expected an object of fields, got Map' }] }],
      ['list of updates', { issues: [{ message: 'Expected an object of fields, got Array' }] }],
    ] as const) {
      const story = open(make)
      expect(await failure(story.start({ what })), what).toMatchObject({
        code: 'schema_error',
        details: { graph: 'strict', node: 'n', ...details },
      })
      const { state, next } = await story.snapshot()
      expect({ state, next }, what).toEqual({
        state: { v: { n: 0 }, list: [], own: [], what },
        next: ['n'],
      })
    }
  },
)

const rejecting = (reason: unknown) =>
  graph({
    name: 'rejecting',
    state: { v: field<unknown>(undefined) },
    nodes: { bad: () => Promise.reject(reason) },
    edges: { start: 'bad', bad: 'end' },
  })
