import { expect, test } from 'vitest'
import {
  append,
  compile,
  each,
  field,
  graph,
  memory,
  reduced,
  type CompiledGraph,
  type Store,
  type StreamEvent,
} from 'heddle'
import { manualClock } from 'heddle/testing'
import { all, failure, keepBooks } from './harness.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

type App = CompiledGraph
const counting = graph({
  name: 'counting',
  state: { n: field<number>(0) },
  nodes: { up: ({ n }) => ({ n: n + 1 }) },
  edges: { start: 'up', up: ({ n }) => (n < 100 ? 'up' : 'end') },
})

/** Reads on, to the end if there is one or to `done`. */
async function rest(events: AsyncIterator<unknown>, told: StreamEvent[]): Promise<StreamEvent[]> {
  for (;;) {
    const { value, done } = await events.next()
    if (done) return told
    told.push(value as StreamEvent)
    if (told.at(-1)!.kind === 'done') {
      await events.return?.()
      return told
    }
  }
}

/** A thread that has ended, and a reader of its events who has read one and takes their time. */
async function begun(): Promise<{
  app: App
  kept: StreamEvent[]
  told: StreamEvent[]
  events: AsyncIterator<unknown>
}> {
  const app = compile(counting) as App
  const { run } = await app.run({ thread: 't', input: {} })
  const kept = (await all(app.subscribe('t', { run }))) as StreamEvent[]
  const events = app.subscribe('t')[Symbol.asyncIterator]()
  const told = [(await events.next()).value as StreamEvent]
  // Meanwhile as many are read ahead as a reader is given.
  for (let i = 0; i < 50; i++) await new Promise((resolve) => setTimeout(resolve))
  return { app, kept, told, events }
}

test('a reader who is behind when the thread is deleted comes to the end, also if there is another of its name', async () => {
  for (const again of [false, true]) {
    const { app, kept, told, events } = await begun()
    await app.delete('t')
    if (again) await app.run({ thread: 't', input: {} })
    await rest(events, told)
    expect(told).toEqual(kept.slice(0, told.length))
    expect(told.length).toBeLessThan(kept.length)
  }
})

test('a reader who is behind when the thread is pruned goes on with what is left', async () => {
  const { app, kept, told, events } = await begun()
  await app.prune('t', { keepLast: 2 })
  await rest(events, told)
  expect(kept).toEqual(expect.arrayContaining(told))
  expect(told.at(-1)).toEqual(kept.at(-1))
  expect(told.length).toBeLessThan(kept.length)
})

/** A store whose every operation takes a turn of the loop. */
function unhurried(store: Store): Store {
  const turn = (): Promise<unknown> => new Promise((resolve) => setTimeout(resolve))
  return {
    ...store,
    get: (keys) => turn().then(() => store.get(keys)),
    list: (options) => turn().then(() => store.list(options)),
    commit: (batch) => turn().then(() => store.commit(batch)),
  }
}

test('a reader who is behind reads what nodes returned whose step has closed since', async () => {
  const twenty = each(
    'many',
    Array.from({ length: 20 }, (_, i) => i),
  )
  const slowly = graph({
    name: 'slowly',
    state: { log: reduced(field<string[]>([]), append) },
    nodes: {
      many: {
        item: field<number>(),
        run: async (_, ctx) => {
          for (let i = 0; i < ctx.item; i++) await new Promise((resolve) => setTimeout(resolve, 1))
          return { log: [String(ctx.item)] }
        },
      },
    },
    edges: { start: () => twenty, many: ({ log }) => (log.length < 100 ? twenty : 'end') },
  })
  const app = compile(slowly, { store: unhurried(memory()) }) as App
  const reading = (async () => {
    const told: StreamEvent[] = []
    for await (const event of app.subscribe('t')) {
      told.push(event as StreamEvent)
      await new Promise((resolve) => setTimeout(resolve, 1))
      if (event.kind === 'done') break
    }
    return told
  })()
  const live = await all(app.stream({ thread: 't', input: {} }))
  expect(await reading).toEqual(live)
})

test('a node that has finished as another fails has its end told, once', async () => {
  let broken = true
  const pair = graph({
    name: 'pair',
    state: { log: reduced(field<string[]>([]), append) },
    nodes: {
      well: () => ({ log: ['well'] }),
      ill: () => {
        if (broken) throw new Error('not yet')
        return { log: ['ill'] }
      },
    },
    edges: { start: ['well', 'ill'], well: 'end', ill: 'end' },
  })
  const app = compile(pair, { logger: silent }) as App
  const told: StreamEvent[] = []
  const listen = async (request: object): Promise<void> => {
    for await (const event of app.stream({ thread: 't', ...request } as never))
      told.push(event as never)
  }
  expect(await failure(listen({ input: {} }))).toMatchObject({ message: 'not yet' })
  broken = false
  await listen({})
  const ends = told.flatMap((event) => (event.kind === 'node_end' ? [event.update] : []))
  expect(ends).toEqual([{ log: ['well'] }, { log: ['ill'] }])
  expect(await rest(app.subscribe('t')[Symbol.asyncIterator](), [])).toEqual(told)
})

test('of a run that is stored at its end only, the pauses and the end are kept', async () => {
  const asking = graph({
    name: 'asking',
    state: { name: field<unknown>('') },
    nodes: {
      before: () => ({}),
      ask: async (_, ctx) => ({ name: await ctx.interrupt('Who?') }),
      nap: async (_, ctx) => {
        await ctx.wait(new Date(0))
        await ctx.wait(new Date(ctx.now() + 3_600_000))
        return {}
      },
    },
    edges: { start: 'before', before: ['ask', 'nap'], ask: 'end', nap: 'end' },
  })
  const clock = manualClock('2026-01-01T00:00:00Z')
  const app = compile(asking, { durability: 'exit', clock }) as App
  const told = (await all(app.stream({ thread: 't', input: {} }))) as StreamEvent[]
  told.push(...((await all(app.stream({ thread: 't', answer: 'Ada' }))) as StreamEvent[]))
  await clock.advance(3_600_000)
  told.push(...((await all(app.stream({ thread: 't' }))) as StreamEvent[]))
  const lasting = told.filter(({ kind }) => ['interrupt', 'wait', 'done'].includes(kind))
  expect(lasting.map(({ kind }) => kind)).toEqual(['interrupt', 'wait', 'done'])
  expect(await rest(app.subscribe('t')[Symbol.asyncIterator](), [])).toEqual(lasting)
})
