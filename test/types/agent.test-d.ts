import {
  agent,
  compile,
  field,
  goto,
  graph,
  messages,
  tool,
  type AgentEvent,
  type AgentFields,
  type AgentGraph,
  type AgentState,
  type DeepState,
  type Message,
  type Model,
  type NewMessage,
  type Todo,
} from 'heddle'
import { z } from 'zod'
import { same } from './same.ts'

declare const model: Model

// What an agent is follows from its spec.
const plain = agent({ name: 'plain', model })
same<typeof plain, AgentGraph<undefined, never>>(true)
const answering = agent({
  name: 'answering',
  model,
  output: z.object({ at: z.string().transform((at) => new Date(at)) }),
})
same<typeof answering, AgentGraph<{ at: Date }, never>>(true)
const handing = agent({ name: 'handing', model, handoffs: { billing: 'money', tech: 'the rest' } })
same<typeof handing, AgentGraph<undefined, 'billing' | 'tech'>>(true)

// Its state is what outcomes, instructions and stopWhen have.
same<AgentState['messages'], readonly Message[]>(true)
same<AgentState<number>['output'], number | undefined>(true)
same<AgentState<undefined, 'a' | 'b'>['handoff'], 'a' | 'b' | undefined>(true)
const outcome = await compile(answering).run({
  thread: 't',
  input: { messages: [{ role: 'user', text: 'Hi' }] },
})
same<typeof outcome.state.output, { at: Date } | undefined>(true)
agent({
  name: 'a',
  model,
  output: z.number(),
  handoffs: { b: 'always' },
  instructions: ({ output, handoff }, ctx) => {
    same<typeof output, number | undefined>(true)
    same<typeof handoff, 'b' | undefined>(true)
    return `${ctx.user}`
  },
  stopWhen: (state) => state.messages.at(-1)?.role === 'tool',
  compact: async (all, ctx) => (ctx.signal.aborted ? [] : all.slice(-2)),
})
declare const fields: AgentFields<number, 'b'>
same<(typeof fields)['messages']['schema'] extends object ? true : false, true>(true)

// An agent without handoffs has none to go to.
same<(typeof outcome.state)['handoff'], undefined>(true)

// What a deep run keeps is told by a type of its own.
const { todos, files } = outcome.state as DeepState
same<typeof todos, readonly Todo[] | undefined>(true)
same<typeof files, { readonly [path: string]: string } | undefined>(true)

// Its input may leave everything out.
const news: readonly NewMessage[] = [{ role: 'user', text: 'Hi' }]
void compile(plain).run({ thread: 't', input: { messages: news } })
void compile(plain).run({ thread: 't', input: {} })
// @ts-expect-error a message has a role
void compile(plain).run({ thread: 't', input: { messages: [{ text: 'Hi' }] } })

// Events are told apart by their kind.
declare const event: AgentEvent
if (event.kind === 'text') same<typeof event.delta, string>(true)
if (event.kind === 'tool_result') same<typeof event.status, 'success' | 'error' | 'denied'>(true)
for await (const one of compile(plain).stream({ thread: 't', input: {} }))
  if (one.kind === 'backend' && one.data.kind === 'message')
    same<typeof one.data.message, string>(true)

// Inside a graph its events must be among those of the graph, and a hand-over is a target of `goto`.
graph({
  name: 'desk',
  state: { messages: messages(), owner: z.string().default('') },
  events: field<AgentEvent>(),
  nodes: {
    front: async (state, ctx) => {
      const { messages: all, handoff } = await ctx.child(handing, { messages: state.messages })
      return handoff ? goto(handoff, { messages: all, owner: handoff }) : { messages: all }
    },
    billing: async (state, ctx) => ({ messages: (await ctx.child(plain, state)).messages }),
    tech: () => ({}),
  },
  edges: { start: 'front', front: 'end', billing: 'end', tech: 'end' },
})
graph({
  name: 'deaf',
  state: { messages: messages() },
  events: field<string>(),
  nodes: {
    // @ts-expect-error its events are no texts
    ask: async (state, ctx) => ({ messages: (await ctx.child(plain, state)).messages }),
  },
  edges: { start: 'ask', ask: 'end' },
})

// As a tool.
tool({
  name: 'research',
  description: '',
  input: z.object({ topic: z.string() }),
  async run({ topic }, ctx) {
    const { output } = await ctx.child(answering, { messages: [{ role: 'user', text: topic }] })
    same<typeof output, { at: Date } | undefined>(true)
    return output
  },
})

// Without a model it takes those of its runs.
same<ReturnType<typeof agentOfRuns>, AgentGraph<undefined, never>>(true)
function agentOfRuns() {
  return agent({ name: 'a' })
}
// @ts-expect-error an agent has a name
agent({ model })
// @ts-expect-error there is no such member
agent({ name: 'a', model, tool: [] })
// @ts-expect-error a hand-over says when
agent({ name: 'a', model, handoffs: { b: 1 } })
// @ts-expect-error tools are tools
agent({ name: 'a', model, tools: [{ name: 'look' }] })
// @ts-expect-error a model gives a stream
agent({ name: 'a', model: { provider: 'p', model: 'm' } })
