// What the compiler knows of conversations with agents.
import { agent, compile, field, graph, messages, ThreadRunner } from 'heddle'
import type { AgentState, Interruption, Message, Model, Outcome, Runner } from 'heddle'
import { z } from 'zod'
import { same } from './same.ts'

declare const model: Model
declare const interruption: Interruption

// A conversation is typed by its agent: what it answers, and whom it hands over to.
const app = compile(
  agent({
    name: 'answering',
    model,
    output: z.object({ total: z.number() }),
    handoffs: { billing: 'money' },
  }),
)
const runner = new ThreadRunner({ app, user: 'ann', model })
same<typeof runner, ThreadRunner<{ total: number }, 'billing'>>(true)
const outcome = await runner.run('Hello', {
  images: [{ mediaType: 'image/png', data: new Uint8Array() }],
})
same<typeof outcome, Outcome<AgentState<{ total: number }, 'billing'>>>(true)
same<typeof outcome.state.output, { total: number } | undefined>(true)
same<typeof outcome.state.handoff, 'billing' | undefined>(true)

const plain = new ThreadRunner({ app: compile(agent({ name: 'plain', model })) })
same<Awaited<ReturnType<typeof plain.run>>['state']['output'], undefined>(true)

// A tenant's runner will do, and one that is elsewhere.
void new ThreadRunner({ app: app.tenant('a') })
declare const client: Runner<AgentState>
void new ThreadRunner({ app: client })

// So will a graph around agents that keeps messages: a desk.
const desk = compile(
  graph({
    name: 'desk',
    state: { messages: messages(), owner: field<'front' | 'billing'>('front') },
    nodes: { answer: () => {} },
    edges: { start: 'answer', answer: 'end' },
  }),
)
const talk = new ThreadRunner({ app: desk, user: 'ann' })
const told = await talk.run('Hello')
same<typeof told.state.owner, 'front' | 'billing'>(true)
same<typeof told.state.messages, readonly Message[]>(true)
void new ThreadRunner({ app: desk.tenant('a') })

void runner.resume(interruption, { approve: true })
void runner.resume(interruption.id, undefined, { signal: AbortSignal.abort() })
// @ts-expect-error an answer brings no images
void runner.resume(interruption, true, { images: [] })
// @ts-expect-error its thread stays what it is
runner.thread = 'another'
const counting = compile(
  graph({
    name: 'counting',
    state: { n: field(1) },
    nodes: { count: () => ({ n: 2 }) },
    edges: { start: 'count', count: 'end' },
  }),
)
// @ts-expect-error a graph without messages can't be talked to
void new ThreadRunner({ app: counting })
// @ts-expect-error there is no conversation without an agent
void new ThreadRunner({ user: 'ann' })
