// A thread as a value: it goes on in another store as it would have in its own.
import { compile, field, graph, memory, type Graph, type Store } from 'heddle'
import { manualClock, withFaults } from 'heddle/testing'
import { expect, it } from 'vitest'
import { smallStore } from '../fakes/small-store.ts'

import { all, failure, keepBooks, rowsOf } from './harness.ts'
import { PATHS, past } from './prune-parts.ts'
import { ended, seen, voyage, type Calls } from './transfer-parts.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

/** Through text, as it would travel. */
const sent = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value

it('a paused thread goes on elsewhere where it stood, and repeats nothing', async () => {
  const [calls, again]: Calls[] = [{}, {}]
  const here = compile(voyage(calls))
  await here.run({ thread: 't', input: {}, metadata: { a: 1 }, user: 'ann' })
  const value = sent(await here.exportThread('t'))
  expect(value).toMatchObject({ heddle: 1, graph: 'voyage', thread: 't' })
  const store = memory()
  const there = compile(voyage(again), { store })
  const thread = await there.importThread(value)
  expect(await all(there.threads())).toEqual([thread])
  const { createdAt } = (await all(here.threads()))[0]!
  expect(thread).toMatchObject({
    ...{ id: 't', graph: 'voyage', status: 'interrupted', metadata: { a: 1 }, createdAt },
  })
  expect(await seen(there, 't')).toEqual(await seen(here, 't'))
  expect(await all(there.subscribe('t', { run: (await all(there.runs('t')))[0]!.id }))).toEqual(
    await all(here.subscribe('t', { run: (await all(here.runs('t')))[0]!.id })),
  )
  // What had finished is not done again.
  expect(await ended(there, 't')).toEqual(await ended(here, 't'))
  expect(again).toEqual({ stroll: 1, sleep: 1, call: 1 })
  await there.delete('t')
  expect(await rowsOf(store)).toEqual([])
})

it('what goes out comes out again as it went in', async () => {
  const clock = manualClock()
  const here = compile(voyage(), { clock })
  await here.run({ thread: 't', input: {}, idempotencyKey: 'k' })
  const value = await here.exportThread('t')
  const there = compile(voyage(), { clock })
  await there.importThread(value)
  expect(await there.exportThread('t')).toEqual(value)
  expect(await here.exportThread('t')).toEqual(value)
  // Nothing is started again.
  expect(await there.run({ thread: 't', input: {}, idempotencyKey: 'k' })).toEqual(
    await here.run({ thread: 't', input: {}, idempotencyKey: 'k' }),
  )
})

it('a timer fires where the thread has gone to', async () => {
  const clock = manualClock()
  const nap = (): Graph =>
    graph({
      name: 'nap',
      state: {},
      nodes: { rest: (_, ctx) => ctx.sleep(1000) },
      edges: { start: 'rest', rest: 'end' },
    })
  const here = compile(nap(), { clock })
  await here.run({ thread: 't', input: {} })
  const there = compile(nap(), { clock })
  await there.importThread(await here.exportThread('t'), { to: 'u' })
  await clock.advance(1000)
  expect(await there.tick()).toMatchObject({ woken: ['u'] })
  expect(await there.state('u')).toMatchObject({ status: 'success', thread: 'u' })
})

it.each(Array.from({ length: 12 }, (_, n) => n + 1))(
  'branches, forks, failures and children of a past by chance come along (%i)',
  async (seed) => {
    const { app, on } = await past(seed)
    const store = seed % 3 === 0 ? smallStore(memory()) : memory()
    const there = on(store)
    await there.importThread(sent(await app.exportThread('t')))
    for (const ns of PATHS)
      expect(await all(there.history('t', { ns }))).toEqual(await all(app.history('t', { ns })))
    expect(await all(there.runs('t'))).toEqual(await all(app.runs('t')))
    for (const status of ['open', 'answered', 'cancelled'] as const)
      expect(await there.interruptions({ thread: 't', status })).toEqual(
        await app.interruptions({ thread: 't', status }),
      )
    for (const { checkpoint } of (await all(app.history('t'))).slice(0, 5)) {
      const [one, two] = [app, there].map(async (each) => {
        const to = `to ${checkpoint}`
        await each.fork('t', { from: checkpoint, to })
        const outcome = await each.run({ thread: to }).catch((error: { code: string }) => error)
        return 'state' in outcome ? outcome.state : outcome.code
      })
      expect(await one).toEqual(await two)
    }
  },
)

