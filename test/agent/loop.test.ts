import { agent, compile, memory, toJson, type Batch, type Model } from 'heddle'
import { scriptedModel } from 'heddle/testing'
import { describe, expect, it } from 'vitest'
import { eachWay, keepBooks } from '../behaviours/harness.ts'
import { emitted, noting, read, say, short, told, wants } from './parts.ts'

keepBooks()

describe('a turn of an agent', () => {
  eachWay('asks, calls, and asks again until no call is left', async (open) => {
    const ran: unknown[] = []
    const model = scriptedModel([
      { reasoning: 'hm', text: 'I look.', calls: [wants('look', 1), wants('look', 2)] },
      { text: 'It is 3.', usage: { input: 7, output: 5 } },
    ])
    const story = open(() => agent({ name: 'a', model, tools: [noting('look', ran)] }))
    const { state, status, events } = await story.start(say('How many?'))
    expect(status).toBe('success')
    expect(ran).toEqual([
      ['look', 1],
      ['look', 2],
    ])
    expect(told(state['messages'])).toEqual([
      'user: How many?',
      'assistant: I look.',
      'tool: {"did":"look","n":1}',
      'tool: {"did":"look","n":2}',
      'assistant: It is 3.',
    ])
    expect(read(model.requests[1])).toEqual([
      'look success: {"did":"look","n":1}',
      'look success: {"did":"look","n":2}',
    ])
    expect(short(events)).toEqual([
      'reasoning hm',
      'text I',
      'text  look.',
      'call look',
      'call look',
      'message calls',
      'result look success',
      'result look success',
      'text It',
      'text  is',
      'text  3.',
      'message stop',
    ])
    model.assertComplete()
  })

  it('has the ids of its messages before their first words, and its calls have those of their results', async () => {
    const model = scriptedModel([{ text: 'Wait.', calls: [wants('look')] }, { text: 'Done.' }])
    const app = compile(agent({ name: 'a', model, tools: [noting('look', [])] }))
    const live = app.stream({ thread: 't', input: say('Go') })
    const events = []
    for await (const event of live) events.push(event)
    const { state } = await live.outcome
    const spoken = emitted(events).flatMap((one) => (one.kind === 'text' ? [one.message] : []))
    const whole = emitted(events).flatMap((one) => (one.kind === 'message' ? [one.message] : []))
    const kept = state.messages.flatMap(({ id, role }) => (role === 'assistant' ? [id] : []))
    expect([...new Set(spoken)]).toEqual(kept)
    expect(whole).toEqual(kept)
    const calls = emitted(events).flatMap((one) => ('call' in one ? [one.call] : []))
    const answers = state.messages.flatMap((one) => (one.role === 'tool' ? [one.call] : []))
    expect(new Set(calls)).toEqual(new Set(answers))
    expect(answers).toHaveLength(1)
  })

  it('keeps what a tool returned, beside what the model reads of it', async () => {
    const values = [
      new Map([['a', 1n]]),
      undefined,
      { at: new Date(0), bytes: new Uint8Array(3), set: new Set([NaN]) },
      'as it is',
      null,
    ]
    const model = scriptedModel([{ calls: values.map((_, n) => wants('give', n)) }, {}])
    const give = noting('give', [], {}, (n) => values[n])
    const app = compile(agent({ name: 'a', model, tools: [give] }))
    const { state } = await app.run({ thread: 't', input: say('Go') })
    const answers = state.messages.flatMap((one) => (one.role === 'tool' ? [one] : []))
    expect(answers.map(({ value }) => value)).toEqual(values)
    expect(answers.map(({ text }) => text)).toEqual([
      '[["a","1"]]',
      'Done',
      '{"at":"1970-01-01T00:00:00.000Z","bytes":"3 bytes","set":["NaN"]}',
      'as it is',
      'null',
    ])
  })

  it('tells the model of failures by their message, never by what else is in them', async () => {
    const cause = new Error('key sk-123')
    const error = Object.assign(new Error('No such order', { cause }), { key: 'sk-123' })
    const model = scriptedModel([
      {
        calls: [
          wants('fail', 1),
          { tool: 'fail', raw: '{"n":' },
          { tool: 'fail', args: { n: 'x' } },
          { tool: 'nothing' },
        ],
      },
      { text: 'Sorry.' },
    ])
    const fail = noting('fail', [], {}, () => {
      throw error
    })
    const app = compile(agent({ name: 'a', model, tools: [fail] }))
    const { status } = await app.run({ thread: 't', input: say('Go') })
    expect(status).toBe('success')
    expect(read(model.requests[1])).toEqual([
      'fail error: Failed: No such order',
      'fail error: Failed: Cannot accept the arguments of tool "fail": they are not JSON',
      expect.stringMatching(
        /^fail error: Failed: Cannot accept the arguments of tool "fail": at "n"/,
      ),
      'nothing error: Failed: Cannot call tool "nothing": there is no such tool; there are "fail"',
    ])
    expect(JSON.stringify(model.requests)).not.toContain('sk-123')
  })

  it('streams how far a tool is', async () => {
    const model = scriptedModel([{ calls: [wants('dig', 1)] }, {}])
    const dig = noting('dig', [], {}, async (_, ctx) => {
      await ctx.emit('half')
      return ctx.agent
    })
    const live = compile(agent({ name: 'a', model, tools: [dig] })).stream({
      thread: 't',
      input: say('Go'),
    })
    const events = []
    for await (const event of live) events.push(event)
    expect(short(events).slice(0, 4)).toEqual([
      'call dig',
      'message calls',
      'progress "half"',
      'result dig success',
    ])
    const { state } = await live.outcome
    expect(told(state.messages)).toContain('tool: a')
  })
})

