// Agents inside others: as a tool, as nodes that hand over to each other, and what both cost.
import { agent, compile, field, goto, graph, memory, messages, tool, type AgentEvent } from 'heddle'
import { scriptedModel } from 'heddle/testing'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { eachWay, keepBooks } from '../behaviours/harness.ts'
import { emitted, noting, say, short, told, wants } from './parts.ts'

keepBooks()

eachWay(
  'an agent as a tool: its events are progress of its call, its pause is the pause of it',
  async (open) => {
    const ran: unknown[] = []
    const inner = scriptedModel([
      { text: 'I ask.', calls: [wants('send')], usage: { input: 3, output: 2 } },
      { text: '{"summary":"sent"}', usage: { input: 4, output: 1 } },
    ])
    const outer = scriptedModel([
      { calls: [{ tool: 'research', args: { topic: 'x' } }], usage: { input: 10, output: 1 } },
      { text: 'There you are.', usage: { input: 20, output: 2 } },
    ])
    const story = open(() => {
      const researcher = agent({
        name: 'researcher',
        model: inner,
        tools: [noting('send', ran, { approve: true })],
        output: z.object({ summary: z.string() }),
      })
      const research = tool({
        name: 'research',
        description: 'Looks something up',
        input: z.object({ topic: z.string() }),
        run: async ({ topic }, ctx) => (await ctx.child(researcher, say(topic))).output?.summary,
      })
      return agent({ name: 'front', model: outer, tools: [research] })
    })
    const first = await story.start(say('Go'))
    expect(first.open).toMatchObject([{ agent: 'researcher', payload: { tool: 'send' } }])
    const progress = emitted(first.events).filter((one) => one.kind === 'tool_progress')
    expect(progress.map(({ data }) => (data as AgentEvent).kind)).toEqual([
      'text',
      'text',
      'tool_call',
      'message',
    ])
    const { status, state, outcome } = await story.answerOne({ approve: true })
    expect(status).toBe('success')
    expect(ran).toEqual([['send', 1]])
    expect(told(state['messages'])).toEqual([
      'user: Go',
      'assistant: ',
      'tool: sent',
      'assistant: There you are.',
    ])
    expect([inner.requests.length, outer.requests.length]).toEqual([2, 2])
    // This run's own: the sub-agent's second request, and the last one.
    expect(outcome.usage).toEqual({ input: 24, output: 3, total: 27, requests: 2 })
  },
)

eachWay('agents as nodes hand over to each other, and the history is kept once', async (open) => {
  const front = scriptedModel([{ text: 'One moment.', calls: [{ tool: 'transfer_to_billing' }] }])
  const billing = scriptedModel([
    { calls: [wants('look')] },
    { text: 'It is wrong.' },
    { text: 'Bye.' },
  ])
  const story = open(() => {
    const one = agent({ name: 'front', model: front, handoffs: { billing: 'invoices' } })
    const two = agent({ name: 'billing', model: billing, tools: [noting('look', [])] })
    return graph({
      name: 'desk',
      state: { messages: messages(), owner: z.enum(['front', 'billing']).default('front') },
      events: field<AgentEvent>(),
      nodes: {
        front: async (state, ctx) => {
          const { messages: all, handoff } = await ctx.child(one, { messages: state.messages })
          return handoff ? goto(handoff, { messages: all, owner: handoff }) : { messages: all }
        },
        billing: async (state, ctx) => ({
          messages: (await ctx.child(two, { messages: state.messages })).messages,
        }),
      },
      edges: { start: ({ owner }) => owner, front: 'end', billing: 'end' },
    })
  })
  const first = await story.start(say('My invoice'))
  expect(told(first.state['messages'])).toEqual([
    'user: My invoice',
    'assistant: One moment.',
    'tool: "billing" goes on from here',
    'assistant: ',
    'tool: {"did":"look","n":1}',
    'assistant: It is wrong.',
  ])
  expect(short(first.events).filter((one) => one.startsWith('message'))).toHaveLength(3)
  expect(first.events.map((event) => ('node' in event ? event.node : ''))).toContain('billing')
  const second = await story.start(say('Thanks'))
  expect(told(second.state['messages']).slice(6)).toEqual(['user: Thanks', 'assistant: Bye.'])
  const ids = (second.state['messages'] as readonly { readonly id: string }[]).map(({ id }) => id)
  expect(new Set(ids).size).toBe(8)
  expect(front.requests).toHaveLength(1)
})

it('the model of a run is for its own agent, not for those inside', async () => {
  const [mine, other, brought] = ['mine', 'other', 'brought'].map((text) =>
    scriptedModel(() => ({ text })),
  )
  const inner = agent({ name: 'inner', model: other! })
  const ask = tool({
    name: 'ask',
    description: 'Asks another',
    input: z.object({}),
    run: async (_, ctx) => (await ctx.child(inner, say('Hi'))).messages.at(-1)?.text,
  })
  const calling = scriptedModel([{ calls: [{ tool: 'ask' }] }, { text: 'Done.' }])
  const app = compile(agent({ name: 'outer', model: mine!, tools: [ask] }), { store: memory() })
  const { state } = await app.run({ thread: 't', input: say('Go'), model: calling })
  expect(told(state.messages)).toContain('tool: other')
  expect([mine!.requests.length, brought!.requests.length]).toEqual([0, 0])
})
