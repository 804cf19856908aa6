// B18: what can't be stored fails at once, by name and path, and leaves nothing half-written.
import { append, field, goto, graph, reduced, type Context, type Graph } from 'heddle'
import { expect } from 'vitest'
import { eachWay, failure, keepBooks } from './harness.ts'

keepBooks()

const fn = (): void => {}
class Car {
  wheels = 4
}
const hidden = { a: { b: [1, { fn, secret: 'do-not-show' }] } }

type Run = (ctx: Context<unknown, never>) => unknown

/** s → bad → last; what `bad` does is the case. */
function bad(run: Run, calls: string[]): Graph {
  return graph({
    name: 'bad',
    state: {
      v: field<unknown>(undefined),
      list: reduced(field<unknown[]>([]), append),
      own: reduced(field<unknown[]>([]), (_: unknown[], update: unknown[]) => [
        ...update,
        { late: fn },
      ]),
      merged: reduced(field<object>({}), (a: object, b: object) => ({ ...a, ...b })),
    },
    events: field<unknown>(),
    nodes: {
      s: () => ({ v: 'before' }),
      bad: (_, ctx) => {
        calls.push('bad')
        return run(ctx as never) as never
      },
      item: { item: field<unknown>(), run: () => void calls.push('item') },
      last: () => void calls.push('last'),
    },
    edges: { start: 's', s: 'bad', bad: 'last', item: 'end', last: 'end' },
  }) as Graph
}

const child = graph({
  name: 'child',
  state: { w: field<unknown>(undefined) },
  nodes: { c: () => ({ w: [fn] }), d: () => {} },
  edges: { start: ({ w }) => (w === 'ok' ? 'c' : 'd'), c: 'end', d: 'end' },
})

const cases: Readonly<Record<string, readonly [run: Run, details: object]>> = {
  'a field of an update': [() => ({ v: hidden }), { path: 'v.a.b[1].fn', type: 'function' }],
  'an update that comes late': [async () => ({ v: hidden }), { path: 'v.a.b[1].fn' }],
  'the update of a goto': [() => goto('last', { v: [fn] }), { path: 'v[0]' }],
  'an item of a list': [
    () => ({ list: [1, { a: Symbol('x') }] }),
    { path: 'list[1].a', type: 'symbol' },
  ],
  'an update for a reducer': [() => ({ own: [fn] }), { path: 'own[0]' }],
  'what a reducer makes': [() => ({ own: [1] }), { path: 'own[1].late' }],
  'a question': [(ctx) => ctx.interrupt({ fn } as never), { path: 'payload.fn' }],
  'the payload of a wait': [
    (ctx) => ctx.wait('2999-01-01T00:00:00Z', [fn] as never),
    { path: 'payload[0]' },
  ],
  'work done once': [(ctx) => ctx.once('w', () => hidden), { path: 'once.a.b[1].fn' }],
  'an event': [(ctx) => ctx.emit({ fn }), { path: 'event.fn' }],
  'the input of a child': [(ctx) => ctx.child(child, { w: [fn] }), { path: 'w[0]' }],
  'a node of a child': [(ctx) => ctx.child(child, { w: 'ok' }), { path: 'w[0]', node: 'c' }],
  'an instance of a class': [() => ({ v: new Car() }), { path: 'v', type: 'Car' }],
  'a promise that was forgotten': [
    () => ({ v: { p: Promise.resolve(1) } }),
    { path: 'v.p', type: 'Promise' },
  ],
  'a weak map': [() => ({ v: [new WeakMap()] }), { path: 'v[0]', type: 'WeakMap' }],
  'a value that refers to itself': [
    () => {
      const loop: { to?: unknown } = {}
      loop.to = [loop]
      return { v: loop }
    },
    { path: 'v.to[0]', type: 'circular reference' },
  ],
  'a value that is nested too deep': [
    () => {
      let deep: unknown = 1
      for (let i = 0; i < 10_000; i++) deep = [deep]
      return { v: deep }
    },
    { type: 'nesting deeper than 1000' },
  ],
  'a getter that throws': [
    () => ({
      v: {
        get a(): unknown {
          throw new Error('no')
        },
      },
    }),
    { path: 'v', type: 'unreadable object' },
  ],
}

for (const [what, [run, details]] of Object.entries(cases)) {
  for (const durability of ['step', 'exit'] as const) {
    eachWay(`refuses ${what}, by its path and node (${durability})`, async (open) => {
      const calls: string[] = []
      const story = open(() => bad(run, calls), { durability })
      const error = await failure(story.start())
      expect(error).toMatchObject({
        code: 'unserializable_value',
        details: { node: 'bad', ...details },
      })
      expect(error.message).not.toContain('do-not-show')
      expect(story.events('node_end').map(({ node }) => node)).toEqual(
        what === 'what a reducer makes' ? ['s', 'bad'] : ['s'],
      )
      expect(calls).toEqual(['bad'])
      const { state, next, status, error: recorded } = await story.snapshot()
      expect({ next, status, v: state.v, list: state.list }).toEqual({
        next: ['bad'],
        status: 'error',
        v: 'before',
        list: [],
      })
      expect(recorded).toMatchObject({ name: 'UnserializableValue', code: 'unserializable_value' })
      expect(JSON.stringify(await story.rows())).not.toContain('do-not-show')
      expect(await story.open()).toEqual([])
      // Nothing of it was kept: the same happens again, then not.
      expect(await failure(story.goOn())).toMatchObject({ code: 'unserializable_value' })
    })
  }
}