it('a thread that runs arrives without an owner, and goes on from there', async () => {
  const clock = manualClock()
  let calls = 0
  const waiting: (() => void)[] = []
  const busy = (): Graph =>
    graph({
      name: 'busy',
      state: { done: field<string[]>([]) },
      nodes: {
        async ask(_, ctx) {
          await ctx.interrupt('sure?')
        },
        async work(_, ctx) {
          const token = await ctx.once('token', () => `token ${++calls}`)
          await new Promise<void>((resolve) => waiting.push(resolve))
          return { done: [token] }
        },
      },
      edges: { start: ['ask', 'work'], ask: 'end', work: 'end' },
    })
  const options = { clock, logger: silent }
  const here = compile(busy(), options)
  const running = here.run({ thread: 't', input: {} })
  while (waiting.length === 0) await Promise.resolve()
  const value = sent(await here.exportThread('t'))
  const store = memory()
  const there = compile(busy(), { ...options, store })
  expect(await there.importThread(value)).toMatchObject({ status: 'cancelled' })
  expect((await all(there.runs('t'))).map(({ status }) => status)).toEqual(['cancelled'])
  expect((await rowsOf(store)).filter(({ key }) => key.startsWith('d/'))).toEqual([])
  const again = there.run({ thread: 't' })
  while (waiting.length < 2) await Promise.resolve()
  for (const go of waiting) go()
  for (const [app, run] of [
    [here, running],
    [there, again],
  ] as const) {
    expect(await run).toMatchObject({ status: 'interrupted' })
    expect(await app.run({ thread: 't', answer: 1 })).toMatchObject({
      status: 'success',
      state: { done: ['token 1'] },
    })
  }
})

it('a thread that changes all the time is not exported by halves', async () => {
  const under = memory()
  const app = (store: Store) => compile(voyage(), { store })
  await app(under).run({ thread: 't', input: {} })
  let n = 0
  const restless: Store = {
    ...under,
    async list(range) {
      const page = await under.list(range)
      await app(under).fork('t', { from: (await app(under).state('t'))!.checkpoint })
      n++
      return page
    },
  }
  expect(await failure(app(restless).exportThread('t'))).toMatchObject({ code: 'thread_busy' })
  expect(n).toBeGreaterThan(10)
})

it('a thread that does not exist, or of which a row is lost, is not exported', async () => {
  const store = memory()
  const app = compile(voyage(), { store })
  expect(await failure(app.exportThread('t'))).toMatchObject({ code: 'nothing_to_resume' })
  await app.run({ thread: 't', input: {} })
  for (const { key } of await rowsOf(store)) {
    if (!/\/[csw]\//.test(key)) continue
    const copy = memory()
    await copy.commit({ puts: (await rowsOf(store)).filter((row) => row.key !== key) })
    const code = await compile(voyage(), { store: copy })
      .exportThread('t')
      .then(
        ({ entries }) => entries.length,
        (error: { code: string }) => error.code,
      )
    // A checkpoint that is gone may have been pruned.
    if (code !== 'corrupt_checkpoint') expect(key).toContain('/c/')
  }
})

const loose = (store: Store): Store => ({ ...store, caps: { ...store.caps, atomic: false } })

it.each([
  ['atomic', (store: Store) => store],
  ['without atomic batches', loose],
  ['small', (store: Store) => smallStore(store)],
])('an import that dies at any operation is not there, on a store that is %s', async (_, kind) => {
  const clock = manualClock()
  const options = { clock, logger: silent }
  const from = compile(voyage(), options)
  await from.run({ thread: 't', input: {} })
  const value = await from.exportThread('t')
  const whole = await seen(from, 't')
  let landed = 0
  for (const fault of [{ crash: 'before' }, { crash: 'after' }, { lose: 'reply' }] as const) {
    for (let at = 1, hit = true; hit; at += 1 + Math.floor(at / 12)) {
      const under = memory()
      const store = withFaults(kind(under), [{ at, ...fault }])
      const done = await compile(voyage(), { ...options, store })
        .importThread(value)
        .then(
          () => true,
          () => false,
        )
      hit = store.log.length >= at
      const app = compile(voyage(), { ...options, store: kind(under) })
      const there = await app.state('t')
      if (done) expect(there, `after ${at}`).toBeDefined()
      expect((await all(app.threads())).length).toBe(there ? 1 : 0)
      expect((await app.interruptions()).length).toBe(there ? 1 : 0)
      if (there) landed++
      else {
        await clock.advance(120_000)
        await app.tick()
        expect(await rowsOf(under), `rows after ${at}`).toEqual([])
        await app.importThread(value)
      }
      expect(await seen(app, 't'), `the thread after ${at}`).toEqual(whole)
      await app.delete('t')
      expect(await rowsOf(under)).toEqual([])
    }
  }
  expect(landed).toBeGreaterThan(3)
})

it('of two who import a thread at once one has it', async () => {
  const from = compile(voyage())
  await from.run({ thread: 't', input: {} })
  const value = await from.exportThread('t')
  const store = memory()
  const tries = await Promise.allSettled(
    [1, 2, 3].map(() => compile(voyage(), { store }).importThread(value)),
  )
  expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  for (const one of tries)
    if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'thread_exists' })
  const app = compile(voyage(), { store })
  expect(await seen(app, 't')).toEqual(await seen(from, 't'))
})
