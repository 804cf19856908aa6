// A2 and B01: a node that asks something else than is recorded gets `ReplayMismatch`, never somebody else's answer.
import { expect } from 'vitest'
import * as z from 'zod'
import { field, graph, question, type Context, type Graph } from 'heddle'
import { after, everyWay, failure, keepBooks } from './harness.ts'

keepBooks()

type Ask = (ctx: Context, words: unknown) => Promise<unknown>

const declared = question({ key: 'declared', answer: z.unknown() })
const UNNAMED: Readonly<Record<string, Ask>> = {
  'without a key': (ctx, words) => ctx.interrupt(words),
  'of a declared question': (ctx, words) => ctx.interrupt(words, declared),
}

for (const [name, ask] of Object.entries(UNNAMED)) {
  everyWay(`an answer to another question ${name} is not handed over`, async (open) => {
    let words: unknown = { delete: 'a' }
    const story = open(() => node((ctx) => ask(ctx, words)))
    await story.start()
    words = { delete: 'b' }
    expect(await failure(story.answerOne('yes'))).toMatchObject({
      code: 'replay_mismatch',
      details: { node: 'node', position: 0 },
    })
    expect((await story.snapshot()).status).toBe('error')

    // The answer isn't lost: it is there when the node asks what it asked.
    words = { delete: 'a' }
    expect(await story.goOn()).toMatchObject({ status: 'success', state: { got: 'yes' } })
  })

  everyWay(`values that are alike are the same question ${name}`, async (open) => {
    const asked = [
      { b: [undefined, -0, NaN], a: new Date(0) },
      { a: new Date(0), b: [undefined, -0, NaN] },
    ]
    let pass = 0
    const story = open(() => node((ctx) => ask(ctx, asked[pass++])))
    await story.start()
    expect((await story.answerOne('yes')).state).toEqual({ got: 'yes' })
  })

  everyWay(`values that only look alike are not ${name}`, async (open) => {
    const pairs = [
      [0, -0],
      [1, '1'],
      [null, undefined],
      [new Date(0), '1970-01-01T00:00:00.000Z'],
      [[], {}],
    ]
    const codes = pairs.map(async ([before, now]) => {
      let words: unknown = before
      const story = open(() => node((ctx) => ask(ctx, words)))
      await story.start()
      words = now
      return await failure(story.answerOne('yes'))
    })
    for (const error of await Promise.all(codes))
      expect(error).toMatchObject({ code: 'replay_mismatch' })
  })
}

everyWay('a key binds an answer whatever is asked with it', async (open) => {
  let words = 'delete a?'
  const story = open(() => node((ctx) => ctx.interrupt(words, { key: 'delete' })))
  await story.start()
  words = 'really delete a?'
  expect((await story.answerOne('yes')).state).toEqual({ got: 'yes' })
})

everyWay('another key is another question', async (open) => {
  let key = 'a'
  const story = open(() => node((ctx) => ctx.interrupt('?', { key })))
  const [a] = (await story.start()).open
  key = 'b'
  const other = await story.answerOne('of a')
  expect(other).toMatchObject({ status: 'interrupted', open: [{ key: 'b' }] })
  expect(other.open[0]?.id).not.toBe(a?.id)
  expect((await story.answerOne('of b')).state).toEqual({ got: 'of b' })
})

everyWay('keys that look like parts of others keep their answers', async (open) => {
  const keys = [
    '',
    ':',
    '0',
    '1:0',
    'a',
    'a:',
    'a:0',
    '__proto__',
    'constructor',
    'é',
    '😀',
    '\ud83d',
  ]
  const story = open(() =>
    node((ctx) => Promise.all(keys.map((key) => ctx.interrupt(key, { key })))),
  )
  const asked = await story.start()
  expect(asked.open).toHaveLength(keys.length)
  const answers = asked.open.map(({ id, payload }) => [id, `for ${JSON.stringify(payload)}`])
  const ended = await story.answer(Object.fromEntries(answers.toReversed()))
  expect(ended.state['got']).toEqual(keys.map((key) => `for ${JSON.stringify(key)}`))
})

everyWay('the same key used twice is two questions, in order', async (open) => {
  const story = open(() =>
    node(async (ctx) => [
      await ctx.interrupt('one', { key: 'k' }),
      await ctx.interrupt('two', { key: 'k' }),
    ]),
  )
  await story.start()
  await story.answerOne(1)
  expect((await story.answerOne(2)).state).toEqual({ got: [1, 2] })
})

everyWay('a key and a position don’t take each other’s answers', async (open) => {
  const ask: ((ctx: Context) => Promise<unknown>)[] = [
    (ctx) => ctx.interrupt('x'),
    (ctx) => ctx.interrupt('x', { key: 'x' }),
    (ctx) => ctx.interrupt('x', question({ key: 'x', answer: z.unknown() })),
    (ctx) => ctx.wait(new Date(ctx.now() + 3_600_000), 'x', { key: 'x' }),
  ]
  const story = open(() => node((ctx) => Promise.all(ask.map((one) => one(ctx)))))
  const asked = await story.start()
  expect(asked.open).toHaveLength(3)
  const ids = [...asked.open, ...asked.timers].map(({ id }) => id)
  for (const [n, id] of ids.entries()) await story.answer({ [id]: n })
  expect((await story.snapshot()).state).toEqual({ got: [0, 1, 2, 3] })
})

everyWay(
  'an attempt that fails while a question is held back leaves the next one free',
  async (open) => {
    let entered = 0
    const story = open(() =>
      node(
        async (ctx) => {
          entered++
          // The second attempt asks something new beside an answer that isn't called for, and fails meanwhile.
          if (entered === 2) return Promise.all([ctx.interrupt('new'), fail()])
          return [await ctx.interrupt('first'), await ctx.interrupt('second')]
        },
        { retry: { attempts: 2, delay: 1 } },
      ),
    )
    await story.start()
    const asked = await story.answerOne(1)
    expect(asked).toMatchObject({ status: 'interrupted', open: [{ payload: 'second' }] })
    expect((await story.answerOne(2)).state).toEqual({ got: [1, 2] })
    expect(entered).toBe(4)
  },
)

everyWay(
  'a question that is not asked any more is cancelled, and its late answer refused',
  async (open) => {
    let both = true
    const story = open(() =>
      node((ctx) =>
        Promise.race([ctx.interrupt('a'), both ? ctx.interrupt('b') : new Promise(() => {})]),
      ),
    )
    const asked = await story.start()
    const [a, b] = asked.open.map(({ id }) => id)
    both = false
    const ended = await story.answer({ [a as string]: 1 })
    expect(ended).toMatchObject({ status: 'success', state: { got: 1 } })
    await story.refuses({ answers: { [b as string]: 2 } }, 'nothing_to_resume')
    const cancelled = await story.app.interruptions({ thread: 't1', status: 'cancelled' })
    expect(cancelled.map(({ id }) => id)).toEqual([b])
    expect(await story.app.interruptions()).toEqual([])
  },
)

async function fail(): Promise<never> {
  await after(5)
  throw new Error('passing')
}

function node(run: (ctx: Context) => Promise<unknown>, settings: object = {}): Graph {
  return graph({
    name: 'node',
    state: { got: field<unknown>(undefined) },
    nodes: { node: { ...settings, run: async (_, ctx) => ({ got: await run(ctx) }) } },
    edges: { start: 'node', node: 'end' },
  })
}
