import { decode, encode, type Cell } from '../durable/codec.ts'
import { ToolUsageError } from '../errors.ts'
import { INSIDE } from '../hook/mark.ts'
import type { Scope } from '../scope/scope.ts'
import type { Inside, NodeInside } from '../tool/inside.ts'
import type { AskOptions, CallOptions, PauseOptions } from '../graph/context.ts'
import type { Graph } from '../graph/graph.ts'
import { plan } from '../graph/plan.ts'
import type { Question } from '../graph/question.ts'
import type { Generate } from '../model/ask.ts'
import type { Model } from '../model/model.ts'
import type { Call, Tool } from '../tool/tool.ts'
import { child } from './child.ts'
import { ask } from './generate.ts'
import { once } from './once.ts'
import { interrupt } from './interrupt.ts'
import { sleep, wait } from './wait.ts'
import type { Calls } from './calls.ts'
import type { Execution } from './execution.ts'
import { machineOf, type Machine } from './machine.ts'
import { meterOf } from './meter.ts'
import type { App } from './run.ts'

const READY: Promise<void> = /* @__PURE__ */ Promise.resolve()

/** What is its own of a call of a tool, or of a request to a model, that a node makes. */
export interface Within {
  calls(): Calls
  readonly signal: AbortSignal
  readonly inside: Inside
  readonly agent?: string | undefined
  /** Whether what is called may still do something. */
  alive(): boolean
}

/** What a node sees of its execution. One attempt, one context: a late call of an attempt that is over does nothing. */
export class NodeContext {
  readonly #execution: Execution
  readonly #attempt: number
  readonly #within: Within | undefined
  #signal: AbortSignal | undefined

  constructor(execution: Execution, within?: Within) {
    this.#execution = execution
    this.#attempt = execution.attempt
    this.#within = within
  }

