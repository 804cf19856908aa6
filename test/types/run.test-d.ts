// What the compiler knows of running, streaming and reading a graph.
import { z } from 'zod'
import { compile, field, graph, isHeddleError, memory, reduced, ThreadBusy } from 'heddle'
import type { AnyError, CompiledGraph, Graph, Interruption, Runner, RunnerOf } from 'heddle'
import type { InputFor, LiveRun, Snapshot, Store, StreamEvent, Timer } from 'heddle'
import { same } from './same.ts'

const support = graph({
  name: 'support',
  state: { question: z.string(), log: z.array(z.string()).default([]), at: z.date().optional() },
  events: field<{ token: string }>(),
  nodes: { think: () => ({ log: ['x'] }), act: () => {} },
  edges: { start: 'think', think: 'act', act: 'end' },
})
const app = compile(support)
type State = {
  readonly question: string
  readonly log: string[]
  readonly at: Date | undefined
}

// --- a compiled graph is a runner of its graph, and more
type Input = InputFor<typeof support.state>
same<typeof app, CompiledGraph<State, Input, 'think' | 'act', { token: string }>>(true)
same<RunnerOf<typeof support>, Runner<State, Input, 'think' | 'act', { token: string }>>(true)
const runner: RunnerOf<typeof support> = app
const ofTenant: RunnerOf<typeof support> = app.tenant('a')
void ofTenant
void app.tenant('a').prune('t', { keepLast: 1 })
// @ts-expect-error only what runs here can tick
runner.tick()
// @ts-expect-error a tenant's runner serves one tenant
app.tenant('a').tick()

// --- requests
void app.run({ thread: 't', input: { question: '' } })
void app.run({ thread: 't', input: { question: '', at: new Date(), log: ['x'] } })
void app.run({ thread: 't', answer: false })
void app.run({ thread: 't', answers: { int_1: undefined } })
void app.run({ thread: 't' })
// @ts-expect-error `question` has no default
void app.run({ thread: 't', input: {} })
// @ts-expect-error input of the wrong type
void app.run({ thread: 't', input: { question: 1 } })
// @ts-expect-error input to no known field
void app.run({ thread: 't', input: { question: '', quest: '' } })
// @ts-expect-error input and answer at once
void app.run({ thread: 't', input: { question: '' }, answer: 1 })
// @ts-expect-error one answer and several at once
void app.run({ thread: 't', answer: 1, answers: {} })
// @ts-expect-error no thread
void app.run({ input: { question: '' } })
// @ts-expect-error a misspelt option
void app.run({ thread: 't', timout: 10 })
// @ts-expect-error a misspelt option of `compile`
compile(support, { stor: memory() })
// A graph whose names are only known at run time takes any.
const names: Graph = support
void compile(names).run({ thread: 't', input: { anything: 1 } })

// --- forks
const forked = runner.fork('t', { from: 'c', update: { log: ['x'], at: new Date() }, to: 't2' })
same<Awaited<typeof forked>, { readonly thread: string; readonly checkpoint: string }>(true)
void app.fork('t', { from: 'c' })
// @ts-expect-error no checkpoint to fork from
void app.fork('t', { update: { log: [] } })
// @ts-expect-error an edit of no known field
void app.fork('t', { from: 'c', update: { logs: [] } })
// @ts-expect-error an edit of the wrong type
void app.fork('t', { from: 'c', update: { log: 'x' } })
// @ts-expect-error an edit of a field that has to be there leaves it out, or gives a value
void app.fork('t', { from: 'c', update: { question: undefined } })
// An edit replaces what a reducer would fold into: it takes a value of the field, not an update.
const lists = compile(
  graph({
    name: 'lists',
    state: {
      size: reduced(z.number().default(0), (now: number, word: string) => now + word.length),
    },
    nodes: { a: () => ({ size: 'word' }) },
    edges: { start: 'a', a: 'end' },
  }),
)
void lists.fork('t', { from: 'c', update: { size: 3 } })
// @ts-expect-error what the reducer takes is no value
void lists.fork('t', { from: 'c', update: { size: 'word' } })

// --- events
const live = app.stream({ thread: 't', input: { question: '' } })
same<typeof live, LiveRun<'think' | 'act', State, { token: string }>>(true)
same<Awaited<typeof live.id>, string>(true)
for await (const event of live) {
  if (event.kind === 'node_start') same<typeof event.node, 'think' | 'act'>(true)
  if (event.kind === 'backend') same<typeof event.data, { token: string }>(true)
  if (event.kind === 'done') same<typeof event.state, State>(true)
  if (event.kind === 'step') same<typeof event.next, readonly ('think' | 'act')[]>(true)
  if (event.kind === 'wait') same<typeof event.payload, unknown>(true)
  // @ts-expect-error only `backend` events carry data
  void event.data
}
export function exhaustive(event: StreamEvent): string {
  switch (event.kind) {
    case 'node_start':
    case 'node_end':
    case 'backend':
    case 'interrupt':
      return event.node
    case 'wait':
      return event.wakeAt
    case 'step':
    case 'done':
      return event.checkpoint
  }
}

// --- outcomes
const outcome = await app.run({ thread: 't' })
same<typeof outcome.state, State>(true)
if (outcome.status === 'interrupted') {
  same<typeof outcome.interruptions, readonly Interruption[]>(true)
}
if (outcome.status === 'waiting') same<typeof outcome.timers, readonly Timer[]>(true)
// @ts-expect-error questions only when interrupted
void outcome.interruptions
// @ts-expect-error a run that failed throws
if (outcome.status === 'error') throw outcome

// --- reading
const now = await app.state('t')
same<typeof now, Snapshot<State, 'think' | 'act'> | undefined>(true)
const inner = await app.state('t', { ns: ['think'] })
// Inside a child graph nothing is known about names and state.
same<typeof inner, Snapshot | undefined>(true)
for await (const at of app.history('t')) same<typeof at, Snapshot<State, 'think' | 'act'>>(true)

// --- errors narrow by code and by class
export function handle(error: unknown): string {
  if (isHeddleError(error, 'thread_paused')) return error.details.interruptions.join()
  if (error instanceof ThreadBusy) return error.details.thread
  if (isHeddleError(error)) return explain(error)
  return 'not ours'
}
function explain(error: AnyError): string {
  switch (error.code) {
    case 'step_limit_exceeded':
      return String(error.details.limit)
    case 'schema_error':
      return error.details.issues.map(({ message }) => message).join()
    // @ts-expect-error no such code
    case 'step_limit':
      return ''
    default:
      return error.message
  }
}

// --- stores
const stores: Store[] = [memory()]
const shared = [compile(support, { store: stores[0]! }), compile(names, { store: stores[0]! })]
// Any graph, any runner, any app: what takes one takes this one.
export function describe(any: Graph, at: Runner, here: CompiledGraph): unknown {
  return [any.name, at.threads(), here.tick()]
}
describe(support, runner, app)
void shared
