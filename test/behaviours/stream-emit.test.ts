// B24.4 and what surrounds it: what a node emits, and who gets it when. HTTP (B24.5) comes with the HTTP issue.
import { compile, field, graph, type StreamEvent } from 'heddle'
import { expect, it } from 'vitest'
import { gate } from '../fakes/gate.ts'
import { dataOf, emitter, type Emit } from './stream-parts.ts'
import { after, all, countingClock, failure, keepBooks } from './harness.ts'

keepBooks()

it('a reader that begins late gets everything from the start', async () => {
  const app = compile(
    emitter(async ({ emit }) => {
      for (let i = 0; i < 3000; i++) await emit(i)
    }),
    { clock: countingClock() },
  )
  const live = app.stream({ thread: 't', input: {} })
  await live.outcome
  const events = await all(live)
  expect(dataOf(events)).toEqual(Array.from({ length: 3000 }, (_, i) => i))
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => (events[0]?.seq ?? 0) + i))
  expect(events.map(({ kind }) => kind).filter((kind) => kind !== 'backend')).toEqual([
    'node_start',
    'node_end',
    'step',
    'done',
  ])
})

it('a reader that begins late also gets the failure, after what came before it', async () => {
  const broken = new Error('broken')
  const app = compile(
    emitter(({ emit }) => {
      void emit('a')
      throw broken
    }),
    { clock: countingClock() },
  )
  const live = app.stream({ thread: 't', input: {} })
  expect(await failure(live.outcome)).toBe(broken)
  const events: StreamEvent[] = []
  const reading = (async () => {
    for await (const event of live) events.push(event)
  })()
  expect(await failure(reading)).toBe(broken)
  expect(dataOf(events)).toEqual(['a'])
})

it('a producer that awaits its emits never runs far ahead of a slow reader', async () => {
  let sent = 0
  const app = compile(
    emitter(async ({ emit }) => {
      for (; sent < 400; sent++) await emit(sent)
    }),
    { clock: countingClock() },
  )
  const live = app.stream({ thread: 't', input: {} })
  let most = 0
  const seen: unknown[] = []
  for await (const event of live) {
    if (event.kind !== 'backend') continue
    seen.push(event.data)
    if (seen.length % 20 === 0) await after(1)
    most = Math.max(most, sent - seen.length)
  }
  expect(seen).toHaveLength(400)
  expect(most).toBeLessThanOrEqual(64)
  expect(most).toBeGreaterThan(8)
})

it('what is emitted without waiting is not dropped, in the order of the calls', async () => {
  const app = compile(
    emitter(({ emit }) => {
      for (let i = 0; i < 1000; i++) void emit(i)
    }),
    { clock: countingClock() },
  )
  const live = app.stream({ thread: 't', input: {} })
  const events: StreamEvent[] = []
  for await (const event of live) {
    events.push(event)
    if (events.length % 100 === 0) await after(1)
  }
  expect(dataOf(events)).toEqual(Array.from({ length: 1000 }, (_, i) => i))
  expect(events.at(-1)?.kind).toBe('done')
})

it('an emit after the node returned, after done or after an abort is heard by nobody', async () => {
  const kept: Emit[] = []
  const app = compile(
    emitter(({ emit }) => {
      kept.push(emit)
      // The promise of the first is not awaited: it comes while the step is being stored.
      void Promise.resolve().then(() => Promise.resolve().then(() => emit('late')))
    }),
    { clock: countingClock() },
  )
  const live = app.stream({ thread: 't', input: {} })
  const events = await all(live)
  expect(events.map(({ kind }) => kind)).toEqual(['node_start', 'node_end', 'step', 'done'])
  await after(20)
  await kept[0]?.('later')
  expect(await all(live)).toEqual([])

  const stuck = gate()
  const second = compile(
    emitter(({ emit }) => {
      kept.push(emit)
      return stuck.promise
    }),
    { clock: countingClock() },
  )
  const aborted = second.stream({ thread: 't', input: {} })
  await after(5)
  aborted.abort(new Error('stop'))
  await kept[1]?.('after the abort')
  const heard: StreamEvent[] = []
  const reading = (async () => {
    for await (const event of aborted) heard.push(event)
  })()
  expect(await failure(reading)).toMatchObject({ message: 'stop' })
  expect(heard.map(({ kind }) => kind)).toEqual(['node_start'])
  stuck.open()
})

it('an emit of an attempt that is over is heard by nobody', async () => {
  let attempts = 0
  const app = compile(
    graph({
      name: 'retried',
      state: {},
      events: field<string>(),
      nodes: {
        say: {
          async run(_, ctx) {
            const attempt = ++attempts
            void after(5).then(() => ctx.emit(`late ${attempt}`))
            if (attempt === 1) throw new Error('again')
            await after(40)
            await ctx.emit('second')
          },
          retry: { attempts: 2, delay: 15, jitter: 0 },
        },
      },
      edges: { start: 'say', say: 'end' },
    }),
    { clock: countingClock() },
  )
  const events = await all(app.stream({ thread: 't', input: {} }))
  expect(dataOf(events)).toEqual(['late 2', 'second'])
})
