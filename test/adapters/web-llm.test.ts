// `webLlm` with an engine that has the package's checks, but no GPU. What is asked of it is what the package takes.
import {
  agent,
  compile,
  graph,
  field,
  memory,
  type Clock,
  type Message,
  type ModelEvent,
  type ModelRequest,
} from 'heddle'
import { webLlm } from 'heddle/web-llm'
import { manualClock } from 'heddle/testing'
import { expect, it } from 'vitest'
import { all } from '../behaviours/portable.ts'
import { fakeEngine, type FakeEngine } from '../fakes/web-llm-engine.ts'
import { silent } from '../fakes/silent.ts'
import { does } from './otel.tools.ts'

const at = { id: 'm', createdAt: '2026-11-30T04:00:00.000Z' }
const user = (text: string): Message => ({ ...at, role: 'user', text })
const model = 'Llama-3.2-1B'
const hello: ModelRequest = { messages: [user('Hello')] }

it('text comes token by token, then what was used', async () => {
  const engine = fakeEngine({ tokens: ['Good', ' day', ''] })
  expect(await ask(engine, hello)).toEqual([
    { kind: 'text', delta: 'Good' },
    { kind: 'text', delta: ' day' },
    { kind: 'finish', reason: 'stop', usage: { input: 7, output: 3, total: 10 } },
  ])
  const cut = fakeEngine({ tokens: ['Go'], finish: 'length' })
  expect((await ask(cut, hello)).at(-1)).toMatchObject({ kind: 'finish', reason: 'length' })
})

it('a request is what WebLLM takes: the system first, and once', async () => {
  const engine = fakeEngine({ tokens: ['Four'] })
  const messages: Message[] = [
    user('One'),
    { ...at, role: 'assistant', text: 'Two' },
    { ...at, role: 'system', text: 'Rhyme' },
    user('Three'),
  ]
  const more = { temperature: 0.5, maxTokens: 9, stop: ['x'], seed: 3, extra: { top_p: 0.9 } }
  await ask(engine, { instructions: 'Count', messages, ...more })
  expect(engine.asked[0]).toEqual({
    model,
    stream: true,
    stream_options: { include_usage: true },
    temperature: 0.5,
    max_tokens: 9,
    stop: ['x'],
    seed: 3,
    top_p: 0.9,
    messages: [
      { role: 'system', content: 'Count\n\nRhyme' },
      { role: 'user', content: 'One' },
      { role: 'assistant', content: 'Two' },
      { role: 'user', content: 'Three' },
    ],
  })
})

it('images are shown to models that see, and an error to others', async () => {
  const files = [
    { mediaType: 'image/png', data: new Uint8Array([137, 80]) },
    { mediaType: 'image/jpeg', data: 'https://example.org/a.jpg' },
  ]
  const messages: Message[] = [{ ...at, role: 'user', text: 'What?', files }]
  const seeing = fakeEngine({ tokens: ['A'], vision: true })
  await ask(seeing, { messages })
  expect(seeing.asked[0]!.messages[0]!.content).toEqual([
    { type: 'text', text: 'What?' },
    { type: 'image_url', image_url: { url: 'data:image/png;base64,iVA=' } },
    { type: 'image_url', image_url: { url: 'https://example.org/a.jpg' } },
  ])
  await expect(ask(fakeEngine({ tokens: [] }), { messages })).rejects.toMatchObject({
    code: 'model_error',
    details: { provider: 'web-llm', model },
  })
})

it('an agent with tools runs on any model: calls come by a schema, and so does the answer', async () => {
  const said = ['{"calls":[{"tool":"read","args":{"page":1}}]}', '{"answer":"It says hello"}']
  const engine = fakeEngine({
    tokens: ({ messages }) => said[messages.length > 2 ? 1 : 0]!.match(/.{1,7}/g)!,
  })
  const tools = [does('read', () => 'hello')]
  const app = compile(agent({ name: 'a', model: webLlm(engine, { model }), tools }), {
    store: memory(),
    logger: silent,
  })
  const { state } = await app.run({
    thread: 't',
    input: { messages: [{ role: 'user', text: 'Read' }] },
  })
  expect(state.messages.map(({ role, text }) => [role, text])).toEqual([
    ['user', 'Read'],
    ['assistant', ''],
    ['tool', 'hello'],
    ['assistant', 'It says hello'],
  ])
  expect(
    engine.asked.map(({ tools: none, response_format }) => [none, response_format?.type]),
  ).toEqual([
    [undefined, 'json_object'],
    [undefined, 'json_object'],
  ])
  const [system, , , results] = engine.asked[1]!.messages
  expect(system!.content).toContain(engine.asked[1]!.response_format!.schema)
  expect(results).toEqual({ role: 'user', content: 'Tool "read" gave: hello' })
})

