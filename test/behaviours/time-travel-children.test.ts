// B19.6: a branch goes on inside child graphs from where they first paused: what had finished there is not done again.
import { append, field, graph, memory, reduced, subgraph, type Context, type Graph } from 'heddle'
import { manualClock } from 'heddle/testing'
import { expect, test } from 'vitest'
import { all, everyWay, keepBooks, Story } from './harness.ts'

keepBooks()

type Calls = Record<string, number>
const list = () => reduced(field<unknown[]>([]), append)

for (const way of ['run({ from })', 'fork'] as const) {
  const branch = async (story: Story, from: string) => {
    if (way === 'run({ from })') return story.goOn({ from })
    await story.app.fork(story.thread, { from })
    return story.goOn()
  }

  everyWay(`${way}: a finished node of a child is not entered again`, async (open) => {
    const calls: Calls = {}
    const story = open(() => parent(calls))
    const [old] = (await story.start()).open
    const c = await story.snapshot()
    expect((await story.answerOne('no')).state['got']).toEqual(['a', 'no', 'after no'])
    const before = await all(story.app.history(story.thread, { ns: ['gate'] }))
    clear(calls)

    const asked = await branch(story, c.checkpoint)
    expect(calls).toEqual({ gate: 1, ask: 1 })
    expect(asked.open).toMatchObject([{ payload: 'go?', ns: ['gate'], node: 'ask' }])
    expect(asked.open[0]?.id).not.toBe(old?.id)
    await story.refuses({ answers: { [old!.id]: 'late' } }, 'unknown_interruption')
    // The child has a namespace of its own on the branch.
    const [first, ...more] = await all(story.app.history(story.thread, { ns: ['gate'] }))
    expect(more).toEqual([])
    expect(first).toMatchObject({ source: 'fork', next: ['ask'], state: { got: ['a'] } })
    expect(before.map(({ checkpoint }) => checkpoint)).not.toContain(first?.checkpoint)

    clear(calls)
    expect((await story.answerOne('yes')).state['got']).toEqual(['a', 'yes', 'after yes'])
    expect(calls).toEqual({ gate: 1, ask: 1, after: 1 })
  })

  everyWay(
    `${way}: it goes on from the first question of a child, not from the last`,
    async (open) => {
      const calls: Calls = {}
      const story = open(() => parent(calls, { twice: true }))
      await story.start()
      const c = await story.snapshot()
      expect((await story.answerOne('1')).open).toMatchObject([{ payload: 'and?' }])
      // From a line that has ended; a fork can also leave one whose second question is open.
      if (way === 'run({ from })') await story.answerOne('2')
      clear(calls)
      const asked = await branch(story, c.checkpoint)
      expect(asked.open).toMatchObject([{ payload: 'go?' }])
      expect(calls).toEqual({ gate: 1, ask: 1 })
      await story.answerOne('x')
      await story.answerOne('y')
      expect((await story.snapshot()).state['got']).toEqual(['a', 'x', 'after x', 'y'])
    },
  )

  everyWay(
    `${way}: children in children, and side by side, go on where each stood`,
    async (open) => {
      const calls: Calls = {}
      const story = open(() => tree(calls))
      const first = await story.start()
      expect(first.open.map(({ payload }) => payload)).toEqual(['deep', 'side'])
      const c = await story.snapshot()
      for (const { id, payload } of first.open) await story.answer({ [id]: `old ${payload}` })
      expect((await story.snapshot()).status).toBe('success')
      clear(calls)

      const again = await branch(story, c.checkpoint)
      expect(again.open.map(({ payload, ns }) => [payload, ns])).toEqual(
        first.open.map(({ payload, ns }) => [payload, ns]),
      )
      // Neither what came before the questions, nor the child that had finished; the node itself, as always.
      expect(calls).toEqual({ both: 1, middle: 1, deep: 1, side: 1 })
      for (const { id, payload } of again.open) await story.answer({ [id]: `new ${payload}` })
      expect((await story.snapshot()).state['got']).toEqual([
        'before',
        'before deep',
        'new deep',
        'quick',
        'before side',
        'new side',
      ])
    },
  )
}

