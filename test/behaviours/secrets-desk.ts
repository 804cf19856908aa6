import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import * as z from 'zod'
import {
  agent,
  compile,
  memory,
  tool,
  type CompiledGraph,
  type Hook,
  type Model,
  type Monitor,
  type Store,
} from 'heddle'
import { otel } from 'heddle/otel'
import { KEY, TEAM } from './secrets-server.ts'
import { watched, witness, type Witness } from './secrets-witness.ts'

/** An agent that is watched in every way there is. */
export interface Desk {
  readonly app: CompiledGraph
  readonly seen: Witness
  /** Runs the thread, and takes down what comes of it. */
  say(request?: { readonly signal?: AbortSignal; readonly timeout?: number }): Promise<unknown>
  /** Goes on with it. */
  goOn(): Promise<unknown>
  /** Where secrets are, after everything was read that can be. */
  leaks(): Promise<readonly string[]>
}

const thread = 't'

/** Opens a desk on a model. `tell` is what its tool does. */
export function desk(
  model: Model,
  {
    store: kept = memory(),
    hooks = [],
    tell = () => 'noted',
  }: {
    readonly store?: Store
    readonly hooks?: readonly Hook[]
    readonly tell?: () => unknown
  } = {},
): Desk {
  const note = tool({
    name: 'note',
    description: 'Notes something down.',
    input: z.object({ text: z.string() }),
    run: tell,
  })
  const seen = witness()
  const store = watched(kept, seen)
  const { hook, logger, presence } = seen
  const spans = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] })
  // With everything that it can tell.
  const trace = otel({ tracer: provider.getTracer('test'), content: true })
  const monitor: Monitor = {
    emit(event) {
      seen.monitor.emit(event)
      trace.emit(event)
    },
  }
  const teller = agent({ name: 'teller', model, instructions: 'Tell a story.', tools: [note] })
  const app = compile(teller, {
    store,
    hooks: [hook, trace, ...hooks],
    logger,
    monitor,
    presence,
    leaseMs: 100,
  }) as unknown as CompiledGraph

  async function follow(request: object): Promise<unknown> {
    const run = app.stream({ thread, user: 'ann', ...request } as never)
    try {
      for await (const event of run) seen.see('stream', event)
      const outcome = await run.outcome
      seen.see('outcome', outcome)
      return outcome
    } catch (error) {
      seen.see('error', error)
      return error
    }
  }

  return {
    app,
    seen,
    say: (request = {}) =>
      follow({ input: { messages: [{ role: 'user', text: 'Once?' }] }, ...request }),
    goOn: () => follow({}),
    async leaks() {
      await look(app, seen)
      for (const { name, attributes, events, status } of spans.getFinishedSpans())
        seen.see('span', { name, attributes, events, status })
      return seen.leaks([KEY, TEAM])
    },
  }
}

/** Reads everything that is kept of the thread, decoded. */
async function look(app: CompiledGraph, { see }: Witness): Promise<void> {
  see('state', await app.state(thread))
  see('inbox', await app.interruptions({ thread }))
  for await (const one of app.history(thread)) see('history', one)
  for (const one of await app.messages(thread)) see('message', one)
  for await (const one of app.threads()) see('thread', one)
  for await (const { id } of app.runs(thread))
    for await (const event of app.subscribe(thread, { run: id })) see('log of events', event)
  for await (const one of app.runs(thread)) see('run', one)
  see('export', await app.exportThread(thread))
}
