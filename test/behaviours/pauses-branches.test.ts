// B03: answering one of several branches that pause.
import { describe, expect } from 'vitest'
import { append, each, field, graph, memory, reduced, type Context, type Graph } from 'heddle'
import {
  after,
  asks,
  everyWay,
  failure,
  keepBooks,
  mulberry32,
  SEEDS,
  shuffled,
  times,
  unevenStore,
} from './harness.ts'

keepBooks()

type Calls = Record<'p1' | 'p2' | 'p3' | 'j', number>
const none = (): Calls => ({ p1: 0, p2: 0, p3: 0, j: 0 })

everyWay(
  'a join waits for every branch, and no branch is entered without a reason',
  async (open) => {
    const calls = none()
    const story = open(() => fan(calls))
    const asked = await story.start()
    expect(asked.open.map(({ node }) => node)).toEqual(['p1', 'p2'])
    expect(calls).toEqual({ p1: 1, p2: 1, p3: 1, j: 0 })

    // What `p3` returned is kept apart until the step closes: it isn't in the state yet, and `p3` won't run again.
    expect(asked.state).toEqual({ xs: [] })
    const kept = (await story.rows()).filter(({ value }) => value.includes('"3"'))
    expect(kept).toHaveLength(1)

    const first = await story.answer({ [asks(asked.open, '1').id]: 'a' })
    expect(first.status).toBe('interrupted')
    expect(first.open).toEqual([asks(asked.open, '2')])
    expect(first.events.filter(({ kind }) => kind === 'interrupt')).toEqual([])
    expect(calls).toEqual({ p1: 2, p2: 1, p3: 1, j: 0 })

    const ended = await story.answer({ [asks(asked.open, '2').id]: 'b' })
    expect(ended).toMatchObject({ status: 'success', state: { xs: ['1:a', '2:b', '3'] } })
    expect(calls).toEqual({ p1: 2, p2: 2, p3: 1, j: 1 })
    expect(story.events('done')).toHaveLength(1)
  },
)

everyWay('the order of answers changes nothing in the result', async (open) => {
  const calls = none()
  const story = open(() => fan(calls))
  const asked = await story.start()
  await story.answer({ [asks(asked.open, '2').id]: 'b' })
  const ended = await story.answerOne('a')
  expect(ended.state).toEqual({ xs: ['1:a', '2:b', '3'] })
  expect(calls).toEqual({ p1: 2, p2: 2, p3: 1, j: 1 })
})

everyWay(
  'an answer that comes while a branch still runs is refused, and asked for later',
  async (open) => {
    const calls = none()
    const story = open(() => fan(calls, 150))
    const { app } = story
    const running = app.stream({ thread: story.thread, input: {} })
    await after(50)
    expect(calls).toEqual({ p1: 1, p2: 1, p3: 1, j: 0 })
    for (const request of [{ answer: 'a' }, { input: {} }, {}]) {
      const error = await failure(app.run({ thread: story.thread, ...request }))
      expect(error).toMatchObject({ code: 'answer' in request ? 'resume_conflict' : 'thread_busy' })
    }
    expect((await running.outcome).status).toBe('interrupted')
    const open2 = await story.open()
    await story.answer({ [asks(open2, '1').id]: 'a', [asks(open2, '2').id]: 'b' })
    expect((await story.snapshot()).state).toEqual({ xs: ['1:a', '2:b', '3'] })
    expect(calls).toEqual({ p1: 2, p2: 2, p3: 1, j: 1 })
  },
)

everyWay('a branch that fails after its answer keeps the other questions open', async (open) => {
  const calls = none()
  let broken = true
  const story = open(() => fan(calls, 0, () => broken))
  const asked = await story.start()
  const [one, two] = [asks(asked.open, '1'), asks(asked.open, '2')]
  expect(await failure(story.answer({ [one.id]: 'a' }))).toMatchObject({ message: 'broken' })
  expect((await story.open()).map(({ id }) => id)).toEqual([two.id])
  await story.refuses({ answers: { [one.id]: 'again' } }, 'nothing_to_resume')

  broken = false
  const mended = await story.goOn()
  expect(mended).toMatchObject({ status: 'interrupted', open: [{ id: two.id }] })
  expect(calls).toEqual({ p1: 3, p2: 1, p3: 1, j: 0 })
  const ended = await story.answerOne('b')
  expect(ended.state).toEqual({ xs: ['1:a', '2:b', '3'] })
  expect(story.events('interrupt')).toHaveLength(2)
})

