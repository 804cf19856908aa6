// What `fork` makes, what it refuses, and what comes of two at once.
import * as z from 'zod'
import { append, compile, field, graph, memory, reduced, sum, type Graph, type Store } from 'heddle'
import { manualClock, withFaults } from 'heddle/testing'
import { describe, expect, it } from 'vitest'

import { all, everyWay, failure, keepBooks, rowsOf, Story } from './harness.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

describe('a fork to another thread', () => {
  everyWay('carries the state and the metadata, and nothing else', async (open) => {
    const store = memory()
    const story = open(() => gated([]), { store })
    await story.start({ n: 2 }, { metadata: { who: 'ann' }, user: 'ann' })
    const c = await story.snapshot()
    await story.answerOne('no')
    const before = await rowsOf(store)
    const update = { name: 'B', list: ['x'] }
    const made = await story.app.fork(story.thread, { from: c.checkpoint, to: 't2', update })
    expect(made).toEqual({ thread: 't2', checkpoint: expect.any(String) })
    const after = await rowsOf(store)
    // The first thread's rows are what they were; the other's are few.
    for (const row of before) expect(after).toContainEqual(row)
    expect(after.length - before.length).toBe(5)

    const other = new Story(() => gated([]), 'in process', { store, thread: 't2' })
    expect(await other.history()).toEqual([await other.snapshot()])
    const { parent, ...shown } = await other.snapshot()
    expect(parent).toBeUndefined()
    expect(shown).toMatchObject({
      thread: 't2',
      checkpoint: made.checkpoint,
      source: 'fork',
      status: 'starting',
      step: c.step,
      run: c.run,
      next: ['gate'],
      metadata: { who: 'ann' },
      state: { name: 'B', n: 3, list: ['x'] },
    })
    expect(await all(other.app.runs('t2'))).toEqual([])
    expect((await all(other.app.threads())).map(({ id }) => id).toSorted()).toEqual(['t1', 't2'])
    await other.goOn()
    expect((await other.answerOne('yes')).state).toMatchObject({ got: 'yes', n: 4 })
    const [second, first] = await all(other.app.runs('t2'))
    expect(first).toMatchObject({ root: first?.id })
    expect(first).not.toHaveProperty('continues')
    expect(second).toMatchObject({ root: first?.id, continues: first?.id })
    await other.app.delete('t2')
    expect(await rowsOf(store)).toEqual(before)
  })

  it('belongs to the same tenant, and may leave a thread that runs', async () => {
    const store = memory()
    const { app, running, leave } = await busy(store)
    const { checkpoint } = (await app.state('t1'))!
    expect(await app.fork('t1', { from: checkpoint, to: 'copy' })).toMatchObject({ thread: 'copy' })
    leave()
    await running
    const ann = app.tenant('ann')
    await ann.run({ thread: 't1', input: {} })
    const from = (await ann.state('t1'))!.checkpoint
    await ann.fork('t1', { from, to: 't2' })
    expect(
      (await all(ann.threads())).map(({ id, tenant }) => `${tenant} ${id}`).toSorted(),
    ).toEqual(['ann t1', 'ann t2'])
    expect(await app.state('t2')).toBeUndefined()
  })
})

describe('a fork is refused, and nothing is changed,', () => {
  it.each<[name: string, options: { readonly [key: string]: unknown }, refusal: unknown]>([
    ['without a checkpoint', {}, TypeError],
    ['by a name that is none', { from: 1 }, TypeError],
    ['with what it does not know', { from: 'x', too: 't2' }, TypeError],
    ['at a checkpoint that is none', { from: 'x' }, 'unknown_checkpoint'],
    ['at one of another id', { from: '00000000000000' }, 'unknown_checkpoint'],
    ['to itself', { from: 'C', to: 't1' }, 'thread_exists'],
    ['to a thread that there is', { from: 'C', to: 't0' }, 'thread_exists'],
    ['to a thread of another graph', { from: 'C', to: 'other' }, 'thread_exists'],
    ['with a field that is none', { from: 'C', update: { nam: 'x' } }, 'schema_error'],
    ['with a value that does not fit', { from: 'C', update: { name: 1 } }, 'schema_error'],
    ['with an update that is no object', { from: 'C', update: [1] }, 'schema_error'],
    ['with what is no list', { from: 'C', update: { list: 'x' } }, 'schema_error'],
    [
      'with what can not be stored',
      { from: 'C', update: { got: () => {} } },
      'unserializable_value',
    ],
  ])('%s', async (_, options, refusal) => {
    const store = memory()
    const app = compile(gated([]), { store })
    await app.run({ thread: 't0', input: {} })
    const { checkpoint } = await app.run({ thread: 't1', input: {} })
    const lone = graph({
      name: 'lone',
      state: {},
      nodes: { a() {} },
      edges: { start: 'a', a: 'end' },
    })
    await compile(lone, { store }).run({ thread: 'other', input: {} })
    const before = await rowsOf(store)
    const given = Object.entries(options).map(([key, value]) => [
      key,
      value === 'C' ? checkpoint : value,
    ])
    const error = await failure(app.fork('t1', Object.fromEntries(given) as never))
    if (typeof refusal === 'string') expect(error).toMatchObject({ code: refusal })
    else expect(error).toBeInstanceOf(refusal as typeof TypeError)
    expect(await rowsOf(store)).toEqual(before)
    // The field is named, and the graph.
    if (refusal === 'schema_error' && !Array.isArray(options['update']))
      expect(error).toMatchObject({
        details: { graph: 'gated', field: Object.keys(options['update'] as object)[0] },
      })
  })

  it('of a thread that there is not', async () => {
    const app = compile(gated([]))
    for (const to of [{}, { to: 't2' }])
      expect(await failure(app.fork('t1', { from: '00000000000000', ...to }))).toMatchObject({
        code: 'unknown_checkpoint',
        details: { thread: 't1', checkpoint: '00000000000000' },
      })
  })

  it('while somebody runs the thread', async () => {
    const store = memory()
    const { app, running, leave } = await busy(store)
    const before = await rowsOf(store)
    const { checkpoint } = (await app.state('t1'))!
    const error = await failure(app.fork('t1', { from: checkpoint }))
    expect(error).toMatchObject({ code: 'thread_busy', details: { until: expect.any(String) } })
    expect(await rowsOf(store)).toEqual(before)
    leave()
    await running
  })
})

