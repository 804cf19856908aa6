// What models, readers and processes do that nobody hopes for.
import {
  agent,
  compile,
  isHeddleError,
  memory,
  tool,
  type Model,
  type ModelEvent,
  type NewMessage,
} from 'heddle'
import { manualClock, scriptedModel } from 'heddle/testing'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { pause } from '../behaviours/portable.ts'
import { eachWay, failure, keepBooks } from '../behaviours/harness.ts'
import { silent } from '../fakes/silent.ts'
import { emitted, noting, read, say, short, told, wants } from './parts.ts'

keepBooks()

/** A model of events, request by request. */
function events(
  ...turns: readonly (readonly ModelEvent[])[]
): Model & { readonly asked: string[][] } {
  const asked: string[][] = []
  return {
    provider: 'test',
    model: 'events',
    asked,
    async *stream(request) {
      asked.push(read(request))
      yield* turns[asked.length - 1] ?? []
    },
  }
}

eachWay(
  'a message that was cut off runs its whole calls and refuses the half one',
  async (open) => {
    const ran: unknown[] = []
    const model = events(
      [
        { kind: 'call', id: '1', tool: 'look', raw: '{"n":1}' },
        { kind: 'call', id: '2', tool: 'look', raw: '{"n":' },
        { kind: 'finish', reason: 'length' },
      ],
      [
        { kind: 'text', delta: 'Half.' },
        { kind: 'finish', reason: 'filter' },
      ],
    )
    const story = open(() => agent({ name: 'a', model, tools: [noting('look', ran)] }))
    const { status, events: seen } = await story.start(say('Go'))
    expect(status).toBe('success')
    expect(ran).toEqual([['look', 1]])
    expect(model.asked[1]).toEqual([
      'look success: {"did":"look","n":1}',
      'look error: Failed: Cannot accept the arguments of tool "look": they are not JSON',
    ])
    expect(short(seen)).toContain('message length')
    expect(emitted(seen).filter((one) => one.kind === 'tool_call')).toMatchObject([
      { args: { n: 1 } },
      { args: undefined },
    ])
  },
)

it('a message without text or calls ends the turn, and is not read again', async () => {
  const model = scriptedModel([{}, { text: 'Yes?' }])
  const app = compile(agent({ name: 'a', model }))
  expect((await app.run({ thread: 't', input: say('Hi') })).state.messages).toHaveLength(2)
  await app.run({ thread: 't', input: say('Hello?') })
  expect(told(model.requests[1]?.messages)).toEqual(['user: Hi', 'user: Hello?'])
})

it('a denial inside a tool is a failure that the model reads', async () => {
  const send = noting('send', [], { approve: true })
  const both = tool({
    name: 'both',
    description: 'Sends twice',
    input: z.object({}),
    run: async (_, ctx) => [await ctx.call(send, { n: 1 }), await ctx.call(send, { n: 2 })],
  })
  const model = scriptedModel([{ calls: [{ tool: 'both' }] }, { text: 'No, then.' }])
  const app = compile(agent({ name: 'a', model, tools: [both] }))
  await app.run({ thread: 't', input: say('Go') })
  const { status } = await app.run({ thread: 't', answer: { approve: false, reason: 'no' } })
  expect(status).toBe('success')
  expect(read(model.requests[1])).toEqual([
    'both error: Failed: Cannot run tool "send": it was denied: no',
  ])
})

eachWay(
  'an agent inside whose model fails is a failure that the model outside reads',
  async (open) => {
    const inner = scriptedModel([{ text: 'I', error: new Error('sk-123 is no key') }])
    const outer = scriptedModel([{ calls: [{ tool: 'ask' }] }, { text: 'Sorry.' }])
    const story = open(() => {
      const helper = agent({ name: 'helper', model: inner })
      const ask = tool({
        name: 'ask',
        description: 'Asks',
        input: z.object({}),
        run: async (_, ctx) => (await ctx.child(helper, say('Hi'))).messages.at(-1)?.text,
      })
      return agent({ name: 'a', model: outer, tools: [ask] })
    })
    const { status } = await story.start(say('Go'))
    expect(status).toBe('success')
    expect(read(outer.requests[1])).toEqual([
      expect.stringMatching(/^ask error: Failed: Cannot ask model "scripted\/script"/),
    ])
    expect(JSON.stringify(outer.requests)).not.toContain('sk-123')
  },
)