everyWay('an answer to one branch heals another that had failed', async (open) => {
  const calls = none()
  let broken = true
  const story = open(() => fan(calls, 0, () => broken))
  const asked = await story.start()
  const [one, two] = [asks(asked.open, '1'), asks(asked.open, '2')]
  await failure(story.answer({ [one.id]: 'a' }))
  broken = false
  const ended = await story.answer({ [two.id]: 'b' })
  expect(ended).toMatchObject({ status: 'success', state: { xs: ['1:a', '2:b', '3'] } })
  expect(calls).toEqual({ p1: 3, p2: 2, p3: 1, j: 1 })
})

everyWay('with room for one task at a time every branch still asks', async (open) => {
  const calls = none()
  const story = open(() => fan(calls, 5), { concurrency: 1 })
  const asked = await story.start()
  expect(asked.open.map(({ payload }) => payload)).toEqual(['1', '2'])
  expect(calls).toEqual({ p1: 1, p2: 1, p3: 1, j: 0 })
  const answers = asked.open.map(({ id, payload }) => [id, payload])
  const ended = await story.answer(Object.fromEntries(answers))
  expect(ended.state).toEqual({ xs: ['1:1', '2:2', '3'] })
})

describe('tasks of an each, answered in any order', () => {
  everyWay('end as a run that nobody disturbed', async (open) => {
    const undisturbed = await open(() => tasks(() => after(0), false)).start()
    expect(undisturbed.status).toBe('success')
    for (const seed of SEEDS) {
      const random = mulberry32(seed)
      const entered = new Map<string, number>()
      const store = seed % 5 > 0 ? memory() : unevenStore(memory(), random, 1)
      const story = open(() => tasks(times(random, 2), true, entered), {
        store,
        thread: `t${seed}`,
      })
      let now = await story.start()
      expect(now.open).toHaveLength(5)
      for (const { id, payload } of shuffled(random, now.open)) {
        expect(now.status).toBe('interrupted')
        now = await story.answer({ [id]: `answer ${payload}` })
        // Of the first question, or of the second that the same task then asks.
        const more = now.open.find((one) => one.payload === `more ${payload}`)
        if (more && random() < 0.5) now = await story.answer({ [more.id]: `more ${payload}` })
      }
      for (const { id, payload } of shuffled(random, now.open))
        now = await story.answer({ [id]: payload })
      expect(now.status).toBe('success')
      expect(now.state, `seed ${seed}`).toEqual(undisturbed.state)
      expect(story.events('interrupt')).toHaveLength(8)
      expect([...entered.values()]).toEqual([2, 3, 2, 3, 3])
    }
  })
})

function fan(calls: Calls, ms = 0, broken = (): boolean => false): Graph {
  const ask = (name: 'p1' | 'p2', words: string) => async (_: unknown, ctx: Context) => {
    calls[name]++
    const answer = await ctx.interrupt(words)
    if (broken()) throw new Error('broken')
    return { xs: [`${words}:${answer}`] }
  }
  return graph({
    name: 'fan',
    state: { xs: reduced(field<string[]>([]), append) },
    nodes: {
      p1: ask('p1', '1'),
      p2: ask('p2', '2'),
      async p3() {
        calls.p3++
        if (ms > 0) await after(ms)
        return { xs: ['3'] }
      },
      j: { run: () => void calls.j++, after: ['p1', 'p2', 'p3'] },
    },
    edges: { start: ['p1', 'p2', 'p3'], p1: 'j', p2: 'j', p3: 'j', j: 'end' },
  })
}

/** Five tasks; three of them ask twice. Without questions they say themselves what they would be told. */
function tasks(
  pace: () => Promise<void>,
  asking: boolean,
  entered = new Map<string, number>(),
): Graph {
  return graph({
    name: 'tasks',
    state: { got: reduced(field<unknown[]>([]), append), count: field<number>(0) },
    nodes: {
      ask: {
        item: field<number>(),
        async run(_, ctx) {
          const say = (words: string, answer: string): unknown =>
            asking ? ctx.interrupt(words) : answer
          entered.set(ctx.task, (entered.get(ctx.task) ?? 0) + 1)
          await pace()
          const got = [await say(`${ctx.item}`, `answer ${ctx.item}`)]
          await pace()
          if (ctx.item % 2 > 0 || ctx.item === 4)
            got.push(await say(`more ${ctx.item}`, `more ${ctx.item}`))
          return { got: [got] }
        },
      },
      count: ({ got }) => ({ count: got.length }),
    },
    edges: { start: () => each('ask', [0, 1, 2, 3, 4]), ask: 'count', count: 'end' },
  })
}
