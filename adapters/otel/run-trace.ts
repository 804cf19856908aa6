import { context, SpanKind, SpanStatusCode } from '@opentelemetry/api'
import type { Context, Link, SpanContext, Tracer } from '@opentelemetry/api'
import type { NodeInvocation, RunContext } from '../../src/index.ts'
import { known } from './attributes.ts'
import { Part, type Made } from './part.ts'

/** How a run came to its end; nothing where no monitor tells. */
export type Ending = 'success' | 'interrupted' | 'waiting' | 'cancelled' | 'error' | undefined

/** A call or a request under way, and where. */
interface Place {
  readonly ns: readonly string[]
  readonly node: string | undefined
  readonly step: number | undefined
}

/** What one run has begun. */
export interface Begun {
  readonly run: string
  readonly thread: string | undefined
  /** The run that it continues, and its span if it ended in this process. */
  readonly continues?: string | undefined
  readonly link?: SpanContext | undefined
}

/** The spans of one run: it, the agents in it, and what they ask and call. */
export class RunTrace {
  readonly #tracer: Tracer
  readonly #thread: string | undefined
  readonly #run: Part
  #name: string | undefined
  /** By namespace and name. */
  readonly #agents = new Map<string, { readonly part: Part; readonly ns: readonly string[] }>()
  readonly #open = new Map<Part, Place>()
  /** The step in which a node was entered last, by namespace and node. */
  readonly #rounds = new Map<string, number | undefined>()
  /** Forgets the run where it would be closed with its scope. */
  release: (() => void) | undefined

  constructor(tracer: Tracer, { run, thread, continues, link }: Begun) {
    this.#tracer = tracer
    this.#thread = thread
    const around = context.active()
    const attributes = known({
      'gen_ai.operation.name': 'invoke_workflow',
      'gen_ai.conversation.id': thread,
      'heddle.run.id': run,
      'heddle.run.continues': continues,
    })
    const links: Link[] = link ? [{ context: link }] : []
    const made = { name: 'invoke_workflow', kind: SpanKind.INTERNAL, attributes, links }
    this.#run = new Part(tracer, made, () => around)
    // From the start: what has no span can't be linked to.
    void this.#run.span
  }

  get spanContext(): SpanContext {
    return this.#run.span.spanContext()
  }

  /** A node is entered: what was begun in the steps before is over. */
  node({ flow, node, ctx }: NodeInvocation): void {
    const { ns, step } = ctx
    if (ns.length === 0 && this.#name === undefined) {
      this.#name = flow
      this.#run.span
        .updateName(`invoke_workflow ${flow}`)
        .setAttribute('gen_ai.workflow.name', flow)
    }
    const key = keyOf([...ns, node])
    if (this.#rounds.get(key) === step) return
    this.#rounds.set(key, step)
    for (const [name, { part, ns: where }] of this.#agents) {
      if (!isUnder(where, ns) || nodeOf(where[ns.length]) !== node) continue
      part.end({}, part.last)
      this.#agents.delete(name)
    }
    for (const [part, place] of this.#open)
      if (keyOf(place.ns) === keyOf(ns) && place.step !== step) this.#drop(part)
  }

  /** A call or a request begins. */
  begin(made: Made, ctx: RunContext): Part {
    const { ns, node, step } = ctx
    const { agent } = ctx as { readonly agent?: string }
    const from = agent === undefined ? undefined : this.#agent(ns, agent)
    const part = new Part(this.#tracer, made, () => (from ? from.context : this.#within(ns)))
    this.#open.set(part, { ns, node, step })
    if (!from) return part
    from.error = undefined
    // What is resumed may call before it asks.
    if (!from.model && part.model) from.ask(made.attributes)
    return part
  }

  /** A call or a request is over; its span has ended. */
  ended(part: Part): void {
    const place = this.#open.get(part)
    this.#open.delete(part)
    if (!place) return
    for (const { part: agent } of this.#at(place.ns)) {
      agent.last = Date.now()
      // Failed is what asks a model in vain, and begins nothing after that.
      if (part.model) agent.error = part.error
    }
  }

  /** The run is over. What is still open was paused or stopped. */
  finish(status: Ending, errorType?: string): void {
    const how = status === 'interrupted' || status === 'waiting' ? 'paused' : 'stopped'
    for (const part of this.#open.keys()) part.end({ 'heddle.ended': how })
    this.#open.clear()
    for (const { part } of this.#agents.values()) part.end({}, part.last)
    this.#agents.clear()
    if (status === 'error') this.#run.span.setStatus({ code: SpanStatusCode.ERROR })
    this.#run.end(known({ 'heddle.run.status': status, 'error.type': errorType }))
  }

  /** Called never, as it was denied: it has no span, unless something began in it. */
  #drop(part: Part): void {
    this.#open.delete(part)
    if (part.seen) part.end()
  }

  #agent(ns: readonly string[], agent: string): Part {
    const key = keyOf([...ns, agent])
    const found = this.#agents.get(key)
    if (found) return found.part
    const attributes = known({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': agent,
      'gen_ai.conversation.id': this.#thread,
    })
    const made = { name: `invoke_agent ${agent}`, kind: SpanKind.INTERNAL, attributes }
    const part = new Part(this.#tracer, made, () => this.#around(ns))
    this.#agents.set(key, { part, ns })
    return part
  }

  #at(ns: readonly string[]): { readonly part: Part }[] {
    const key = keyOf(ns)
    return [...this.#agents.values()].filter((one) => keyOf(one.ns) === key)
  }

  /** What something in a graph begins in: its agent, if it is one's. */
  #within(ns: readonly string[]): Context {
    const [one, ...others] = this.#at(ns)
    return one && others.length === 0 ? one.part.context : this.#around(ns)
  }

  /** What a graph runs in: the call of a tool, as far as it is certain which; else what its node is part of. */
  #around(ns: readonly string[]): Context {
    if (ns.length === 0) return this.#run.context
    const outer = ns.slice(0, -1)
    const node = nodeOf(ns.at(-1))
    const [one, ...others] = [...this.#open].filter(
      ([, place]) => keyOf(place.ns) === keyOf(outer) && place.node === node,
    )
    return one && others.length === 0 ? one[0].context : this.#within(outer)
  }
}

const keyOf = (names: readonly string[]): string => JSON.stringify(names)

/** Whether a namespace lies in another. */
const isUnder = (ns: readonly string[], outer: readonly string[]): boolean =>
  ns.length > outer.length && outer.every((name, n) => name === ns[n])

/** The node that a part of a namespace stands for: each item of an `each` has one of its own. */
const nodeOf = (part: string | undefined): string | undefined => part?.replace(/#\d+$/, '')
