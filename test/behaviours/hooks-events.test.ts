// `onEvent`: every event that a node emits, in order, one at a time, beside the run.
import {
  compile,
  currentContext,
  field,
  graph,
  subgraph,
  tool,
  withContext,
  type CompileOptions,
  type Context,
  type Emitted,
  type Graph,
  type Hook,
  type Schema,
} from 'heddle'
import { manualClock } from 'heddle/testing'
import { describe, expect, it, test } from 'vitest'
import { INSIDE } from '../../src/hook/mark.ts'
import type { Inside } from '../../src/tool/inside.ts'
import { until } from './abort-idle.ts'
import { gate } from '../fakes/gate.ts'
import { after, countedSignal, everyWay, keepBooks } from './harness.ts'
import { nodes, one, type Run } from './hooks-parts.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

/** A hook that keeps what it is told. */
const listener = (told: Emitted[]): Hook => ({
  async onEvent(emitted) {
    await after(1)
    told.push(emitted)
  },
})

everyWay(
  'a hook is told of every event and where it comes from, with nobody on the stream',
  async (open) => {
    const told: Emitted[] = []
    const make = (): Graph =>
      nodes(
        {
          async a(_, ctx) {
            for (const n of [1, 2, 3]) void ctx.emit({ n })
          },
          b: (_, ctx) => void ctx.emit('b'),
        },
        { start: 'a', a: 'b', b: 'end' },
      )
    const story = open(make, { hooks: [listener(told)] })
    const { run } = await story.app.run({ thread: 't1', input: {} })
    const from = { thread: 't1', run, ns: [] }
    expect(told).toEqual([
      ...[1, 2, 3].map((n) => ({ ...from, step: 1, node: 'a', event: { n } })),
      { ...from, step: 2, node: 'b', event: 'b' },
    ])
  },
)

test('an event of a child graph is told once, as what it is where it comes from', async () => {
  const told: Emitted[] = []
  const inner = nodes(
    { deep: (_, ctx) => void ctx.emit('from within') },
    { start: 'deep', deep: 'end' },
    'inner',
  )
  const outer = graph({
    name: 'outer',
    state: { x: field<number>(0) },
    nodes: {
      sub: subgraph(inner, { input: () => ({}), output: () => ({}) }),
      async own(_: unknown, ctx: Context<unknown>) {
        await ctx.child(
          inner as never,
          {} as never,
          { emit: (event: unknown) => `mapped ${event}` } as never,
        )
      },
    },
    edges: { start: 'sub', sub: 'own', own: 'end' },
  } as never)
  const app = compile(outer as Graph, { hooks: [listener(told)] })
  const streamed: unknown[] = []
  for await (const event of app.stream({ thread: 't', input: {} }))
    if (event.kind === 'backend') streamed.push(event.data)
  expect(streamed).toEqual(['from within', 'mapped from within'])
  expect(told.map(({ ns, node, event, step }) => [ns, node, event, step])).toEqual([
    [['sub'], 'deep', 'from within', 1],
    [['own'], 'deep', 'from within', 1],
  ])
})

test('hooks are told in order, one at a time, however slow one is', async () => {
  const seen: string[] = []
  let busy = 0
  const hook = (name: string, ms: number): Hook => ({
    async onEvent({ event }) {
      expect(++busy).toBe(1)
      seen.push(`${name} ${event}`)
      await after(ms)
      busy--
    },
  })
  const app = compile(
    nodes(
      {
        a: (_, ctx) => void [ctx.emit('a1'), ctx.emit('a2')],
        async b(_, ctx) {
          await after(3)
          await ctx.emit('b1')
        },
      },
      { start: ['a', 'b'], a: 'end', b: 'end' },
    ),
    { hooks: [hook('slow', 6), {}, hook('quick', 0)] },
  )
  await app.run({ thread: 't', input: {} })
  expect(seen).toEqual(['a1', 'a2', 'b1'].flatMap((event) => [`slow ${event}`, `quick ${event}`]))
})