it('a value of an edit is what its schema makes of it, whatever the reducer', async () => {
  const app = compile(gated([]))
  const { checkpoint } = await app.run({ thread: 't1', input: { n: 1 } })
  // What `append` takes as an update is here the list; what `sum` adds is the number.
  await app.fork('t1', { from: checkpoint, update: { name: ' C ', n: 9, list: ['z'] } })
  expect((await app.state('t1'))?.state).toMatchObject({ name: 'C', n: 9, list: ['z'] })
})

it('a fork is one commit, and names no new run', async () => {
  const store = withFaults(memory())
  const app = compile(gated([]), { store })
  const { checkpoint } = await app.run({ thread: 't1', input: {} })
  const runs = await all(app.runs('t1'))
  for (const to of [{}, { to: 't2' }]) {
    const from = store.log.length
    await app.fork('t1', { from: checkpoint, ...to })
    expect(store.log.slice(from).filter(({ op }) => op === 'commit')).toHaveLength(1)
  }
  expect(await all(app.runs('t1'))).toEqual(runs)
})

it('a fork takes a thread whose owner is gone, once its lease is over', async () => {
  const clock = manualClock()
  const store = memory()
  const calls: string[] = []
  const dying = withFaults(store, [{ at: 5, crash: 'before' }])
  const make = (): Graph => gated(calls)
  await compile(make(), { store: dying, clock, logger: silent })
    .run({ thread: 't1', input: {} })
    .catch(() => {})
  expect(dying.crashed).toBe(true)
  const app = compile(make(), { store, clock })
  const { checkpoint } = (await app.state('t1'))!
  expect(await failure(app.fork('t1', { from: checkpoint }))).toMatchObject({ code: 'thread_busy' })
  await clock.advance(61_000)
  await app.fork('t1', { from: checkpoint })
  calls.length = 0
  // Nobody owns it, and nothing is due: nothing runs by itself.
  expect(await app.tick()).toEqual({ woken: [], recovered: [] })
  expect(calls).toEqual([])
  expect((await app.run({ thread: 't1' })).status).toBe('interrupted')
  expect((await app.run({ thread: 't1', answer: 1 })).state).toMatchObject({ got: 1 })
})

it('a fork of a start whose way out failed runs no router; the next run does', async () => {
  let fails = true
  let picked = 0
  const make = (): Graph =>
    graph({
      name: 'routed',
      state: { x: field(0) },
      nodes: { a: ({ x }) => ({ x: x + 1 }) },
      edges: {
        start: () => {
          picked++
          if (fails) throw new Error('no way')
          return 'a'
        },
        a: 'end',
      },
    })
  const story = new Story(make, 'rebuilt from the store', {})
  await expect(story.start()).rejects.toThrow('no way')
  fails = false
  picked = 0
  const { checkpoint } = await story.snapshot()
  await story.app.fork('t1', { from: checkpoint, update: { x: 4 } })
  await story.app.fork('t1', { from: checkpoint, to: 't2' })
  expect(picked).toBe(0)
  expect(await story.snapshot()).toMatchObject({ status: 'starting', next: [] })
  expect((await story.goOn()).state).toEqual({ x: 5 })
  expect((await story.app.run({ thread: 't2' })).state).toEqual({ x: 1 })
})

