import {
  agent,
  compile,
  field,
  graph,
  memory,
  messages as list,
  reduced,
  sum,
  ThreadRunner,
  tool,
  type AgentEvent,
  type CompileOptions,
  type CompiledGraph,
  type Message,
  type Model,
  type ThreadRunnerOptions,
  type UserMessage,
} from 'heddle'
import { countingIds, scriptedModel, type ScriptedModel } from 'heddle/testing'
import { expect, it } from 'vitest'
import { all, failure, rowsOf } from '../behaviours/harness.ts'
import { pause } from '../behaviours/portable.ts'
import { Watcher } from '../engine/watch-parts.ts'
import { silent } from '../fakes/silent.ts'

const png = { mediaType: 'image/png', data: new Uint8Array([1, 2, 3]) }

it('makes its thread when it is first run, with the ids of its app, and goes on with it', async () => {
  const store = memory()
  const { app } = answering({ store, newId: countingIds() })
  const runner = new ThreadRunner({ app })
  expect(await rowsOf(store)).toEqual([])
  const first = await runner.run('  Hello\n')
  expect(first.thread).toBe(runner.thread)
  expect(runner.thread).toMatch(/^thr_1$/)
  const second = await runner.run('And now?')
  expect(second.thread).toBe(first.thread)
  expect(saidBy(second.state.messages)).toEqual([
    'user: Hello',
    'assistant: 1',
    'user: And now?',
    'assistant: 2',
  ])
  expect(
    (await all(app.runs(runner.thread))).map(({ status, root, id }) => [status, root === id]),
  ).toEqual([
    ['success', true],
    ['success', true],
  ])
})

it('keeps the thread that it is given, whoever made it', async () => {
  const { app } = answering()
  await app.run({ thread: 'mine', input: { messages: [{ role: 'user', text: 'Hi' }] } })
  const runner = new ThreadRunner({ app, thread: 'mine' })
  expect(runner.thread).toBe('mine')
  expect(saidBy((await runner.run('Again')).state.messages)).toHaveLength(4)
})

it('says one text, with the images behind it in their order', async () => {
  const { app, model } = answering()
  const url = { mediaType: 'image/jpeg', data: 'https://example.com/cat.jpg' }
  const bytes = Uint8Array.from(png.data)
  const sent = new ThreadRunner({ app }).run('What is this? ', {
    images: [url, { ...png, data: bytes }],
  })
  bytes[0] = 9
  const { state } = await sent
  const [asked] = state.messages as UserMessage[]
  expect(asked).toMatchObject({ role: 'user', text: 'What is this?', files: [url, png] })
  expect(model.requests[0]?.messages[0]).toMatchObject({ files: [url, png] })
})

it.each(['run', 'continueTurn'] as const)(
  'asks to describe images that come without a text: %s',
  async (how) => {
    const { app } = answering()
    const runner = new ThreadRunner({ app, thread: 't1' })
    await runner.run('Hello')
    const { state } = await runner[how](' \n', { images: [png] })
    expect(saidBy(state.messages)[2]).toBe('user: Describe what you see.')
  },
)

it.each<[string, unknown, unknown]>([
  ['an empty text', '', {}],
  ['blanks', ' \n\t', { images: [] }],
  ['no text', undefined, {}],
  ['a text that is none', 7, {}],
  ['images that are no list', 'Look', { images: png }],
  ['an image that is none', 'Look', { images: [null] }],
  ['a media type that is none', 'Look', { images: [{ ...png, mediaType: 'png' }] }],
  ['what is no image', 'Look', { images: [{ ...png, mediaType: 'application/pdf' }] }],
  ['no media type', 'Look', { images: [{ data: png.data }] }],
  ['an image without bytes', 'Look', { images: [{ ...png, data: new Uint8Array() }] }],
  ['bytes as text', 'Look', { images: [{ ...png, data: 'iVBORw0KGgo=' }] }],
  ['no data', 'Look', { images: [{ mediaType: 'image/png' }] }],
  ['other bytes', 'Look', { images: [{ ...png, data: new ArrayBuffer(3) }] }],
  ['a misspelt member of an image', 'Look', { images: [{ ...png, type: 'png' }] }],
  ['a misspelt option', 'Look', { image: [png] }],
])('refuses %s before anything is stored', async (_, text, options) => {
  const store = memory()
  const { app, model } = answering({ store })
  const runner = new ThreadRunner({ app })
  for (const how of ['run', 'continueTurn'] as const) {
    const error = await failure(runner[how](text as string, options as object))
    expect(error).toBeInstanceOf(TypeError)
    expect(error.message).toMatch(/^Cannot run/)
  }
  expect(await rowsOf(store)).toEqual([])
  expect(model.requests).toEqual([])
})

