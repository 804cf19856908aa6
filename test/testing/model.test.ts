import { describe, expect, test } from 'vitest'
import { compile, type ModelEvent, type ModelRequest } from 'heddle'
import { manualClock, scriptedModel, type ScriptedModel } from 'heddle/testing'
import { countedSignal, keepBooks } from '../behaviours/books.ts'
import { calling, resultOf } from '../behaviours/calls-parts.ts'
import { refusedWith } from '../behaviours/portable.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

const request = (text = 'hi'): ModelRequest => ({
  messages: [{ role: 'user', id: 'msg_1', createdAt: '2026-03-01T08:00:00.000Z', text }],
})

/** What it says, and how it ends. */
async function said(
  model: ScriptedModel,
  asked: ModelRequest = request(),
  signal: AbortSignal = new AbortController().signal,
): Promise<{ readonly events: readonly ModelEvent[]; readonly error?: unknown }> {
  const events: ModelEvent[] = []
  try {
    for await (const event of model.stream(asked, { signal, call: 'call_1' })) events.push(event)
  } catch (error) {
    return { events, error }
  }
  return { events }
}

describe('a turn', () => {
  test('comes as models send it: word by word, arguments in pieces, usage, the end', async () => {
    const usage = { input: 3, output: 4 }
    const calls = [
      { tool: 'a', args: { n: 1 } },
      { tool: 'b', raw: '{"n":', id: 'x' },
    ]
    const model = scriptedModel([{ reasoning: 'so it is', text: 'Good day.\n', calls, usage }])
    expect(await said(model)).toEqual({
      events: [
        { kind: 'reasoning', delta: 'so' },
        { kind: 'reasoning', delta: ' it' },
        { kind: 'reasoning', delta: ' is' },
        { kind: 'text', delta: 'Good' },
        { kind: 'text', delta: ' day.\n' },
        { kind: 'args', id: '0', tool: 'a', delta: '{"n"' },
        { kind: 'args', id: '0', delta: ':1}' },
        { kind: 'call', id: '0', tool: 'a', raw: '{"n":1}' },
        { kind: 'args', id: 'x', tool: 'b', delta: '{"n' },
        { kind: 'args', id: 'x', delta: '":' },
        { kind: 'call', id: 'x', tool: 'b', raw: '{"n":' },
        { kind: 'usage', usage },
        { kind: 'finish', reason: 'calls', usage },
      ],
    })
  })

  test('may be empty, and loses no space', async () => {
    expect(await said(scriptedModel([{}]))).toEqual({
      events: [{ kind: 'finish', reason: 'stop' }],
    })
    for (const text of ['', ' ', '\n\n', ' a', 'a ', ' a  b\n', 'ab\u00a0c']) {
      const { events } = await said(scriptedModel([{ text }]))
      expect(events.map((event) => (event.kind === 'text' ? event.delta : '')).join('')).toBe(text)
    }
  })

  test('throws its error after its text, and one that is broken just ends', async () => {
    const error = new Error('busy')
    const usage = { input: 1 }
    const begun = [
      { kind: 'text', delta: 'half' },
      { kind: 'usage', usage },
    ]
    expect(await said(scriptedModel([{ text: 'half', usage, error }]))).toEqual({
      events: begun,
      error,
    })
    expect(await said(scriptedModel([{ text: 'half', usage, broken: true }]))).toEqual({
      events: begun,
    })
  })

  test('takes its time by the clock of the model, before each part', async () => {
    const clock = manualClock()
    const model = scriptedModel([{ text: 'one two', delay: 100 }], { clock })
    const at: number[] = []
    const start = clock.now()
    const reading = (async () => {
      const { signal } = countedSignal()
      for await (const { kind } of model.stream(request(), { signal, call: 'call_1' }))
        if (kind === 'text') at.push(clock.now() - start)
    })()
    await clock.advance(1000)
    await reading
    expect(at).toEqual([100, 200])
    expect(clock.pending).toBe(0)
  })

  test('may be made of what was asked', async () => {
    const model = scriptedModel([(asked) => ({ text: asked.messages[0]?.text ?? '' })])
    expect((await said(model, request('echo'))).events[0]).toEqual({ kind: 'text', delta: 'echo' })
  })
})

