// B05: a resume that matches nothing changes nothing.
import { expect } from 'vitest'
import { field, graph, type Graph } from 'heddle'
import { all, eachWay, everyWay, keepBooks, rowsOf } from './harness.ts'

keepBooks()

const LOOKALIKE = { '0123456789abcdef0123456789abcdef': 'x' }
const INT = `int_${'0'.repeat(32)}`

everyWay('an id that nobody asked under is refused', async (open) => {
  const calls = { node: 0 }
  const story = open(() => one(calls))
  await story.start()
  const history = (await story.history()).length
  const error = await story.refuses({ answers: LOOKALIKE }, 'unknown_interruption')
  expect(error).toMatchObject({ details: { thread: 't1', interruptions: Object.keys(LOOKALIKE) } })
  expect(calls.node).toBe(1)
  expect((await story.snapshot()).status).toBe('interrupted')
  expect(await story.history()).toHaveLength(history)
  expect((await story.answerOne('yes')).status).toBe('success')
})

everyWay('ids of any shape are refused alike', async (open) => {
  const story = open(() => one({ node: 0 }))
  const [question] = (await story.start()).open
  const id = question?.id as string
  for (const odd of [
    '',
    ' ',
    '/',
    '../../h',
    '__proto__',
    'constructor',
    'é\u0000\n😀\ud83d',
    `${id}.a`,
    `${id} `,
    id.slice(0, -1),
    id.toUpperCase(),
    'i'.repeat(10_000),
    INT,
    `tmr_${'f'.repeat(32)}`,
  ]) {
    const answers = JSON.parse(
      JSON.stringify({ x: 1 }).replace('"x"', JSON.stringify(odd)),
    ) as object
    await story.refuses({ answers }, 'unknown_interruption')
  }
  expect((await story.open()).map((left) => left.id)).toEqual([id])
})

everyWay('one wrong id refuses all that come with it', async (open) => {
  const calls = { node: 0 }
  const story = open(() => one(calls))
  const [question] = (await story.start()).open
  const id = question?.id as string
  for (const answers of [
    { [id]: 1, bad: 2 },
    { bad: 2, [id]: 1 },
  ])
    await story.refuses({ answers }, 'unknown_interruption')
  expect(calls.node).toBe(1)
  expect(await story.open()).toHaveLength(1)
})

everyWay('what looks like answers by id is an answer when it is given as one', async (open) => {
  const story = open(() => one({ node: 0 }))
  const [question] = (await story.start()).open
  const tricky = { ...LOOKALIKE, [question?.id as string]: 'inner' }
  expect((await story.answerOne(tricky)).state['got']).toEqual(tricky)
})

everyWay(
  'what has ended can’t be answered or gone on with, and doesn’t start over',
  async (open) => {
    const calls = { node: 0 }
    const story = open(() => one(calls))
    const [question] = (await story.start()).open
    const id = question?.id as string
    const { outcome } = await story.answer({ [id]: 1 })
    for (const request of [{ answers: { [id]: 1 } }, { answers: { [INT]: 1 } }, { answer: 1 }, {}])
      await story.refuses(request, 'nothing_to_resume')
    expect(calls.node).toBe(2)
    expect(await story.snapshot()).toMatchObject({
      status: 'success',
      checkpoint: outcome.checkpoint,
      state: { got: 1 },
    })
  },
)

everyWay(
  'an answered question of a thread that still asks can’t be answered again',
  async (open) => {
    const story = open(() => one({ node: 0 }, ['first?', 'second?']))
    const [first] = (await story.start()).open
    await story.answer({ [first?.id as string]: 1 })
    await story.refuses({ answers: { [first?.id as string]: 2 } }, 'nothing_to_resume')
    await story.refuses({ answers: { [first?.id as string]: 2, bad: 1 } }, 'unknown_interruption')
    expect((await story.answerOne(2)).state['got']).toEqual([1, 2])
  },
)

everyWay('a thread that doesn’t exist can only be started', async (open) => {
  const calls = { node: 0 }
  const story = open(() => one(calls))
  for (const request of [{}, { answer: 1 }, { answers: { [INT]: 1 } }, { answers: { odd: 1 } }])
    await story.refuses(request, 'nothing_to_resume')
  expect(calls.node).toBe(0)
  expect(await story.app.state('t1')).toBeUndefined()
  expect(await all(story.app.threads())).toEqual([])
  expect(await rowsOf(story.store)).toEqual([])
})