it.each<[string, object, string]>([
  [
    'no image',
    { mediaType: 'text/plain' },
    'mediaType is not the media type of an image, such as "image/png"',
  ],
  [
    'a URL object',
    { data: new URL('https://a.test/b.png') },
    'data is not bytes, or a URL as text (https: or data:)',
  ],
  [
    'bare base64',
    { data: 'iVBORw0KGgo=' },
    'data is not bytes, or a URL as text (https: or data:)',
  ],
])('says what an image is for %s', async (_, wrong, what) => {
  const runner = new ThreadRunner({ app: answering().app })
  const error = await failure(runner.run('Look', { images: [png, { ...png, ...wrong }] }))
  expect(error.message).toBe(`Cannot run with image 2: ${what}`)
})

it('talks to a graph around agents that keeps messages', async () => {
  const helper = agent({ name: 'inner', model: scriptedModel(() => ({ text: 'Hi' })) })
  const desk = graph({
    name: 'desk',
    state: { messages: list(), turns: reduced(field(0), sum) },
    events: field<AgentEvent>(),
    nodes: {
      answer: async (state, ctx) => {
        const said = await ctx.child(helper, { messages: state.messages })
        return { messages: said.messages, turns: 1 }
      },
    },
    edges: { start: 'answer', answer: 'end' },
  })
  const runner = new ThreadRunner({ app: compile(desk), user: 'ann' })
  await runner.run('Hello')
  const { state } = await runner.continueTurn('More')
  expect([saidBy(state.messages), state.turns]).toEqual([
    ['user: Hello', 'assistant: Hi', 'user: More', 'assistant: Hi'],
    2,
  ])
})

it('continues a thread that exists, and no other', async () => {
  const store = memory()
  const { app } = answering({ store })
  for (const runner of [new ThreadRunner({ app }), new ThreadRunner({ app, thread: 'none' })])
    expect(await failure(runner.continueTurn('Hello'))).toMatchObject({ code: 'nothing_to_resume' })
  expect(await rowsOf(store)).toEqual([])
  const runner = new ThreadRunner({ app })
  await runner.run('Hello')
  const { status, state } = await runner.continueTurn(' More ')
  expect([status, saidBy(state.messages)[2]]).toEqual(['success', 'user: More'])
})

it('answers a question by its record or its id, and takes its thread if it has none', async () => {
  const { app, ran } = approving()
  const runner = new ThreadRunner({ app, user: 'ann' })
  const asked = await runner.run('Delete it')
  if (asked.status !== 'interrupted') throw new Error(asked.status)
  const [question] = asked.interruptions
  if (!question) throw new Error('nothing was asked')
  expect(question).toMatchObject({ agent: 'helper', user: 'ann', status: 'open' })
  expect(await app.interruptions()).toEqual([question])
  const other = new ThreadRunner({ app, thread: 'other' })
  expect(await failure(other.resume(question, { approve: true }))).toMatchObject({
    code: 'nothing_to_resume',
  })
  expect(await failure(runner.resume(question.id, { yes: 1 }))).toMatchObject({
    code: 'schema_error',
  })
  expect(await failure(runner.run('Well?'))).toMatchObject({ code: 'approval_pending' })
  expect(ran).toEqual([])
  const bob = new ThreadRunner({ app, user: 'bob' })
  const ended = await bob.resume(question, { approve: true })
  expect([ended.status, bob.thread, ran]).toEqual(['success', runner.thread, ['x']])
  expect(await failure(runner.resume(question, { approve: false }))).toMatchObject({
    code: 'nothing_to_resume',
  })
  expect(await app.interruptions({ status: 'answered' })).toMatchObject([
    { id: question.id, agent: 'helper', user: 'ann', answeredBy: 'bob', answer: { approve: true } },
  ])
  const users = (await all(app.runs(runner.thread))).map(({ user }) => user)
  expect(users).toEqual(['bob', 'ann'])
})

