// A5, where it depends on the thread, the graph or the store: busy threads, changed graphs, stores that can't promise enough.
import { compile, field, graph, memory, type Graph, type Store } from 'heddle'
import { manualClock } from 'heddle/testing'
import { expect, test } from 'vitest'
import { failure, keepBooks, rowsOf, Story } from './harness.ts'
import { desk } from './refusals-table.ts'

keepBooks()

test('refuses everything but a look on a thread that is running', async () => {
  let enter = (): void => {}
  let leave = (): void => {}
  const entered = new Promise<void>((resolve) => (enter = resolve))
  const left = new Promise<void>((resolve) => (leave = resolve))
  const calls: string[] = []
  const make = graph({
    name: 'busy',
    state: { n: field(0) },
    nodes: {
      async a() {
        calls.push('a')
        enter()
        await left
      },
    },
    edges: { start: 'a', a: 'end' },
  })
  const store = memory()
  const clock = manualClock()
  const app = compile(make, { store, clock })
  const other = compile(make, { store, clock })
  const running = app.run({ thread: 't', input: {} })
  await entered
  const before = await rowsOf(store)
  for (const one of [app, other]) {
    for (const request of [
      { input: {} },
      {},
      { answer: 1 },
      { answers: { x: 1 } },
      { input: { wrong: 1 } },
    ])
      expect(await failure(one.run({ thread: 't', ...request } as never))).toMatchObject({
        code: /answer/.test(Object.keys(request).join())
          ? /thread_busy|resume_conflict/
          : 'thread_busy',
      })
    expect((await one.state('t'))?.status).toBe('running')
  }
  const error = await failure(other.run({ thread: 't', input: {} }))
  expect(error).toMatchObject({
    details: { thread: 't', until: new Date(clock.now() + 60_000).toISOString() },
  })
  expect(await rowsOf(store)).toEqual(before)
  expect(calls).toEqual(['a'])
  leave()
  expect(await running).toMatchObject({ status: 'success' })
})

test('refuses to go on with a node that the graph has no more, and a mended graph goes on', async () => {
  const made = (name: string): Graph =>
    graph({
      name: 'renamed',
      state: { v: field<unknown>(undefined) },
      nodes: { first: () => {}, [name]: async (_: unknown, ctx: never) => ({ v: await ask(ctx) }) },
      edges: { start: 'first', first: name, [name]: 'end' },
    } as never)
  const ask = (ctx: { interrupt(what: string): Promise<unknown> }): Promise<unknown> =>
    ctx.interrupt('?')
  const store = memory()
  await compile(made('second'), { store }).run({ thread: 't1', input: {} })
  const changed = new Story(() => made('other'), 'rebuilt from the store', { store })
  const { interruptions, checkpoint, next } = await changed.snapshot()
  expect(next).toEqual(['second'])
  for (const request of [{ answer: 1 }, { answers: { [interruptions[0]!.id]: 1 } }]) {
    const error = await changed.refuses(request, 'graph_changed')
    expect(error).toMatchObject({ details: { thread: 't1', missing: ['second'] } })
  }
  const [, input] = await changed.history()
  expect((await changed.snapshot(input!.checkpoint)).next).toEqual(['first'])
  const mended = new Story(() => made('second'), 'rebuilt from the store', { store })
  expect((await mended.snapshot()).checkpoint).toBe(checkpoint)
  expect(await mended.answerOne(7)).toMatchObject({ status: 'success', state: { v: 7 } })
})

test('a store that would be unsafe runs a thread once and refuses to go on', async () => {
  const calls: string[] = []
  const rows = memory()
  const store: Store = { ...rows, name: 'careless', unsafe: 'a lease store' }
  const story = new Story(() => desk(calls), 'rebuilt from the store', { store })
  const { open } = await story.start({ asks: ['q'] })
  const before = await rowsOf(rows)
  calls.length = 0
  for (const request of [{ answer: 1 }, { answers: { [open[0]!.id]: 1 } }]) {
    const error = await story.refuses(request, 'store_unsafe')
    expect(error).toMatchObject({ details: { store: 'careless', needs: 'a lease store' } })
  }
  expect(await failure(story.app.cancel('t1'))).toMatchObject({ code: 'store_unsafe' })
  expect(await failure(story.app.delete('t1'))).toMatchObject({ code: 'store_unsafe' })
  expect(await rowsOf(rows)).toEqual(before)
  expect(calls).toEqual([])
  const { status } = await new Story(() => desk(calls), 'in process', {
    store,
    thread: 't2',
  }).start({ asks: [] })
  expect(status).toBe('success')
})
