import { expect, test } from 'vitest'
import * as z from 'zod'
import {
  append,
  compile,
  each,
  field,
  graph,
  memory,
  reduced,
  sum,
  type CompiledGraph,
  type RunRequest,
  type StreamEvent,
} from 'heddle'
import { manualClock, type ManualClock } from 'heddle/testing'

const helper = graph({
  name: 'helper',
  state: { n: field<number>(0) },
  events: field<string>(),
  nodes: {
    first: async (_, ctx) => {
      await ctx.emit('child first')
      return { n: 1 }
    },
    ask: async ({ n }, ctx) => ({ n: n + ((await ctx.interrupt('how many more?')) as number) }),
    last: ({ n }) => ({ n: n * 10 }),
  },
  edges: { start: 'first', first: 'ask', ask: 'last', last: 'end' },
})

const world = () => {
  let failures = 1
  return graph({
    name: 'world',
    state: {
      log: reduced(z.array(z.string()).default([]), append),
      total: reduced(z.number().default(0), sum),
      name: z.string().default(''),
      when: z.date().default(new Date(0)),
      sorted: reduced(z.array(z.string()).default([]), (old, more) => [...old, ...more].sort()),
    },
    events: field<string | { size: bigint }>(),
    nodes: {
      plain: () => ({ name: 'x', when: new Date(5) }),
      many: {
        item: z.number(),
        retry: { attempts: 2, delay: 0, jitter: 0 },
        run: async (_, ctx) => {
          await ctx.emit(`item ${ctx.item}`)
          if (ctx.item === 1 && failures-- > 0) throw new Error('not yet')
          for (let i = 0; i < 3 - ctx.item; i++) await Promise.resolve()
          return {
            log: [`a${ctx.item}`, `b${ctx.item}`],
            total: ctx.item,
            sorted: [`s${ctx.item}`],
          }
        },
      },
      beside: () => ({ log: [] }),
      inside: async (_, ctx) => {
        const { n } = await ctx.child(helper, {})
        await ctx.emit({ size: BigInt(n) })
        return { total: n }
      },
      wait: async (_, ctx) => {
        await ctx.wait(new Date(ctx.now() + 1000), { cursor: 1n })
        return { log: ['waited'] }
      },
      same: ({ name }) => ({ name }),
    },
    edges: {
      start: 'plain',
      plain: () => [each('many', [0, 1, 2]), 'beside'],
      many: 'inside',
      beside: 'inside',
      inside: ['wait', 'same'],
      wait: 'end',
      same: 'end',
    },
  })
}

type App = CompiledGraph

async function live(app: App, clock: ManualClock, request: RunRequest): Promise<StreamEvent[]> {
  const events: StreamEvent[] = []
  // Retries without a delay still wait for their turn on the clock.
  const pump = setInterval(() => void clock.advance(0), 1)
  for await (const event of app.stream(request)) events.push(event as StreamEvent)
  clearInterval(pump)
  return events
}

async function taken(
  app: App,
  thread: string,
  count: number,
  options: object = {},
): Promise<StreamEvent[]> {
  const events: StreamEvent[] = []
  if (count === 0) return events
  for await (const event of app.subscribe(thread, options)) {
    events.push(event as StreamEvent)
    if (events.length === count) break
  }
  return events
}

const steps = (clock: ManualClock, store = memory()) => {
  const declared = world()
  const app = (): App => compile(declared, { store, clock }) as App
  return [
    () => live(app(), clock, { thread: 't', input: {} }),
    () => live(app(), clock, { thread: 't', answer: 2 }),
    async () => {
      await clock.advance(1000)
      return live(app(), clock, { thread: 't' })
    },
    () => live(app(), clock, { thread: 't', input: { log: ['again'] } }),
    () => live(app(), clock, { thread: 't', answer: 3 }),
    async () => {
      await clock.advance(1000)
      return live(app(), clock, { thread: 't' })
    },
  ].map((part) => ({ part, app }))
}

test('what was told is told again, to the letter, from anywhere on', async () => {
  const clock = manualClock('2026-01-01T00:00:00Z')
  const told: StreamEvent[] = []
  for (const { part, app } of steps(clock)) {
    told.push(...(await part()))
    expect(told.map(({ seq }) => seq)).toEqual(told.map((_, i) => i + 1))
    const again = await taken(app(), 't', told.length)
    expect(again).toEqual(told)
    // In the order of their members too, so that texts made of them are the same.
    expect(again.map((event) => Object.keys(event))).toEqual(
      told.map((event) => Object.keys(event)),
    )
  }
  const kinds = new Set(told.map(({ kind }) => kind))
  expect([...kinds].sort()).toEqual([
    ...['backend', 'done', 'interrupt', 'node_end', 'node_start', 'step', 'wait'],
  ])
})

test('after any event come exactly the next, and a run ends what is told of it', async () => {
  const clock = manualClock('2026-01-01T00:00:00Z')
  const told: StreamEvent[] = []
  const parts = steps(clock)
  for (const { part } of parts) told.push(...(await part()))
  const app = parts[0]!.app()
  for (const { seq } of told)
    expect(await taken(app, 't', told.length - seq, { after: seq })).toEqual(told.slice(seq))
  for await (const { id } of app.runs('t')) {
    const events: StreamEvent[] = []
    for await (const event of app.subscribe('t', { run: id })) events.push(event as StreamEvent)
    const last = told.findLastIndex(({ run }) => run === id)
    expect(events).toEqual(told.slice(0, last + 1))
  }
})
