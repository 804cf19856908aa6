import { agent, ApprovalDenied, compile, runLimits, shortCircuit, type Message } from 'heddle'
import { scriptedModel } from 'heddle/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { eachWay, failure, keepBooks } from '../behaviours/harness.ts'
import { silent } from '../fakes/silent.ts'
import { emitted, noting, read, say, told, wants } from './parts.ts'

keepBooks()

const Answer = z.object({ city: z.string(), at: z.iso.datetime().transform((at) => at.length) })

describe('the structured answer', () => {
  it('is what the schema makes of it, and belongs to its turn', async () => {
    const model = scriptedModel([
      { calls: [wants('look')] },
      { text: '{"city":"Ulm","at":"2026-01-01T00:00:00Z"}' },
      { calls: [wants('look')] },
      { text: '{"city":"Bonn","at":"2026-01-01T00:00:00Z"}' },
    ])
    const seen: unknown[] = []
    const app = compile(
      agent({
        name: 'a',
        model,
        tools: [noting('look', [])],
        output: Answer,
        stopWhen: ({ output }) => seen.push(output) < 0,
      }),
    )
    const first = await app.run({ thread: 't', input: say('Where?') })
    expect(first.state.output).toEqual({ city: 'Ulm', at: 20 })
    expect(first.state.messages.at(-1)?.text).toBe('{"city":"Ulm","at":"2026-01-01T00:00:00Z"}')
    const second = await app.run({ thread: 't', input: say('And now?') })
    expect(second.state.output?.city).toBe('Bonn')
    // While the second turn was under way the answer of the first had gone.
    expect(seen).toEqual([undefined, undefined])
    expect(model.requests[0]?.output).toMatchObject({ type: 'object' })
  })

  it('is asked for once more if it does not fit', async () => {
    const model = scriptedModel([
      { text: '{"city":1}' },
      { text: '{"city":"Ulm","at":"2026-01-01T00:00:00Z"}' },
    ])
    const app = compile(agent({ name: 'a', model, output: Answer }))
    const { state } = await app.run({ thread: 't', input: say('Where?') })
    expect(state.output?.city).toBe('Ulm')
    expect(state.messages).toHaveLength(2)
    model.assertComplete()
  })

  for (const [how, repair] of [
    ['text', { text: '{"city":"Ulm","at":"2026-01-01T00:00:00Z"}' }],
    ['calls only', { calls: [wants('look')] }],
    ['what a hook brings', undefined],
  ] as const)
    it(`is another message when it is repaired, by ${how}; what was refused is never told whole`, async () => {
      const answer = '{"city":"Ulm","at":"2026-01-01T00:00:00Z"}'
      const model = scriptedModel([{ text: 'not JSON' }, repair ?? { text: 'x' }, { text: answer }])
      let asked = 0
      const hook = {
        name: 'h',
        beforeLlm: () => (++asked === 2 && !repair ? shortCircuit({ text: answer }) : undefined),
      }
      const app = compile(
        agent({ name: 'a', model, tools: [noting('look', [])], output: Answer }),
        {
          hooks: [hook],
        },
      )
      const live = app.stream({ thread: 't', input: say('Where?') })
      const events = []
      for await (const event of live) events.push(event)
      const { state } = await live.outcome
      expect(state.output).toEqual({ city: 'Ulm', at: 20 })
      const spoken = emitted(events).filter(({ kind }) => kind === 'text' || kind === 'message')
      const whole = spoken.flatMap((one) => (one.kind === 'message' ? [one.message] : []))
      const stored = state.messages.filter(({ role }) => role === 'assistant')
      expect(whole).toEqual(stored.map(({ id }) => id))
      const texts = new Map<string, string>()
      for (const one of spoken)
        if (one.kind === 'text') texts.set(one.message, (texts.get(one.message) ?? '') + one.delta)
      const [refused] = [...texts.keys()]
      expect(texts.get(refused!)).toBe('not JSON')
      expect(whole).not.toContain(refused)
      for (const { id, text } of stored) expect(texts.get(id) ?? '').toBe(text)
    })

  it('fails the run if it never fits', async () => {
    const model = scriptedModel(() => ({ text: 'no' }))
    const app = compile(agent({ name: 'a', model, output: Answer }))
    const error = await failure(app.run({ thread: 't', input: say('Where?') }))
    expect(error).toMatchObject({ code: 'schema_error' })
    expect((await app.state('t'))?.status).toBe('error')
  })
})