  get #calls(): Calls {
    return this.#within?.calls() ?? this.#execution.calls
  }

  get #run(): Execution['step']['level']['run'] {
    return this.#execution.step.level.run
  }
  get thread(): string {
    return this.#run.claim.head.thread
  }
  get tenant(): string | undefined {
    return this.#run.claim.head.tenant || undefined
  }
  get run(): string {
    return this.#run.id
  }
  get step(): number {
    return this.#execution.step.level.stepNo
  }
  get node(): string {
    return this.#execution.node.name
  }
  get ns(): readonly string[] {
    return [...this.#execution.step.level.ns]
  }
  get task(): string {
    return this.#execution.task.id
  }
  get item(): unknown {
    const { item } = this.#execution.task
    return item === undefined ? undefined : decode(item)
  }
  get user(): string | undefined {
    return this.#run.user
  }
  get metadata(): unknown {
    return structuredClone(this.#run.claim.head.metadata)
  }
  get signal(): AbortSignal {
    return (this.#signal ??= this.#within?.signal ?? this.#execution.signalOf(this.#attempt))
  }
  get scope(): Scope {
    return this.#run.belongings.scope
  }
  get agent(): string | undefined {
    return this.#within?.agent
  }
  get [INSIDE](): Inside | NodeInside {
    if (this.#within) return this.#within.inside
    const run = this.#run
    return {
      calls: this.#calls,
      model: run.local.model,
      deep: run.local.deep === true,
      host: run.hooked.host,
      get used() {
        return meterOf(run).used
      },
      report: (event) => report(this.#execution, event),
    }
  }
  now(): number {
    return this.#run.app.owner.clock.now()
  }

  /** Queued at the call; settles when the reader has room. */
  get emit(): (event: unknown) => Promise<void> {
    const execution = this.#execution
    const attempt = this.#attempt
    return (event) => (execution.alive(attempt) ? emit(execution, event) : READY)
  }

  interrupt(
    payload?: unknown,
    options?: PauseOptions | AskOptions<unknown> | Question,
  ): Promise<unknown> {
    return this.#call(() => interrupt(this.#calls, payload, options), true)
  }
  wait(wakeAt: string | Date, payload?: unknown, options?: PauseOptions): Promise<unknown> {
    return this.#call(() => wait(this.#calls, wakeAt, payload, options), true)
  }
  sleep(ms: number, options?: PauseOptions): Promise<unknown> {
    return this.#call(() => sleep(this.#calls, ms, options), true)
  }
  once(key: string, work: () => unknown): Promise<unknown> {
    return this.#call(() => once(this.#calls, key, work))
  }
  child(
    graph: Graph,
    input: unknown,
    options?: PauseOptions & { readonly emit?: (event: unknown) => unknown },
  ): Promise<unknown> {
    return this.#call(() => child(this.#calls, plan(graph), input, options))
  }

  call(tool: Tool | string, args: unknown, options?: CallOptions): Promise<unknown> {
    return this.#call(() => machineFor(this.#run.app, tool).call(this.#calls, tool, args, options))
  }
  callAll(calls: readonly Call[]): Promise<unknown> {
    return this.#call(() => machineFor(this.#run.app).callAll(this.#calls, calls))
  }
  generate(model: Model, request: Generate<unknown>): Promise<unknown> {
    return this.#call(() => ask(this.#calls, model, request, { record: true }))
  }

  protected alive(): boolean {
    const { signal, alive } = this.#within ?? {}
    return this.#execution.alive(this.#attempt) && !signal?.aborted && alive?.() !== false
  }

  /** Pauses and stored work belong to a node that runs; afterwards they never settle, as nobody could hear of it. */
  #call(work: () => Promise<unknown>, pauses = false): Promise<unknown> {
    const execution = this.#execution
    // A pause that is reached late is recorded with the others, if they are still waited for.
    const paused =
      pauses &&
      !this.#within &&
      execution.status === 'paused' &&
      execution.attempt === this.#attempt &&
      !execution.step.stopped
    if (!paused && !this.alive()) return new Promise(() => {})
    const result = tried(work)
    // A node may drop the promise: its failure is the node's business only if the node looks.
    result.catch(() => {})
    return result
  }
}

/** What runs tools: each brings it along, so that an app without tools has none of it. */
function machineFor({ plan: { name }, tools }: App, tool?: Tool | string): Machine {
  const given = typeof tool === 'object' ? tool : [...tools.values()][0]
  const machine = given && machineOf(given)
  if (machine) return machine
  const what = typeof tool === 'string' ? `tool "${tool}"` : 'tools'
  throw new ToolUsageError(
    `Cannot call ${what} in graph "${name}": ${given ? 'it was not made by tool()' : 'it was compiled without tools'}`,
    typeof tool === 'string' ? { tool } : {},
  )
}

/** Calls, and makes a rejection of what is thrown at once. */
function tried(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return work()
  } catch (error) {
    return Promise.reject(error)
  }
}

/** Sends an event of a node to the graph's stream; a child's goes to the node that runs it. */
function emit(execution: Execution, event: unknown, origin = true): Promise<void> {
  const { level } = execution.step
  try {
    const cell = encode(event, execution.node.name, 'event')
    if (origin) hear(execution, cell)
    if (level.parent) {
      const mapped = level.emit ? level.emit(decode(cell)) : decode(cell)
      return level.emit && mapped === undefined
        ? READY
        : emit(level.parent.execution, mapped, false)
    }
    const { node, task, index } = execution
    const told = level.log.tell(
      () => ({ kind: 'backend', node: node.name, task: task.id, data: decode(cell) }),
      [index, 'data', cell],
    )
    level.log.flushSoon()
    return told ?? READY
  } catch (error) {
    const refused = Promise.reject(error)
    refused.catch(() => {})
    return refused
  }
}

/** Tells hooks of an event where it comes from, once, whatever graphs around make of it. */
function hear({ step: { level }, node }: Execution, event: Cell): void {
  const { run, ns, stepNo } = level
  if (run.hooked.listeners.length === 0) return
  const { thread } = run.claim.head
  run.belongings.report({ thread, run: run.id, ns, step: stepNo, node: node.name }, event)
}

/** Tells hooks of what isn't the graph's. */
function report(execution: Execution, event: unknown): void {
  try {
    hear(execution, encode(event, execution.node.name, 'event'))
  } catch (error) {
    execution.step.level.run.app.logger.warn('What was to be reported cannot be', { error })
  }
}