everyWay('branches of branches that nobody ran yet go on in the child too', async (open) => {
  const calls: Calls = {}
  const story = open(() => parent(calls))
  await story.start()
  const { checkpoint } = await story.snapshot()
  await story.answerOne('no')
  clear(calls)
  const first = await story.app.fork('t1', { from: checkpoint })
  const second = await story.app.fork('t1', { from: first.checkpoint })
  await story.app.fork('t1', { from: second.checkpoint, to: 't2' })
  await story.goOn()
  // From one that was left before it ran, after its branch has gone on.
  expect((await story.answerOne('yes')).state['got']).toEqual(['a', 'yes', 'after yes'])
  await story.goOn({ from: first.checkpoint })
  expect((await story.answerOne('again')).state['got']).toEqual(['a', 'again', 'after again'])
  const { app } = story
  await app.run({ thread: 't2' })
  expect((await app.run({ thread: 't2', answer: 'there' })).state).toEqual({
    got: ['a', 'there', 'after there'],
  })
  expect(calls).toEqual({ gate: 6, ask: 6, after: 3 })
})

everyWay('a child that was given an answer begins anew', async (open) => {
  const calls: Calls = {}
  const story = open(() =>
    graph({
      name: 'depends',
      state: { got: list() },
      nodes: {
        async gate(_, ctx) {
          const first = await ctx.interrupt('first?')
          return { got: (await ctx.child(inner(calls), { got: [first] })).got }
        },
      },
      edges: { start: 'gate', gate: 'end' },
    }),
  )
  await story.start()
  const c = await story.snapshot()
  await story.answerOne('x')
  await story.answerOne('no')
  await story.goOn({ from: c.checkpoint })
  await story.answerOne('y')
  expect((await story.answerOne('yes')).state['got']).toEqual(['y', 'a', 'yes', 'after yes'])
})

everyWay('after an edit the child begins anew, with what it is given then', async (open) => {
  const calls: Calls = {}
  const story = open(() => parent(calls))
  await story.start()
  const { checkpoint } = await story.snapshot()
  await story.answerOne('no')
  clear(calls)
  await story.app.fork(story.thread, { from: checkpoint, update: { got: ['edited'] } })
  await story.goOn()
  expect(calls).toEqual({ gate: 1, a: 1, ask: 1 })
  expect((await story.answerOne('yes')).state['got']).toEqual(['edited', 'a', 'yes', 'after yes'])
})

everyWay(
  'in another thread the child goes on too, and keeps nothing of the first',
  async (open) => {
    const calls: Calls = {}
    const store = memory()
    const story = open(() => parent(calls), { store })
    const [old] = (await story.start()).open
    const { checkpoint } = await story.snapshot()
    await story.app.fork(story.thread, { from: checkpoint, to: 't2' })
    expect(await story.open()).toMatchObject([{ id: old?.id, payload: 'go?' }])
    await story.answerOne('no')
    await story.app.delete(story.thread)
    clear(calls)

    const other = new Story(() => parent(calls), 'rebuilt from the store', { store, thread: 't2' })
    const asked = await other.goOn()
    expect(calls).toEqual({ gate: 1, ask: 1 })
    expect(asked.open[0]?.id).not.toBe(old?.id)
    expect((await other.answerOne('yes')).state['got']).toEqual(['a', 'yes', 'after yes'])
    await other.app.delete('t2')
    expect(await other.rows()).toEqual([])
  },
)

everyWay('in a thread that was moved to another store the child goes on as well', async (open) => {
  const calls: Calls = {}
  const story = open(() => parent(calls))
  await story.start()
  const { checkpoint } = await story.snapshot()
  await story.answerOne('no')
  const value = await story.app.exportThread(story.thread)
  const moved = new Story(() => parent(calls), 'rebuilt from the store', {})
  await moved.app.importThread(JSON.parse(JSON.stringify(value)))
  clear(calls)
  await moved.goOn({ from: checkpoint })
  expect((await moved.answerOne('yes')).state['got']).toEqual(['a', 'yes', 'after yes'])
  expect(calls).toEqual({ gate: 2, ask: 2, after: 1 })
})