test('a hook delays no node, and the outcome waits for it', async () => {
  const held = gate()
  const order: string[] = []
  const hook: Hook = {
    async onEvent() {
      await held.promise
      order.push('told')
    },
  }
  const app = compile(
    one(async (_, ctx) => {
      await ctx.emit('first')
      order.push('node')
      return { x: 1 }
    }),
    { hooks: [hook] },
  )
  const running = app.run({ thread: 't', input: {} }).then(() => order.push('outcome'))
  await until(async () => (await app.state('t'))?.status === 'success')
  expect(order).toEqual(['node'])
  held.open()
  await running
  expect(order).toEqual(['node', 'told', 'outcome'])
})

test('each hook gets a copy of its own, as it was when it was emitted', async () => {
  const told: unknown[] = []
  const spoiling: Hook = {
    onEvent(emitted) {
      ;(emitted.event as { n: number }).n = 50
      ;(emitted.ns as string[]).push('other')
    },
  }
  const keeping: Hook = { onEvent: ({ event, ns }) => void told.push([event, ns]) }
  const app = compile(
    one((_, ctx) => {
      const event = { n: 1 }
      void ctx.emit(event)
      event.n = 99
    }),
    { hooks: [spoiling, keeping] },
  )
  await app.run({ thread: 't', input: {} })
  expect(told).toEqual([[{ n: 1 }, []]])
})

test('a hook runs in the context of no call, whoever emitted first', async () => {
  const seen: unknown[] = []
  const hook: Hook = {
    async onEvent({ event }) {
      seen.push([event, currentContext()])
      await after(1)
      seen.push([event, currentContext()])
    },
  }
  const any: Schema<unknown> = {
    '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) },
  }
  const told = tool({
    name: 'told',
    description: '',
    input: any,
    async run(_, ctx) {
      await ctx.emit('tool')
      expect(currentContext()).toBe(ctx)
    },
  })
  const app = compile(
    one(async (_, ctx) => {
      await ctx.call(told, {}, { emit: (data) => ctx.emit(data) })
      await withContext(ctx, () => ctx.emit('node'))
    }),
    { hooks: [hook], tools: [told] },
  )
  await withContext({ run: 'caller' }, () => app.run({ thread: 't', input: {} }))
  const once = ['tool', 'node'].map((event) => [event, undefined])
  expect(seen).toEqual(once.flatMap((line) => [line, line]))
})

test('a hook that fails changes nothing, and is told of what comes next', async () => {
  const told: unknown[] = []
  const lines: unknown[] = []
  const logger = { ...silent, warn: (...line: unknown[]) => void lines.push(line) }
  const hooks: Hook[] = [
    {
      name: 'bad',
      onEvent({ event }) {
        told.push(event)
        throw new TypeError('secret')
      },
    },
    { onEvent: () => Promise.reject('plain') },
    { onEvent: () => Promise.reject(new DOMException('aborted', 'AbortError')) },
    listener(told as never),
  ]
  const app = compile(
    one((_, ctx) => void [ctx.emit(1), ctx.emit(2)]),
    { hooks, logger },
  )
  expect((await app.run({ thread: 't', input: {} })).status).toBe('success')
  expect(
    told.map((entry) => (typeof entry === 'object' ? (entry as Emitted).event : entry)),
  ).toEqual([1, 1, 2, 2])
  const bad = ['A hook failed: onEvent of hook "bad"', { method: 'onEvent', error: 'TypeError' }]
  const plain = ['A hook failed: onEvent of hook 2', { method: 'onEvent', error: 'string' }]
  expect(lines).toEqual([bad, plain, bad, plain])
})