it('is drawn as the graph that it is', () => {
  const { nodes, edges } = toJson(agent({ name: 'a', model: scriptedModel([]) }))
  expect(nodes.map(({ name }) => name)).toEqual(['model', 'tools'])
  expect(edges.map(({ from, to, kind }) => `${from} ${kind} ${to}`)).toEqual([
    'start always model',
    'model maybe tools',
    'model maybe end',
    'tools maybe model',
    'tools maybe end',
  ])
})

it('a turn with a tool is two commits, whose rows do not grow with the history', async () => {
  const store = memory()
  const sizes: number[] = []
  const commit = (batch: Batch): ReturnType<typeof store.commit> => {
    sizes.push((batch.puts ?? []).reduce((sum, { value }) => sum + value.length, 0))
    return store.commit(batch)
  }
  const model = scriptedModel((request) =>
    read(request).length < 20 ? { calls: [wants('look')] } : { text: 'Done.' },
  )
  const counting = { ...store, commit }
  const app = compile(agent({ name: 'a', model, tools: [noting('look', [])], maxTurns: 21 }), {
    store: counting,
  })
  await app.run({ thread: 't', input: say('Go') })
  // The claim, that it runs, and the last answer.
  expect(sizes).toHaveLength(2 * 20 + 3)
  const [early, late] = [sizes.slice(4, 8), sizes.slice(-6, -2)]
  expect(Math.max(...late)).toBeLessThan(Math.max(...early) * 1.2)
})

describe('what an agent asks with', () => {
  it('has its instructions every time, and no message of them', async () => {
    const model = scriptedModel(() => ({ text: 'Hi.' }))
    const app = compile(
      agent({
        name: 'a',
        model,
        instructions: ({ messages }, ctx) => `${ctx.user} has said ${messages.length}`,
        settings: { temperature: 0.5, maxTokens: 9, extra: { top_k: 1 } },
      }),
    )
    await app.run({ thread: 't', input: say('One'), user: 'ann' })
    const { state } = await app.run({ thread: 't', input: say('Two'), user: 'ann' })
    expect(model.requests.map(({ instructions }) => instructions)).toEqual([
      'ann has said 1',
      'ann has said 3',
    ])
    expect(model.requests[0]).toMatchObject({
      temperature: 0.5,
      maxTokens: 9,
      extra: { top_k: 1 },
    })
    expect(told(state.messages)).toEqual([
      'user: One',
      'assistant: Hi.',
      'user: Two',
      'assistant: Hi.',
    ])
  })

  it('has its tools, and one for each agent that it may hand over to', async () => {
    const model = scriptedModel([{ text: 'Hi.' }])
    const app = compile(
      agent({
        name: 'a',
        model,
        tools: [noting('look', [])],
        handoffs: { billing: 'invoices' },
      }),
    )
    await app.run({ thread: 't', input: say('Go') })
    expect(model.requests[0]?.tools).toMatchObject([
      { name: 'look', description: 'Does "look".', parameters: { type: 'object' } },
      { name: 'transfer_to_billing', parameters: { type: 'object', properties: {} } },
    ])
    expect(model.requests[0]?.tools?.[1]?.description).toContain('invoices')
  })

  it('is what compact leaves of the messages', async () => {
    const model = scriptedModel(() => ({ text: 'Hi.' }))
    const app = compile(
      agent({ name: 'a', model, compact: async (messages) => messages.slice(-1) }),
    )
    await app.run({ thread: 't', input: say('One') })
    const { state } = await app.run({ thread: 't', input: say('Two') })
    expect(told(model.requests[1]?.messages)).toEqual(['user: Two'])
    expect(state.messages).toHaveLength(4)
  })

  it('goes to the model that a function finds, and to the one that the run brings along', async () => {
    const [own, other] = ['own', 'other'].map((text) => scriptedModel(() => ({ text })))
    const found: string[] = []
    const pick = async ({ user }: { readonly user?: string }): Promise<Model> => {
      found.push(user ?? '')
      return own!
    }
    const app = compile(agent({ name: 'a', model: pick }), { store: memory() })
    await app.run({ thread: 't', input: say('One'), user: 'ann' })
    const { state } = await app.run({ thread: 't', input: say('Two'), model: other! })
    expect(told(state.messages).filter((one) => one.startsWith('assistant'))).toEqual([
      'assistant: own',
      'assistant: other',
    ])
    expect(found).toEqual(['ann'])
  })
})
