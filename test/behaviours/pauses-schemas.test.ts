// A5 and B05: what an answer must look like, told by the graph or only by the node; and questions that expire.
import { expect } from 'vitest'
import * as z from 'zod'
import { append, field, graph, question, reduced, type Context, type Graph } from 'heddle'
import { manualClock } from 'heddle/testing'
import { asks, everyWay, failure, keepBooks } from './harness.ts'

keepBooks()

const yesNo = z.object({ ok: z.boolean() })
const refund = question({ key: 'refund', payload: z.object({ amount: z.number() }), answer: yesNo })

everyWay('a bad answer to a question that the graph lists is refused at once', async (open) => {
  let calls = 0
  const story = open(() =>
    node(
      async (ctx) => {
        calls++
        return ctx.interrupt({ amount: 12 }, refund)
      },
      { questions: [refund] },
    ),
  )
  const [asked] = (await story.start()).open
  const id = asked?.id as string
  expect(asked).toMatchObject({
    key: 'refund',
    payload: { amount: 12 },
    schema: { type: 'object' },
  })
  expect(refund.is(asked as never)).toBe(true)
  for (const bad of [{}, { ok: 'yes' }, null, undefined, true]) {
    const error = await story.refuses({ answer: bad }, 'schema_error')
    expect(error).toMatchObject({ details: { graph: 'node', interruption: id } })
    await story.refuses({ answers: { [id]: bad } }, 'schema_error')
  }
  expect(calls).toBe(1)
  const ended = await story.answer(refund.reply(asked as never, { ok: false }))
  expect(ended.state).toEqual({ got: { ok: false } })
  expect(calls).toBe(2)
})

everyWay('a bad answer that only the node can tell is refused when it is read', async (open) => {
  let calls = 0
  const story = open(() =>
    node(async (ctx) => {
      calls++
      return ctx.interrupt('ok?', { schema: yesNo })
    }),
  )
  const [asked] = (await story.start()).open
  for (const bad of [{}, 'yes', undefined]) {
    expect(await failure(story.answerOne(bad))).toMatchObject({
      code: 'schema_error',
      details: { graph: 'node', node: 'node', interruption: asked?.id },
    })
    expect(await story.open()).toEqual([asked])
    expect((await story.snapshot()).status).toBe('interrupted')
    expect(await story.app.interruptions()).toEqual([asked])
    await story.refuses({}, 'nothing_to_resume')
  }
  expect((await story.answerOne({ ok: true })).state).toEqual({ got: { ok: true } })
  expect(calls).toBe(5)
  expect(story.events('interrupt')).toHaveLength(1)
})

everyWay('of two answers the bad one is asked again, the good one counts', async (open) => {
  const bad = { p: 0, q: 0 }
  const story = open(() => two(bad))
  const asked = await story.start()
  const [p, q] = [asks(asked.open, 'p'), asks(asked.open, 'q')]
  const answers = { [p.id]: { ok: true }, [q.id]: 'bad' }
  expect(await failure(story.answer(answers))).toMatchObject({ details: { interruption: q.id } })
  expect(await story.open()).toEqual([q])
  const ended = await story.answerOne({ ok: false })
  expect(ended.state).toEqual({ got: ['p true', 'q false'] })
})

everyWay('no bad answer is kept, however many came at once', async (open) => {
  const story = open(() => two({ p: 0, q: 5 }), { concurrency: 1 })
  const asked = await story.start()
  const [p, q] = [asks(asked.open, 'p'), asks(asked.open, 'q')]
  expect(await failure(story.answer({ [p.id]: 'bad', [q.id]: 'bad too' }))).toMatchObject({
    details: { interruption: p.id },
  })
  // The second was not read yet. Sooner or later it is found out, and both are answered well.
  for (let tries = 0; tries < 4 && (await story.snapshot()).status !== 'success'; tries++) {
    const [left] = await story.open()
    await failure(left ? story.answer({ [left.id]: { ok: true } }) : story.goOn()).catch(() => {})
  }
  expect((await story.snapshot()).state).toEqual({ got: ['p true', 'q true'] })
})

everyWay('a question whose answer a newer graph refuses is open again', async (open) => {
  let strict = false
  let broken = true
  const story = open(() =>
    node(async (ctx) => {
      const schema = strict ? yesNo : z.unknown()
      const got = await ctx.interrupt('ok?', { schema })
      if (broken) throw new Error('broken')
      return got
    }),
  )
  const [asked] = (await story.start()).open
  expect(await failure(story.answerOne('loosely'))).toMatchObject({ message: 'broken' })
  expect(await story.open()).toEqual([])
  strict = true
  broken = false
  expect(await failure(story.goOn())).toMatchObject({ code: 'schema_error' })
  expect(await story.open()).toEqual([asked])
  expect((await story.answerOne({ ok: true })).state).toEqual({ got: { ok: true } })
})