describe('at once', () => {
  it('two forks of a thread make two branches', async () => {
    for (let round = 0; round < 20; round++) {
      const store = memory()
      const make = (): Graph => gated([])
      const { checkpoint } = await compile(make(), { store }).run({ thread: 't1', input: {} })
      const forks = await Promise.all(
        ['A', 'B', 'C'].map((name) =>
          compile(make(), { store }).fork('t1', { from: checkpoint, update: { name } }),
        ),
      )
      const story = new Story(make, 'in process', { store })
      const children = (await story.history()).filter(({ parent }) => parent === checkpoint)
      expect(children.map((one) => one.checkpoint).toSorted()).toEqual(
        forks.map((one) => one.checkpoint).toSorted(),
      )
      expect(new Set(children.map(({ state }) => state['name']))).toEqual(new Set(['A', 'B', 'C']))
      expect((await story.snapshot()).checkpoint).toBe(children[0]?.checkpoint)
    }
  })

  it('two forks to one thread make one', async () => {
    const store = memory()
    const make = (): Graph => gated([])
    const { checkpoint } = await compile(make(), { store }).run({ thread: 't1', input: {} })
    const settled = await Promise.allSettled(
      ['A', 'B', 'C'].map((name) =>
        compile(make(), { store }).fork('t1', { from: checkpoint, to: 't2', update: { name } }),
      ),
    )
    const lost = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    expect(lost).toMatchObject([{ code: 'thread_exists' }, { code: 'thread_exists' }])
    const won = settled.findIndex(({ status }) => status === 'fulfilled')
    expect((await compile(make(), { store }).state('t2'))?.state['name']).toBe('ABC'[won])
  })

  it('an answer and a fork: either the answer counts first, or its question is left', async () => {
    const codes = new Set<string>()
    for (let turns = 0; turns < 24; turns++) {
      const store = memory()
      const calls: string[] = []
      const make = (): Graph => gated(calls)
      const story = new Story(make, 'in process', { store })
      const [question] = (await story.start()).open
      const { checkpoint } = await story.snapshot()
      calls.length = 0
      const answering = compile(make(), { store }).run({
        thread: 't1',
        answers: { [question!.id]: 'yes' },
      })
      for (let turn = 0; turn < turns; turn++) await Promise.resolve()
      const forking = compile(make(), { store }).fork('t1', { from: checkpoint })
      const [answered, forked] = await Promise.allSettled([answering, forking])
      const code = (one: PromiseSettledResult<unknown>): string =>
        one.status === 'fulfilled' ? 'ok' : ((one.reason as { code?: string }).code ?? 'other')
      codes.add(`${code(answered)} ${code(forked)}`)
      if (answered.status === 'fulfilled') {
        // The answer was taken: it ran once, whether the fork came later or was refused.
        expect(calls.filter((name) => name === 'after')).toEqual(['after'])
      } else expect(calls).toEqual([])
      if (forked.status === 'fulfilled') {
        expect((await story.snapshot()).checkpoint).toBe(forked.value.checkpoint)
        const asked = await story.app.run({ thread: 't1' })
        expect(asked).toMatchObject({ status: 'interrupted', interruptions: [{ payload: 'go?' }] })
      }
    }
    const known = /^(ok (ok|thread_busy)|(resume_conflict|unknown_interruption) ok)$/
    for (const pair of codes) expect(pair).toMatch(known)
  })
})

/** A thread whose node works until it may leave. */
async function busy(store: Store) {
  let leave = (): void => {}
  let entered = (): void => {}
  const working = new Promise<void>((resolve) => (entered = resolve))
  const app = compile(
    graph({
      name: 'busy',
      state: { x: field(0) },
      nodes: {
        first: () => ({ x: 1 }),
        async work(_, ctx) {
          if (ctx.tenant !== undefined) return
          await new Promise<void>((resolve) => {
            leave = resolve
            entered()
          })
        },
      },
      edges: { start: 'first', first: 'work', work: 'end' },
    }),
    { store },
  )
  const running = app.run({ thread: 't1', input: {} })
  await working
  return { app, running, leave }
}

/** A name, a number, a list; asks in its second node. */
function gated(calls: string[]): Graph {
  return graph({
    name: 'gated',
    state: {
      name: z.string().trim().default('A'),
      n: reduced(z.number().default(0), sum),
      list: reduced(z.array(z.string()).default([]), append),
      got: field<unknown>(undefined),
    },
    nodes: {
      before() {
        calls.push('before')
        return { n: 1, list: ['before'] }
      },
      async gate(_, ctx) {
        calls.push('gate')
        return { got: await ctx.interrupt('go?') }
      },
      after() {
        calls.push('after')
        return { n: 1 }
      },
    },
    edges: { start: 'before', before: 'gate', gate: 'after', after: 'end' },
  })
}