describe('a hand-over', () => {
  eachWay(
    'ends the turn, with an answer to its call, and what else was called has run',
    async (open) => {
      const ran: unknown[] = []
      const calls = [{ tool: 'transfer_to_billing' }, { tool: 'transfer_to_tech' }, wants('look')]
      const model = scriptedModel([{ calls }, { text: 'I am back.' }])
      const story = open(() =>
        agent({
          name: 'a',
          model,
          tools: [noting('look', ran)],
          handoffs: { billing: 'invoices', tech: 'the rest' },
        }),
      )
      const first = await story.start(say('My invoice'))
      expect(first.state['handoff']).toBe('billing')
      expect(told(first.state['messages']).slice(2)).toEqual([
        'tool: "billing" goes on from here',
        'tool: Failed: "billing" has been handed over to already',
        'tool: {"did":"look","n":1}',
      ])
      expect(ran).toEqual([['look', 1]])
      expect(model.requests).toHaveLength(1)
      const second = await story.start(say('And now?'))
      expect(second.state['handoff']).toBeUndefined()
      expect(told(second.state['messages']).at(-1)).toBe('assistant: I am back.')
    },
  )

  it('that is denied does not happen', async () => {
    const model = scriptedModel([
      { calls: [{ tool: 'transfer_to_boss' }] },
      { text: 'Alone, then.' },
    ])
    const deny = {
      beforeTool: () => {
        throw new ApprovalDenied('No', { tool: 'transfer_to_boss', reason: 'busy' })
      },
    }
    const app = compile(agent({ name: 'a', model, handoffs: { boss: 'always' } }), {
      hooks: [deny],
    })
    const { state } = await app.run({ thread: 't', input: say('Hi') })
    expect(state.handoff).toBeUndefined()
    expect(read(model.requests[1])).toEqual(['transfer_to_boss denied: Denied: busy'])
  })
})

describe('the loop ends', () => {
  it('after the tools of a turn, when stopWhen says so', async () => {
    const ran: unknown[] = []
    const model = scriptedModel(() => ({ calls: [wants('look')] }))
    const done = (messages: readonly Message[]): boolean =>
      messages.filter(({ role }) => role === 'tool').length >= 2
    const app = compile(
      agent({
        name: 'a',
        model,
        tools: [noting('look', ran)],
        stopWhen: ({ messages }) => done(messages),
      }),
    )
    const { status } = await app.run({ thread: 't', input: say('Go') })
    expect(status).toBe('success')
    expect(model.requests).toHaveLength(2)
    expect(ran).toHaveLength(2)
  })

  eachWay(
    'with an error once a run has had its turns, and goes on with as many more',
    async (open) => {
      const ran: unknown[] = []
      const model = scriptedModel((request) =>
        read(request).length < 5 ? { calls: [wants('look')] } : { text: 'Enough.' },
      )
      const story = open(() =>
        agent({ name: 'a', model, tools: [noting('look', ran)], maxTurns: 3 }),
      )
      const error = await failure(story.start(say('Go')))
      expect(error).toMatchObject({
        code: 'run_limit_exceeded',
        details: { limit: 'maxTurns', allowed: 3 },
      })
      expect(error.message).toContain('"a"')
      expect(model.requests).toHaveLength(3)
      expect(ran).toHaveLength(3)
      const { status, state } = await story.goOn()
      expect(status).toBe('success')
      expect(model.requests).toHaveLength(6)
      expect(told(state['messages']).at(-1)).toBe('assistant: Enough.')
    },
  )

  it('well when exactly its turns are needed', async () => {
    const model = scriptedModel([{ calls: [wants('look')] }, { text: 'Done.' }])
    const app = compile(agent({ name: 'a', model, tools: [noting('look', [])], maxTurns: 2 }))
    expect((await app.run({ thread: 't', input: say('Go') })).status).toBe('success')
  })

  it('when a limit of the app is reached among its calls; the next input finds every call answered', async () => {
    const ran: unknown[] = []
    const model = scriptedModel([
      { calls: [wants('look', 1), wants('look', 2), wants('look', 3)] },
      { text: 'Two are known.' },
    ])
    const app = compile(agent({ name: 'a', model, tools: [noting('look', ran)], concurrency: 1 }), {
      hooks: [runLimits({ toolCalls: 2 })],
      logger: silent,
    })
    const error = await failure(app.run({ thread: 't', input: say('Go') }))
    expect(error).toMatchObject({ code: 'run_limit_exceeded', details: { limit: 'toolCalls' } })
    const { state } = await app.run({ thread: 't', input: say('So?') })
    expect(ran).toHaveLength(2)
    expect(read(model.requests[1])).toEqual([
      'look success: {"did":"look","n":1}',
      'look success: {"did":"look","n":2}',
      'look error: Cancelled: what came of it is not known',
    ])
    const answers = state.messages.flatMap((one) => (one.role === 'tool' ? [one.call] : []))
    expect(new Set(answers).size).toBe(3)
    expect(answers).toHaveLength(3)
  })
})