it.each([undefined, null, '', 7, {}])('refuses %o as what is answered', async (wrong) => {
  const { app } = approving()
  const runner = new ThreadRunner({ app })
  await runner.run('Delete it')
  const error = await failure(runner.resume(wrong as string, { approve: true }))
  expect([error.name, error.message]).toEqual([
    'TypeError',
    'Cannot resume: interruption is not an interruption, or the id of one',
  ])
})

it('has a model, watchers and a user for its own runs only', async () => {
  const own = scriptedModel(() => ({ text: 'own' }), { model: 'own' })
  const { app, model } = answering()
  const seen = new Watcher()
  const runner = new ThreadRunner({ app, model: own, user: 'ann', ...seen.both })
  const first = await runner.run('Hello')
  await app.run({
    thread: runner.thread,
    input: { messages: [{ role: 'user', text: 'And you?' }] },
  })
  expect([own.requests.length, model.requests.length]).toEqual([1, 1])
  const [second, mine] = await all(app.runs(runner.thread))
  expect(mine).toMatchObject({
    user: 'ann',
    metadata: { llm: { provider: 'scripted', model: 'own' } },
  })
  expect(second?.metadata).toEqual({ llm: { provider: 'scripted', model: 'script' } })
  expect(second).not.toHaveProperty('user')
  expect(new Set(seen.told.map(({ run }) => run))).toEqual(new Set([first.run]))
  expect(seen.order.at(-1)).toBe('idle')
})

it('makes its agent deep, for its own runs only', async () => {
  const { app, model } = answering()
  const deep = new ThreadRunner({ app, deep: true })
  await deep.run('Plan it')
  await new ThreadRunner({ app, thread: deep.thread }).run('And now?')
  const [first, second] = model.requests.map(({ tools = [] }) => tools.length)
  expect(first).toBeGreaterThan(0)
  expect(second).toBe(0)
})

it('is what an agent without a model needs', async () => {
  const store = memory()
  const none = agent({ name: 'helper', model: undefined as never })
  const app = compile(none, { store })
  expect(await failure(new ThreadRunner({ app }).run('Hello'))).toMatchObject({
    code: 'no_model',
    details: { agent: 'helper' },
  })
  expect(await rowsOf(store)).toEqual([])
  const { model } = answering()
  expect((await new ThreadRunner({ app, model }).run('Hello')).status).toBe('success')
})

it('gives what a run comes to as a value, and throws what failed once it is recorded', async () => {
  const broken = new Error('no paper')
  const { app } = answering({}, () => {
    throw broken
  })
  const runner = new ThreadRunner({ app })
  const error = await failure(runner.run('Hello'))
  const [run] = await all(app.runs(runner.thread))
  expect(run).toMatchObject({ status: 'error', error: { message: error.message } })
  expect(await app.state(runner.thread)).toMatchObject({ status: 'error' })
})

it('is cancelled by its signal, and refused while another run has the thread', async () => {
  const caller = new AbortController()
  const { app } = answering({}, () => new Promise(() => {}))
  const runner = new ThreadRunner({ app })
  const ended = failure(runner.run('Hello', { signal: caller.signal }))
  while ((await app.state(runner.thread))?.status !== 'running') await pause(1)
  expect(await failure(runner.run('Hello?'))).toMatchObject({ code: 'thread_busy' })
  expect(await failure(runner.continueTurn('Hello?'))).toMatchObject({ code: 'thread_busy' })
  caller.abort('enough')
  expect(await ended).toBe('enough')
  expect(await app.state(runner.thread)).toMatchObject({ status: 'cancelled' })
})