everyWay('a paused thread is neither started anew nor gone on with', async (open) => {
  const calls = { node: 0 }
  const story = open(() => one(calls))
  const [question] = (await story.start()).open
  const error = await story.refuses({ input: {} }, 'thread_paused')
  expect(error).toMatchObject({ details: { interruptions: [question?.id], timers: [] } })
  await story.refuses({}, 'nothing_to_resume')
  expect(calls.node).toBe(1)
})

everyWay('a request that contradicts itself is a mistake in calling', async (open) => {
  const story = open(() => one({ node: 0 }))
  await story.start()
  const before = await story.rows()
  for (const request of [
    { answer: 1, answers: { a: 1 } },
    { input: {}, answer: undefined },
    { answers: {} },
    { answers: null },
    { answers: 'x' },
    { aswer: 1 },
  ])
    await expect(story.pass(request)).rejects.toThrow(TypeError)
  expect(await story.rows()).toEqual(before)
})

eachWay(
  'going on from a checkpoint runs what was next there, not the whole graph',
  async (open) => {
    const calls = { A: 0, B: 0, C: 0 }
    const story = open(() => line(calls))
    await story.start()
    expect(calls).toEqual({ A: 1, B: 1, C: 1 })
    const found = (await story.history()).find(({ next }) => next[0] === 'B')
    Object.assign(calls, { A: 0, B: 0, C: 0 })
    const pass = await story.goOn({ from: found?.checkpoint })
    expect(pass.status).toBe('success')
    expect(calls).toEqual({ A: 0, B: 1, C: 1 })
    expect(pass.state).toEqual({ ran: 3 })
    const [newest] = await story.history()
    expect(newest?.checkpoint).toBe(pass.outcome.checkpoint)
  },
)

everyWay('a branch that leaves a question behind asks it anew, under another id', async (open) => {
  const story = open(() => one({ node: 0 }))
  const [question] = (await story.start()).open
  const [first] = (await story.history()).slice(-1)
  await story.answerOne('old')
  const branch = await story.goOn({ from: first?.checkpoint })
  expect(branch).toMatchObject({ status: 'interrupted', open: [{ payload: '?' }] })
  expect(branch.open[0]?.id).not.toBe(question?.id)
  await story.refuses({ answers: { [question?.id as string]: 'late' } }, 'unknown_interruption')
  expect((await story.answerOne('new')).state['got']).toBe('new')
})

everyWay(
  'what is open on the newest checkpoint can’t be answered from an older one',
  async (open) => {
    const story = open(() => one({ node: 0 }, ['?'], ['before']))
    const [question] = (await story.start()).open
    const [oldest] = (await story.history()).slice(-1)
    const { checkpoint } = await story.snapshot()
    for (const request of [{ answer: 1 }, { answers: { [question?.id as string]: 1 } }]) {
      if (oldest?.checkpoint !== checkpoint)
        await story.refuses({ ...request, from: oldest?.checkpoint }, 'nothing_to_resume')
      await story.refuses({ ...request, from: 'nowhere' }, 'nothing_to_resume')
    }
    expect((await story.answerOne('yes', { from: checkpoint })).status).toBe('success')
  },
)

function one(
  calls: { node: number },
  questions: readonly string[] = ['?'],
  before: readonly 'before'[] = [],
): Graph {
  return graph({
    name: 'one',
    state: { got: field<unknown>(undefined) },
    nodes: {
      before: () => {},
      async node(_, ctx) {
        calls.node++
        const got: unknown[] = []
        for (const words of questions) got.push(await ctx.interrupt(words))
        return { got: got.length > 1 ? got : got[0] }
      },
    },
    edges: {
      start: { to: ['before', 'node'], pick: () => before[0] ?? 'node' },
      before: 'node',
      node: 'end',
    },
  })
}

function line(calls: Record<'A' | 'B' | 'C', number>): Graph {
  const node = (name: 'A' | 'B' | 'C') => (state: { readonly ran: number }) => {
    calls[name]++
    return { ran: state.ran + 1 }
  }
  return graph({
    name: 'line',
    state: { ran: field<number>(0) },
    nodes: { A: node('A'), B: node('B'), C: node('C') },
    edges: { start: 'A', A: 'B', B: 'C', C: 'end' },
  })
}