it('an abort interrupts this generation, never that of somebody else, and leaves the engine free', async () => {
  const gate = gateOf()
  const engine = fakeEngine({
    tokens: ['One', ' two', ' three'],
    before: (n) => (n === 1 ? gate.promise : undefined),
  })
  const first = webLlm(engine, { model }).stream(hello, options())[Symbol.asyncIterator]()
  expect((await first.next()).value).toEqual({ kind: 'text', delta: 'One' })
  const rest = first.next()
  // The second one waits for the first, and is given up meanwhile.
  const stop = new AbortController()
  const reason = new Error('enough')
  const second = all(webLlm(engine, { model }).stream(hello, options(stop.signal)))
  stop.abort(reason)
  await expect(second).rejects.toBe(reason)
  expect(engine.interrupted).toBe(0)
  gate.resolve()
  expect((await rest).value).toEqual({ kind: 'text', delta: ' two' })
  await first.return?.()
  // Whoever comes next waits until both are gone.
  expect(await textOf(ask(engine, hello))).toBe('One two three')
  expect(engine.running).toBe(0)
})

it('a generation that somebody else interrupts has no finish', async () => {
  const engine: FakeEngine = fakeEngine({
    tokens: ['One', ' two'],
    before: (n) => (n === 1 ? engine.interruptGenerate() : undefined),
  })
  expect(await ask(engine, hello)).toEqual([{ kind: 'text', delta: 'One' }])
})

it('what a crash broke off goes on where it was, by the id of the request', async () => {
  const store = memory()
  const tokens = ['It', ' was', ' a', ' dark', ' night']
  const tale = (engine: FakeEngine, clock: Clock) =>
    compile(
      graph({
        name: 'tale',
        state: { text: field<string>('') },
        nodes: {
          async write(_, ctx) {
            const teller = webLlm(engine, { model, resumable: true })
            const { text } = await ctx.generate(teller, { messages: 'Tell' })
            return { text }
          },
        },
        edges: { start: 'write', write: 'end' },
      }),
      { store, clock, logger: silent, leaseMs: 1000 },
    )
  const reached = gateOf()
  const broken: FakeEngine = fakeEngine({
    tokens,
    before(n) {
      if (n < 3) return
      broken.crash()
      reached.resolve()
    },
  })
  void tale(broken, manualClock()).run({ thread: 't', input: {} })
  await reached.promise
  const [[call, kept] = []] = broken.sessions
  expect([call, kept?.tokens]).toEqual([expect.stringMatching(/^call_/), tokens.slice(0, 3)])

  const again = fakeEngine({ tokens, sessions: broken.sessions })
  // The page that died has no clock any more.
  const later = manualClock()
  await later.advance(600_000)
  const app = tale(again, later)
  const { recovered } = await app.tick()
  expect(recovered).toEqual(['t'])
  expect((await app.state('t'))?.state).toEqual({ text: tokens.join('') })
  expect([again.asked.length, again.sessions.size]).toEqual([0, 0])
})

it('what can not go on begins anew, and what WebLLM can not keep is not kept', async () => {
  const sessions = new Map([
    ['call_1', { request: {} as never, tokens: ['Old'], state: 'finished' as const }],
  ])
  const engine = fakeEngine({ tokens: ['New'], sessions })
  expect(await textOf(ask(engine, hello, true))).toBe('New')
  expect([engine.asked.length, engine.sessions.size]).toEqual([1, 0])
  const other = fakeEngine({ tokens: ['{}'], vision: true })
  await ask(other, { ...hello, output: { type: 'object' } }, true)
  const files = [{ mediaType: 'image/png', data: new Uint8Array() }]
  await ask(other, { messages: [{ ...at, role: 'user', text: 'What?', files }] }, true)
  expect(other.asked.map(({ extra_body }) => extra_body)).toEqual([undefined, undefined])
})

it('half a character at the break comes once', async () => {
  const sessions = new Map([
    ['call_1', { request: {} as never, tokens: ['Hi \uFFFD'], state: 'broken' as const }],
  ])
  const engine = fakeEngine({ tokens: ['', '🌍!'], sessions })
  expect(await textOf(ask(engine, hello, true))).toBe('Hi 🌍!')
})

it('a wrong option is refused at once', () => {
  const engine = fakeEngine({ tokens: [] })
  for (const options of [{}, { model: '' }, { model, resumable: 1 }, { model, more: 1 }])
    expect(() => webLlm(engine, options as never)).toThrow(TypeError)
  expect(() => webLlm({} as never, { model })).toThrow(TypeError)
})

const options = (signal = new AbortController().signal) => ({ signal, call: 'call_1' })

const ask = (engine: FakeEngine, request: ModelRequest, resumable = false): Promise<ModelEvent[]> =>
  all(webLlm(engine, { model, resumable }).stream(request, options()))

const textOf = async (events: Promise<ModelEvent[]>): Promise<string> =>
  (await events).map((event) => (event.kind === 'text' ? event.delta : '')).join('')

function gateOf(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => {}
  const promise = new Promise<void>((done) => (resolve = done))
  return { promise, resolve }
}