eachWay(
  'a thread that is cancelled while it waits goes on with every call answered',
  async (open) => {
    const ran: unknown[] = []
    const model = scriptedModel([
      { calls: [wants('send'), wants('look')] },
      { text: 'As you like.' },
    ])
    const story = open(() =>
      agent({
        name: 'a',
        model,
        tools: [noting('send', ran, { approve: true }), noting('look', ran)],
      }),
    )
    await story.start(say('Send'))
    await story.app.cancel('t1')
    const { state } = await story.app.run({ thread: 't1', input: say('Never mind') })
    expect(ran).toEqual([['look', 1]])
    expect(read(model.requests[1])).toEqual([
      'send error: Cancelled: it never ran',
      'look success: {"did":"look","n":1}',
    ])
    // Right behind their message, wherever they are kept.
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'tool',
      'user',
    ])
    expect(told(state['messages']).at(-1)).toBe('assistant: As you like.')
  },
)

eachWay('calls whose ids come again in later turns have the results of their own', async (open) => {
  const model = scriptedModel([{ text: 'Sunny.' }])
  const story = open(() => agent({ name: 'a', model }))
  const calling = (n: number): NewMessage => ({
    ...{ role: 'assistant', text: '' },
    calls: [{ id: '0', tool: 'look', args: { n }, raw: `{"n":${n}}` }],
  })
  const answer = (text: string): NewMessage => ({
    ...{ role: 'tool', call: '0', tool: 'look', status: 'success', text },
  })
  const { messages } = say('And?')
  const turns = [calling(1), answer('snow'), calling(2), calling(3), answer('sun')]
  const { state } = await story.start({ messages: [...turns, ...messages] })
  const lost = 'tool: Cancelled: what came of it is not known'
  expect(told(model.requests[0]?.messages)).toEqual([
    ...['assistant: ', 'tool: snow', 'assistant: ', lost, 'assistant: ', 'tool: sun', 'user: And?'],
  ])
  // From here on the one in the middle has its answer, and keeps it.
  expect(told(state['messages']).slice(-2)).toEqual([lost, 'assistant: Sunny.'])
})

it('a process that dies in the middle of a stream: another asks again, and nothing of the dead one runs', async () => {
  const store = memory()
  const ran: unknown[] = []
  const tools = [noting('look', ran)]
  let wake = (): void => {}
  const waits = new Promise<void>((resolve) => (wake = resolve))
  const dying: Model = {
    provider: 'test',
    model: 'dying',
    async *stream() {
      yield { kind: 'text', delta: 'One' }
      await waits
      yield { kind: 'call', id: '1', tool: 'look', raw: '{"n":1}' }
      yield { kind: 'finish', reason: 'calls' }
    },
  }
  const spec = { name: 'a', tools }
  const options = { store, logger: silent, leaseMs: 60_000 }
  const dead = compile(agent({ ...spec, model: dying }), { ...options, clock: manualClock() })
  const lost = failure(dead.run({ thread: 't', input: say('Go') }))
  while ((await dead.state('t'))?.status !== 'running') await pause(1)

  const model = scriptedModel([{ text: 'Two', calls: [wants('look', 2)] }, { text: 'Three' }])
  const later = manualClock(new Date(manualClock().now() + 61_000))
  const app = compile(agent({ ...spec, model }), { ...options, clock: later })
  expect((await app.tick()).recovered).toEqual(['t'])
  const whole = ['user: Go', 'assistant: Two', 'tool: {"did":"look","n":2}', 'assistant: Three']
  expect(told((await app.state('t'))?.state.messages)).toEqual(whole)
  wake()
  expect(isHeddleError(await lost, 'lease_lost')).toBe(true)
  expect(ran).toEqual([['look', 2]])
  expect(told((await app.state('t'))?.state.messages)).toEqual(whole)
})

it('a model waits for a reader that is slow', async () => {
  let said = 0
  const model: Model = {
    provider: 'test',
    model: 'fast',
    async *stream() {
      for (; said < 5000; said++) yield { kind: 'text', delta: 'x' }
      yield { kind: 'finish', reason: 'stop' }
    },
  }
  const live = compile(agent({ name: 'a', model })).stream({ thread: 't', input: say('Go') })
  let first = true
  let ahead = 0
  for await (const event of live) {
    if (event.kind !== 'backend' || !first) continue
    first = false
    await pause(20)
    ahead = said
  }
  expect(ahead).toBeLessThan(5000)
  expect((await live.outcome).state.messages[1]?.text).toHaveLength(5000)
})
