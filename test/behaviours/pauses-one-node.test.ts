// B01: several questions inside one node, and what else a node does around them.
import { expect } from 'vitest'
import { append, field, graph, reduced, type Context, type Graph } from 'heddle'
import { everyWay, failure, keepBooks } from './harness.ts'

keepBooks()

everyWay('a node that asks in a loop gets each answer once, the next node none', async (open) => {
  const calls = { ask: 0, last: 0 }
  const log: number[][] = []
  const story = open(() => loop(calls, log))

  for (const [q, send] of [
    [1, () => story.start()],
    [2, () => story.answerOne('yes')],
    [3, () => story.answerOne('yes')],
  ] as const) {
    const pass = await send()
    expect(pass.status).toBe('interrupted')
    expect(pass.open.map(({ payload }) => payload)).toEqual([{ q }])
    expect((await story.snapshot()).next).toEqual(['ask'])
  }

  const asked = await story.answerOne('no')
  expect(log).toEqual([[1], [1, 2], [1, 2, 3], [1, 2, 3]])
  expect(calls).toEqual({ ask: 4, last: 1 })
  expect(asked.state).toEqual({ n: 3 })
  expect(asked.open).toMatchObject([{ node: 'last', payload: 'final' }])

  const ended = await story.answerOne('ok')
  expect(ended).toMatchObject({ status: 'success', state: { n: 3, r: 'ok' } })
  expect(calls).toEqual({ ask: 4, last: 2 })
  expect(story.events('interrupt')).toHaveLength(4)
  const answered = await story.app.interruptions({ thread: 't1', status: 'answered' })
  expect(answered.map(({ answer }) => answer)).toEqual(['yes', 'yes', 'no', 'ok'])
})

everyWay('two questions with the same words are two questions', async (open) => {
  const story = open(() => one(async (ctx) => [await ctx.interrupt('?'), await ctx.interrupt('?')]))
  const first = await story.start()
  const second = await story.answerOne('a')
  expect(second.open).toMatchObject([{ payload: '?' }])
  expect(second.open[0]?.id).not.toBe(first.open[0]?.id)
  expect((await story.answerOne('b')).state).toEqual({ got: ['a', 'b'] })
})

everyWay(
  'a question needs no words, and its record says who asked and who answered',
  async (open) => {
    const story = open(() => one((ctx) => ctx.interrupt()))
    const [asked] = (await story.start({}, { user: 'ann' })).open
    expect(asked).toMatchObject({ user: 'ann', payload: undefined, node: 'node', ns: [] })
    await story.answerOne('yes', { user: 'bob' })
    const [record] = await story.app.interruptions({ thread: 't1', status: 'answered' })
    expect(record).toMatchObject({ id: asked?.id, answer: 'yes', user: 'ann', answeredBy: 'bob' })
  },
)

everyWay('a loop of the graph asks anew each time round, with the same words', async (open) => {
  const story = open(rounds)
  const ids = new Set<string>()
  await story.start()
  for (const answer of ['a', 'b', 'c']) {
    const [question] = await story.open()
    expect(question?.payload).toBe('more?')
    ids.add(question?.id as string)
    await story.answerOne(answer)
  }
  const ended = await story.answerOne('stop')
  expect(ended).toMatchObject({ status: 'success', state: { got: ['a', 'b', 'c', 'stop'] } })
  expect(ids.size).toBe(3)
})

everyWay('a pause outweighs what the node returns or throws beside it', async (open) => {
  for (const end of [() => 'early', () => Promise.reject(new Error('beside')), thrown]) {
    const story = open(() =>
      one((ctx) => {
        const asked = ctx.interrupt('?')
        // Nobody waits for it in the first pass; the answer makes the node return it.
        return ctx.user === 'ann' ? asked : end()
      }),
    )
    const pass = await story.start()
    expect(pass).toMatchObject({ status: 'interrupted', open: [{ payload: '?' }], state: {} })
    const ended = await story.answerOne('yes', { user: 'ann' })
    expect(ended).toMatchObject({ status: 'success', state: { got: 'yes' } })
  }
})