describe('a script', () => {
  test('goes in order, tells what it was asked, and fails when it is asked more often', async () => {
    const model = scriptedModel([{ text: 'one' }, { text: 'two' }])
    const asked = [request('1'), request('2'), request('3')]
    expect((await said(model, asked[0])).events[0]).toEqual({ kind: 'text', delta: 'one' })
    expect(() => model.assertComplete()).toThrow('Cannot end the script: 1 of 2 turns are left')
    expect((await said(model, asked[1])).events[0]).toEqual({ kind: 'text', delta: 'two' })
    model.assertComplete()
    const { error } = await said(model, asked[2])
    expect(error).toMatchObject({
      code: 'model_error',
      message:
        'Cannot ask model "scripted/script": this is request 3, and its script has turns for 2',
    })
    expect(() => model.assertComplete()).toThrow('it was asked 3 times, and has 2 turns')
    expect(model.requests).toEqual(asked)
  })

  test('that is a function goes on for ever', async () => {
    const model = scriptedModel(({ messages }) => ({ text: `${messages[0]?.text}!` }))
    for (const text of ['1', '2', '3'])
      expect((await said(model, request(text))).events[0]).toEqual({
        kind: 'text',
        delta: `${text}!`,
      })
    model.assertComplete()
  })

  test('has a name, or gets one', () => {
    expect(scriptedModel([])).toMatchObject({ provider: 'scripted', model: 'script' })
    expect(scriptedModel([], { provider: 'p', model: 'm' })).toMatchObject({
      provider: 'p',
      model: 'm',
    })
  })

  test('that is none is refused', () => {
    for (const turns of [undefined, { text: 'one' }, 'one'])
      expect(() => scriptedModel(turns as never)).toThrow(TypeError)
  })
})

describe('an abort', () => {
  test('before the first word asks for nothing', async () => {
    const model = scriptedModel([{ text: 'one' }])
    const reason = new Error('no')
    expect(await said(model, request(), AbortSignal.abort(reason))).toEqual({
      events: [],
      error: reason,
    })
    expect(model.requests).toEqual([])
  })

  test('ends a delay at once, and leaves neither timer nor listener', async () => {
    const clock = manualClock()
    const model = scriptedModel([{ text: 'one two', delay: 100 }], { clock })
    const caller = countedSignal()
    const outcome = said(model, request(), caller.signal)
    await clock.advance(150)
    const reason = new Error('enough')
    caller.abort(reason)
    expect(await outcome).toEqual({ events: [{ kind: 'text', delta: 'one' }], error: reason })
    expect(clock.pending).toBe(0)
  })

  test('between two words ends it with the next', async () => {
    const caller = new AbortController()
    const model = scriptedModel([{ text: 'one two' }])
    const events = model.stream(request(), { signal: caller.signal, call: 'c' })
    const iterator = events[Symbol.asyncIterator]()
    await iterator.next()
    caller.abort(new Error('enough'))
    await expect(iterator.next()).rejects.toThrow('enough')
  })
})

test('in a graph, a run that fails as a turn is missing says so', async () => {
  const model = scriptedModel([{ text: 'one' }])
  const app = compile(
    calling(async (ctx) => {
      await ctx.generate(model, { messages: '1' })
      return ctx.generate(model, { messages: '2' })
    }),
    { logger: silent },
  )
  const error = await refusedWith('model_error', () => app.run({ thread: 't', input: {} }))
  expect((error as Error).message).toContain('this is request 2, and its script has turns for 1')
  const more = scriptedModel([{ text: 'two' }])
  const again = compile(calling(async (ctx) => (await ctx.generate(more, { messages: '2' })).text))
  expect(resultOf(await again.run({ thread: 't', input: {} }))).toBe('two')
})