test('a child that waits for a clock goes on where it first waited', async () => {
  const clock = manualClock()
  const calls: Calls = {}
  const make = (): Graph =>
    parent(calls, { ask: async (ctx) => (await ctx.sleep(1000), ctx.now()) })
  const story = new Story(make, 'rebuilt from the store', { clock })
  const waits = await story.start()
  const { checkpoint } = await story.snapshot()
  clear(calls)
  await clock.advance(600)
  await story.app.fork(story.thread, { from: checkpoint })
  const again = await story.goOn()
  expect(calls).toEqual({ gate: 1, ask: 1 })
  expect(again.timers).toHaveLength(1)
  expect(again.timers[0]?.id).not.toBe(waits.timers[0]?.id)
  await clock.advance(400)
  expect(await story.app.tick()).toMatchObject({ woken: [] })
  await clock.advance(600)
  expect(await story.app.tick()).toMatchObject({ woken: ['t1'] })
  expect((await story.snapshot()).status).toBe('success')
})

function clear(calls: Calls): void {
  for (const name of Object.keys(calls)) delete calls[name]
}

function count(calls: Calls, name: string): void {
  calls[name] = (calls[name] ?? 0) + 1
}

/** `a`, then a question, then `after`, then perhaps another question. */
function inner(calls: Calls, { twice = false, ask }: Shape = {}) {
  return graph({
    name: 'inner',
    state: { got: list() },
    nodes: {
      a() {
        count(calls, 'a')
        return { got: ['a'] }
      },
      async ask(_, ctx) {
        count(calls, 'ask')
        return { got: [await (ask ? ask(ctx) : ctx.interrupt('go?'))] }
      },
      after({ got }) {
        count(calls, 'after')
        return { got: [`after ${got.at(-1)}`] }
      },
      more: async (_, ctx) => ({ got: [await ctx.interrupt('and?')] }),
    },
    edges: {
      start: 'a',
      a: 'ask',
      ask: 'after',
      after: () => (twice ? 'more' : 'end'),
      more: 'end',
    },
  })
}

interface Shape {
  readonly twice?: boolean
  readonly ask?: (ctx: Context) => Promise<unknown>
}

function parent(calls: Calls, shape?: Shape): Graph {
  return graph({
    name: 'parent',
    state: { got: list() },
    nodes: {
      gate: subgraph(inner(calls, shape), {
        input() {
          count(calls, 'gate')
          return {}
        },
        output: ({ got }) => ({ got }),
      }),
    },
    edges: { start: 'gate', gate: 'end' },
  })
}

/** One node with three children at once: one that holds another that asks, one that doesn't ask, one that asks. */
function tree(calls: Calls): Graph {
  const leaf = (name: string, asks: boolean) =>
    graph({
      name: `leaf ${name}`,
      state: { got: list() },
      nodes: {
        before() {
          count(calls, `before ${name}`)
          return { got: asks ? [`before ${name}`] : [name] }
        },
        async ask(_, ctx) {
          count(calls, name)
          return { got: [await ctx.interrupt(name)] }
        },
      },
      edges: { start: 'before', before: () => (asks ? 'ask' : 'end'), ask: 'end' },
    })
  const middle = graph({
    name: 'middle',
    state: { got: list() },
    nodes: {
      before() {
        count(calls, 'before')
        return { got: ['before'] }
      },
      async enter(_, ctx) {
        count(calls, 'middle')
        return { got: (await ctx.child(leaf('deep', true), {})).got }
      },
    },
    edges: { start: 'before', before: 'enter', enter: 'end' },
  })
  return graph({
    name: 'tree',
    state: { got: list() },
    nodes: {
      async both(_, ctx) {
        count(calls, 'both')
        const found = await Promise.all([
          ctx.child(middle, {}),
          ctx.child(leaf('quick', false), {}),
          ctx.child(leaf('side', true), {}, { key: 'side' }),
        ])
        return { got: found.flatMap(({ got }) => got) }
      },
    },
    edges: { start: 'both', both: 'end' },
  })
}