everyWay('a schema may change an answer; what is recorded is what was given', async (open) => {
  const schema = z.string().transform((text) => Number(text))
  const late = {
    '~standard': {
      ...schema['~standard'],
      validate: async (value: unknown) => schema['~standard'].validate(value),
    },
  } as typeof schema
  for (const one of [schema, late]) {
    const story = open(() => node((ctx) => ctx.interrupt('how many?', { schema: one })))
    await story.start()
    expect((await story.answerOne('12')).state).toEqual({ got: 12 })
    const [record] = await story.app.interruptions({ thread: 't1', status: 'answered' })
    expect(record?.answer).toBe('12')
  }
})

everyWay('a key given at the call doesn’t make a question the listed one', async (open) => {
  const story = open(() =>
    node((ctx) => ctx.interrupt('free', { key: 'refund' }), { questions: [refund] }),
  )
  await story.start()
  expect((await story.answerOne('anything')).state).toEqual({ got: 'anything' })
})

everyWay('a question with a payload that doesn’t fit is an error of the node', async (open) => {
  const story = open(() =>
    node(async (ctx) => {
      const wrong = ctx.interrupt({ amount: 'much' } as never, refund)
      return wrong.catch((error: { code: string }) => error.code)
    }),
  )
  expect((await story.start()).state).toEqual({ got: 'schema_error' })
})

everyWay('a question that expires ends in a TimeoutError that the node can catch', async (open) => {
  const clock = manualClock()
  const story = open(
    () =>
      node(async (ctx) => {
        const asked = ctx.interrupt('ok?', { schema: z.boolean(), expires: 60_000 })
        return asked.catch((error: Error) => error.name)
      }),
    { clock },
  )
  const [asked] = (await story.start()).open
  expect(asked).toMatchObject({ status: 'open', expiresAt: '2026-03-01T08:01:00.000Z' })
  await clock.advance(59_999)
  await story.refuses({}, 'nothing_to_resume')
  expect(await story.app.tick()).toMatchObject({ woken: [], next: new Date(clock.now() + 1) })
  await clock.advance(1)
  for (const request of [{ answer: true }, { answers: { [asked?.id as string]: true } }])
    expect(await story.refuses(request, codeOf(request))).toBeDefined()
  expect(await story.app.tick()).toMatchObject({ woken: ['t1'] })
  expect((await story.snapshot()).state).toEqual({ got: 'TimeoutError' })
  const records = await story.app.interruptions({ thread: 't1', status: 'expired' })
  expect(records.map(({ id }) => id)).toEqual([asked?.id])
})

everyWay(
  'a question that expires does so too when a bad answer has opened it again',
  async (open) => {
    const clock = manualClock()
    const story = open(
      () =>
        node((ctx) =>
          ctx.interrupt('ok?', { schema: z.boolean(), expires: 60_000 }).catch(({ name }) => name),
        ),
      { clock },
    )
    await story.start()
    expect(await failure(story.answerOne('bad'))).toMatchObject({ code: 'schema_error' })
    await clock.advance(60_000)
    expect(await story.app.tick()).toMatchObject({ woken: ['t1'] })
    expect((await story.snapshot()).state).toEqual({ got: 'TimeoutError' })
  },
)

everyWay('an expired question doesn’t stand in the way of a bare answer', async (open) => {
  const clock = manualClock()
  const story = open(
    () =>
      node(async (ctx) =>
        Promise.all([
          ctx.interrupt('soon?', { schema: z.boolean(), expires: 1_000 }).catch(({ name }) => name),
          ctx.interrupt('ever?'),
        ]),
      ),
    { clock },
  )
  await story.start()
  await clock.advance(1_000)
  const ended = await story.answerOne('yes')
  expect(ended.state).toEqual({ got: ['TimeoutError', 'yes'] })
  expect(await story.app.tick()).toEqual({ woken: [], recovered: [] })
})

function codeOf(request: object): string {
  return 'answer' in request ? 'nothing_to_resume' : 'unknown_interruption'
}

function node(run: (ctx: Context) => Promise<unknown>, more: object = {}): Graph {
  return graph({
    ...more,
    name: 'node',
    state: { got: field<unknown>(undefined) },
    nodes: { node: async (_, ctx) => ({ got: await run(ctx) }) },
    edges: { start: 'node', node: 'end' },
  })
}

/** Two nodes that ask side by side, the second maybe later. */
function two(ms: { p: number; q: number }): Graph {
  const ask = (name: 'p' | 'q') => async (_: unknown, ctx: Context) => {
    for (let turn = 0; turn < ms[name]; turn++) await undefined
    const { ok } = await ctx.interrupt(name, { schema: yesNo })
    return { got: [`${name} ${ok}`] }
  }
  return graph({
    name: 'two',
    state: { got: reduced(field<string[]>([]), append) },
    nodes: { p: ask('p'), q: ask('q') },
    edges: { start: ['p', 'q'], p: 'end', q: 'end' },
  })
}