describe('a hook that never settles', () => {
  const ends: Readonly<Record<string, { readonly a: Run; readonly ends: string }>> = {
    'a success': { a: () => ({ x: 1 }), ends: 'success' },
    'a pause': { a: (_, ctx) => ctx.interrupt('?'), ends: 'interrupted' },
    'a failure': { a: () => Promise.reject(new Error('no')), ends: 'no' },
    'a cancel': { a: () => new Promise(() => {}), ends: 'stop' },
  }
  for (const [how, { a, ends: expected }] of Object.entries(ends))
    it(`is waited for after ${how} as long as the grace, and no longer`, async () => {
      const clock = manualClock()
      const calls = { told: 0 }
      const hook: Hook = {
        onEvent() {
          calls.told++
          return new Promise(() => {})
        },
      }
      const lines: string[] = []
      const logger = { ...silent, warn: (line: string) => void lines.push(line) }
      const options: CompileOptions = { hooks: [hook], clock, graceMs: 700, logger }
      const app = compile(
        one((state, ctx) => {
          void ctx.emit(1)
          void ctx.emit(2)
          return a(state, ctx)
        }),
        options,
      )
      const caller = countedSignal()
      let settled: string | undefined
      void app.run({ thread: 't', input: {}, signal: caller.signal }).then(
        ({ status }) => (settled = status),
        (error: Error) => (settled = error.message),
      )
      await until(() => calls.told > 0)
      if (how === 'a cancel') caller.abort(new Error('stop'))
      const recorded = how === 'a failure' ? 'error' : how === 'a cancel' ? 'cancelled' : expected
      await until(async () => (await app.state('t'))?.status === recorded)
      await clock.advance(699)
      expect(settled).toBeUndefined()
      expect(caller.listeners()).toBe(0)
      await clock.advance(1)
      await until(() => settled)
      expect(settled).toBe(expected)
      expect(clock.pending).toBe(0)
      expect(calls.told).toBe(1)
      expect(lines).toEqual(['Hooks were given up that were still busy with events'])
    })

  it('and settles after the grace is told of nothing more', async () => {
    const clock = manualClock()
    const held = gate()
    const told: unknown[] = []
    const hook: Hook = {
      onEvent({ event }) {
        told.push(event)
        return held.promise
      },
    }
    const app = compile(
      one((_, ctx) => void [ctx.emit(1), ctx.emit(2)]),
      {
        hooks: [hook],
        clock,
        graceMs: 10,
        logger: silent,
      },
    )
    const running = app.run({ thread: 't', input: {} })
    await until(async () => (await app.state('t'))?.status === 'success')
    await clock.advance(10)
    await running
    held.open()
    await after(5)
    expect(told).toEqual([1])
  })

  it('holds up its own run only', async () => {
    const clock = manualClock()
    const told: string[] = []
    const hook: Hook = {
      onEvent({ thread }) {
        told.push(thread)
        return thread === 'stuck' ? new Promise<void>(() => {}) : undefined
      },
    }
    const app = compile(
      one((_, ctx) => void ctx.emit(1)),
      { hooks: [hook], clock, logger: silent },
    )
    const stuck = app.run({ thread: 'stuck', input: {} })
    await until(() => told.length > 0)
    expect((await app.run({ thread: 'free', input: {} })).status).toBe('success')
    // Cancelling it doesn't wait for ever either.
    const deleted = app.delete('stuck')
    await until(() => clock.pending > 0)
    await clock.advance(5000)
    await stuck
    await deleted
    expect(await app.state('stuck')).toBeUndefined()
    expect(told).toEqual(['stuck', 'free'])
  })
})

test('what is reported goes the way of events, but on no stream', async () => {
  const told: Emitted[] = []
  const lines: string[] = []
  const hooks: Hook[] = [
    listener(told),
    {
      beforeNode({ ctx }) {
        const inside = (ctx as unknown as { [INSIDE]: Inside })[INSIDE]
        inside.report({ would: 'block' })
        inside.report(() => {})
      },
    },
  ]
  const logger = { ...silent, warn: (line: string) => void lines.push(line) }
  const app = compile(
    one((_, ctx) => void ctx.emit('own')),
    { hooks, logger },
  )
  const streamed: unknown[] = []
  for await (const event of app.stream({ thread: 't', input: {} }))
    if (event.kind === 'backend') streamed.push(event.data)
  expect(told.map(({ node, event }) => [node, event])).toEqual([
    ['a', { would: 'block' }],
    ['a', 'own'],
  ])
  expect(streamed).toEqual(['own'])
  expect(lines).toEqual(['What was to be reported cannot be'])
})