it('serves a tenant', async () => {
  const { app } = answering({ newId: countingIds() })
  const [a, b] = ['a', 'b'].map(
    (id) => new ThreadRunner({ app: app.tenant(id), thread: 'same' }),
  ) as [ThreadRunner, ThreadRunner]
  await a.run('Hello')
  expect(await failure(b.continueTurn('Hello'))).toMatchObject({ code: 'nothing_to_resume' })
  expect((await b.run('Hello')).state.messages).toHaveLength(2)
  expect(await app.state('same')).toBeUndefined()
  expect(new ThreadRunner({ app: app.tenant('a') }).thread).toMatch(/^thr_\d+$/)
})

it('runs where its app is elsewhere, without what is for this process', async () => {
  const { app } = answering()
  const { run, state } = app
  const elsewhere = { run, state } as unknown as CompiledGraph
  const runner = new ThreadRunner({ app: elsewhere, user: 'ann' })
  expect((await runner.run('Hello')).thread).toMatch(/^thr_.{21}$/)
  const { model } = answering()
  expect(() => new ThreadRunner({ app: elsewhere, model })).toThrow(
    new TypeError(
      'Cannot make a ThreadRunner: model is for an app in this process, and its own is not',
    ),
  )
})

it.each<[string, object]>([
  ['no app', {}],
  ['an app that is none', { app: { run() {} } }],
  ['a thread that is no text', { thread: 7 }],
  ['a user that is no text', { user: {} }],
  ['a model that is none', { model: { stream() {} } }],
  ['a monitor that is none', { monitor: {} }],
  ['a presence that is none', { presence: {} }],
  ['a deep that is neither true nor false', { deep: 1 }],
  ['a misspelt option', { presense: undefined, treads: 1 }],
])('refuses %s', (what, wrong) => {
  const { app } = answering()
  const options = what === 'no app' ? wrong : { app, ...wrong }
  expect(() => new ThreadRunner(options as ThreadRunnerOptions)).toThrow(TypeError)
})

it('refuses to be made of nothing', () => {
  expect(() => new ThreadRunner(undefined as never)).toThrow(TypeError)
})

/** An agent that counts its answers. */
function answering(
  options: CompileOptions = {},
  wait: () => unknown = () => {},
): { app: CompiledGraph; model: ScriptedModel } {
  let said = 0
  const scripted = scriptedModel(() => ({ text: `${++said}` }))
  const model: ScriptedModel = {
    ...scripted,
    async *stream(...request: Parameters<Model['stream']>) {
      await stopped(wait(), request[1].signal)
      yield* scripted.stream(...request)
    },
  }
  const app = compile(agent({ name: 'helper', model }), { logger: silent, ...options })
  return { app: app as CompiledGraph, model }
}

const stopped = (work: unknown, signal: AbortSignal): Promise<unknown> =>
  Promise.race([
    work,
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  ])

/** An agent whose one tool needs an approval. */
function approving(): { app: CompiledGraph; ran: unknown[] } {
  const ran: unknown[] = []
  const remove = tool({
    name: 'remove',
    description: 'Removes a file.',
    input: field<{ file: string }>(),
    parameters: { type: 'object' },
    approve: true,
    run: ({ file }) => void ran.push(file),
  })
  const model = scriptedModel([
    { calls: [{ tool: 'remove', args: { file: 'x' } }] },
    { text: 'Gone.' },
  ])
  return { ran, app: compile(agent({ name: 'helper', model, tools: [remove] })) as CompiledGraph }
}

const saidBy = (messages: readonly Message[]): string[] =>
  messages.map(({ role, text }) => `${role}: ${text}`)