everyWay('a node that fails after its answer is continued without asking again', async (open) => {
  const calls = { node: 0, paid: 0 }
  const story = open(() =>
    one(async (ctx) => {
      calls.node++
      const amount = await ctx.interrupt('how much?')
      await ctx.once('pay', () => ++calls.paid)
      const sure = await ctx.interrupt('sure?')
      if (calls.node < 5) throw new Error(`broken ${calls.node}`)
      return [amount, sure]
    }),
  )
  await story.start()
  await story.answerOne(12)
  expect(await failure(story.answerOne(true))).toMatchObject({ message: 'broken 3' })
  expect(await story.open()).toEqual([])
  expect((await story.snapshot()).status).toBe('error')
  expect(await failure(story.goOn())).toMatchObject({ message: 'broken 4' })
  const ended = await story.goOn()
  expect(ended).toMatchObject({ status: 'success', state: { got: [12, true] } })
  expect(calls).toEqual({ node: 5, paid: 1 })
  expect(story.events('interrupt')).toHaveLength(2)
})

everyWay('a retried attempt after an answer is given it again', async (open) => {
  let broken = 2
  const story = open(() =>
    one(
      async (ctx) => {
        const got = await ctx.interrupt('?')
        if (broken-- > 0) throw new Error('passing')
        return got
      },
      { retry: { attempts: 3, delay: 1 } },
    ),
  )
  await story.start()
  const ended = await story.answerOne('yes')
  expect(ended).toMatchObject({ status: 'success', state: { got: 'yes' } })
  expect(ended.events.filter(({ kind }) => kind === 'node_start')).toHaveLength(3)
})

everyWay('questions and waits keep their own places', async (open) => {
  const story = open(() =>
    one(async (ctx) => [
      await ctx.wait(new Date(0), 'past'),
      await ctx.interrupt('a'),
      await ctx.sleep(0),
      await ctx.interrupt('b'),
      await ctx.wait(new Date(ctx.now() + 3_600_000), 'hour'),
      await ctx.interrupt('c'),
    ]),
  )
  await story.start()
  await story.answerOne('va')
  const waiting = await story.answerOne('vb')
  expect(waiting).toMatchObject({ status: 'waiting', open: [], timers: [{ payload: 'hour' }] })
  await story.refuses({ answer: 'vc' }, 'nothing_to_resume')
  await story.answer({ [waiting.timers[0]?.id as string]: 'early' })
  const ended = await story.answerOne('vc')
  expect(ended.state).toEqual({ got: ['past', 'va', undefined, 'vb', 'early', 'vc'] })
})

function thrown(): never {
  throw new Error('at once')
}

function one(run: (ctx: Context) => unknown, settings: object = {}): Graph {
  return graph({
    name: 'one',
    state: { got: field<unknown>(undefined) },
    nodes: { node: { ...settings, run: async (_, ctx) => ({ got: await run(ctx) }) } },
    edges: { start: 'node', node: 'end' },
  })
}

function rounds(): Graph {
  return graph({
    name: 'rounds',
    state: { got: reduced(field<unknown[]>([]), append) },
    nodes: { ask: async (_, ctx) => ({ got: [await ctx.interrupt('more?')] }) },
    edges: { start: 'ask', ask: ({ got }) => (got.at(-1) === 'stop' ? 'end' : 'ask') },
  })
}

function loop(calls: { ask: number; last: number }, log: number[][]): Graph {
  return graph({
    name: 'loop',
    state: { n: field<unknown>(undefined), r: field<unknown>(undefined) },
    nodes: {
      async ask(_, ctx) {
        calls.ask++
        const pass: number[] = []
        log.push(pass)
        for (let i = 1; ; i++) {
          pass.push(i)
          if ((await ctx.interrupt({ q: i })) === 'no') return { n: i }
        }
      },
      async last(_, ctx) {
        calls.last++
        return { r: await ctx.interrupt('final') }
      },
    },
    edges: { start: 'ask', ask: 'last', last: 'end' },
  })
}
