import { decode, type Cell } from '../durable/codec.ts'
import type { Task } from '../durable/checkpoint.ts'
import type { Entry, ResultEntry } from '../durable/journal.ts'
import type { PauseRecord } from '../durable/pause.ts'
import { isHeddleError } from '../errors.ts'
import type { JsonSchema } from '../schema.ts'
import { isGoto } from '../graph/graph.ts'
import { targets, type PlanNode, type PlanTarget } from '../graph/plan.ts'
import { NodeContext } from './context.ts'
import type { Level } from './level.ts'
import { isPromise, take, type Update } from './take.ts'
import { view } from './view.ts'

/** A pause that a task has reached and no record exists of yet. */
export interface Ask {
  readonly execution: Execution
  readonly place: string
  readonly kind: PauseRecord['kind']
  readonly payload: Cell
  readonly key?: string
  readonly due?: number
  readonly schema?: JsonSchema
}

/** A question that found no record of its own, while an answer waits for a call that may still come. */
export interface Held {
  readonly group: string
  /** Asks it as a new question. */
  ask(): void
  cancel(): void
}

/** The only failures of ours that another attempt may mend. */
const PASSING = ['model_error', 'unreachable']

/** One task of a step on its way: a node that runs, is tried again, pauses, finishes or fails. */
export class Execution {
  readonly step: Step
  readonly task: Task
  readonly node: PlanNode
  status: 'ready' | 'running' | 'done' | 'paused' | 'failed' = 'ready'
  attempt = 0
  update: Update = []
  goto: readonly PlanTarget[] | undefined
  gotoNames: readonly string[] | undefined
  /** Its result is in the journal. */
  saved = false
  readonly asks: Ask[] = []
  /** What the journal gets when the task pauses: waits that were over at once. */
  readonly notes: Entry[] = []
  held: Held[] = []
  /** It waits for an answer or a clock, recorded or not. */
  pausing = false
  /** Work of ours under way inside the node, which a pause waits for. */
  busy = 0
  /** How many calls of each kind were made in this attempt. */
  #calls: Map<string, number> = new Map()
  /** Places that were given out in this attempt. */
  used: Set<string> = new Set()
  /** Work under `once`, by place. */
  readonly works: Map<string, Promise<Cell>> = new Map()
  readonly children: Set<Level> = new Set()
  #controller: AbortController | undefined
  #timer: (() => void) | undefined
  #stopped: { readonly reason: unknown } | undefined

  constructor(step: Step, task: Task, node: PlanNode) {
    this.step = step
    this.task = task
    this.node = node
  }

  /** Whether this attempt may still do something. */
  alive(attempt: number): boolean {
    return this.status === 'running' && this.attempt === attempt && this.step.stopped === undefined
  }

  /** The number of a call in its group, counted in the order of the calls. */
  count(group: string): number {
    const n = this.#calls.get(group) ?? 0
    this.#calls.set(group, n + 1)
    return n
  }

  /** Aborts when the node must stop. Made when first asked for. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      const stopped = this.#stopped ?? this.step.stopped
      if (stopped) this.#controller.abort(stopped.reason)
    }
    return this.#controller.signal
  }

  /** Tries the node once. */
  run(): void {
    const { level } = this.step
    const { run } = level
    const attempt = ++this.attempt
    this.status = 'running'
    this.#controller = this.#stopped = undefined
    if (attempt > 1) {
      this.#calls = new Map()
      this.used = new Set()
    }
    level.tell('node_start', () => ({ node: this.node.name, task: this.task.id, attempt }))
    const { timeout } = this.node
    if (timeout !== undefined)
      this.#timer = run.app.owner.clock.after(timeout, () => this.#timeout(attempt, timeout))
    let result: unknown
    try {
      result = this.node.run(view(level.state), new NodeContext(this) as never)
    } catch (error) {
      return this.#failed(attempt, error)
    }
    if (isPromise(result))
      result.then(
        (value) => this.#accept(attempt, value),
        (error: unknown) => this.#failed(attempt, error),
      )
    else this.#accept(attempt, result)
  }

  /** Validates what the node returned and counts it. A pause that was reached outweighs it. */
  #accept(attempt: number, value: unknown): void {
    if (!this.alive(attempt) || this.pausing) return
    const { plan } = this.step.level
    try {
      if (isGoto(value)) {
        this.goto = targets(plan, value.goto, this.node.name)
        this.gotoNames = ([] as string[]).concat(value.goto)
        value = value.update
      }
      const update = take(plan, value, { graph: plan.name, node: this.node.name })
      if (!isPromise(update)) return this.#finish(update)
      update.then(
        (late) => this.alive(attempt) && this.#finish(late),
        (error: unknown) => this.fail(error),
      )
    } catch (error) {
      this.fail(error)
    }
  }

  #finish(update: Update): void {
    this.update = update
    this.status = 'done'
    this.#clear()
    this.step.landed(this)
  }

  #failed(attempt: number, error: unknown): void {
    if (!this.alive(attempt)) return this.step.late(error)
    if (this.pausing) return
    const { retry } = this.node
    try {
      const hopeless = isHeddleError(error) && !PASSING.includes(error.code)
      if (!retry || attempt >= retry.attempts || hopeless || retry.when?.(error) === false)
        return this.fail(error)
    } catch (broken) {
      return this.fail(broken)
    }
    this.#clear()
    this.#halt(error)
    const { clock, random } = this.step.level.run.app.owner
    const delay =
      Math.min(retry.delay * retry.factor ** (attempt - 1), retry.maxDelay) *
      (1 - retry.jitter * random())
    this.#timer = clock.after(delay, () => this.alive(attempt) && this.run())
  }

  #timeout(attempt: number, ms: number): void {
    if (!this.alive(attempt) || this.pausing) return
    const error = new DOMException(
      `Node "${this.node.name}" took longer than ${ms} ms`,
      'TimeoutError',
    )
    this.#halt(error)
    this.#failed(attempt, error)
  }

  /** Ends the step: this task can't be finished. */
  fail(error: unknown): void {
    if (this.status !== 'running') return this.step.late(error)
    this.status = 'failed'
    this.#clear()
    this.step.stop(error)
  }

  /** Makes the task wait once nothing of ours is under way in it. */
  pause(): void {
    this.pausing = true
    this.quiet()
  }

  /** Looks, a few turns later, whether the task does nothing but wait; calls made at once are caught together. */
  quiet(): void {
    if (!this.pausing || this.busy > 0) return
    const { attempt } = this
    let turns = 8
    const look = (): void => {
      if (this.busy > 0 || !this.alive(attempt)) return
      if (turns-- > 0) return void Promise.resolve().then(look)
      this.status = 'paused'
      this.#clear()
      this.step.settle()
    }
    look()
  }

  /** Stops what runs inside: the node's signal aborts, child graphs stop. */
  stop(reason: unknown): void {
    this.#clear()
    if (this.status === 'running') this.#halt(reason)
  }

  #halt(reason: unknown): void {
    this.#stopped = { reason }
    this.#controller?.abort(reason)
    for (const child of this.children) child.step?.stop(reason)
  }

  #clear(): void {
    this.#timer?.()
    this.#timer = undefined
    for (const { cancel } of this.held) cancel()
    this.held = []
  }

  /** The journal's entry for a finished task. */
  entry(): Entry {
    const { fields } = this.step.level.plan
    return {
      kind: 'result',
      task: this.task.id,
      update: this.update.map(
        ([i, value]) => [(fields[i] as { name: string }).name, value] as const,
      ),
      ...(this.gotoNames && { goto: this.gotoNames }),
    }
  }

  /** Takes over a result from the journal. */
  restore({ update, goto }: ResultEntry): void {
    const { plan } = this.step.level
    this.update = update.flatMap(([name, value]) => {
      const i = plan.index.get(name)
      return i === undefined ? [] : [[i, value] as Update[number]]
    })
    this.gotoNames = goto
    this.goto = goto && targets(plan, goto, this.node.name)
    this.saved = true
    this.status = 'done'
  }

  /** What the node changed, for those who watch. */
  shown(): Record<string, unknown> {
    const { fields } = this.step.level.plan
    return Object.fromEntries(
      this.update.map(([i, value]) => {
        const { name, kind } = fields[i] as { name: string; kind: string }
        return [name, kind === 'list' ? (value as Cell[]).map(decode) : decode(value as Cell)]
      }),
    )
  }
}

/** What runs at once, and one promise that settles when all of it has finished, paused or been stopped. */
export class Step {
  readonly level: Level
  readonly executions: readonly Execution[]
  readonly done: Promise<void>
  stopped: { readonly reason: unknown } | undefined
  #left = 0
  #started = 0
  #wake: () => void = () => {}
  #unsaved: Execution[] = []
  #saving: Promise<void> | undefined
  #onStop: ((reason: unknown) => void) | undefined

  constructor(level: Level) {
    this.level = level
    const { run } = level
    this.executions = level.next.map(({ task, node }) => new Execution(this, task, node))
    this.done = new Promise((resolve) => (this.#wake = resolve))
    for (const execution of this.executions) {
      const known = run.journal.of(execution.task.id)?.result
      if (known) execution.restore(known)
      else if (run.waits(execution.task.id)) execution.status = 'paused'
      else this.#left++
    }
    if (this.#left === 0) this.#wake()
  }

  /** Starts what may run now. */
  begin(): void {
    const { concurrency } = this.level.run.app
    for (; this.#started < this.executions.length && !this.stopped; this.#started++) {
      if (this.#running() >= concurrency) return
      const execution = this.executions[this.#started] as Execution
      if (execution.status === 'ready') execution.run()
    }
  }

  #running(): number {
    if (this.level.run.app.concurrency === Infinity) return 0
    return this.executions.filter(({ status }) => status === 'running').length
  }

  /** A task has finished: its result is stored at once, unless the step's own commit will do it. */
  landed(execution: Execution): void {
    this.#unsaved.push(execution)
    const { durable } = this.level.run
    if (!durable) this.told(execution)
    if (this.settle() > 0 && durable) this.#saving ??= this.#save()
  }

  /** A task has finished or pauses. */
  settle(): number {
    if (--this.#left === 0) this.#wake()
    else if (this.#started < this.executions.length) this.begin()
    return this.#left
  }

  async #save(): Promise<void> {
    await Promise.resolve()
    try {
      while (this.#unsaved.length > 0 && this.#left > 0 && !this.stopped) await this.keep()
    } catch (error) {
      this.stop(error)
    }
    this.#saving = undefined
  }

  /** Stores the results that only this process knows. */
  async keep(): Promise<void> {
    const results = this.unsaved()
    if (results.length === 0) return
    const { claim } = this.level.run
    await claim.commit({ puts: results.map((execution) => claim.entry(execution.entry())) })
    for (const execution of results) this.told(execution)
  }

  /** Hands over the results that are not stored yet, in the order in which they came. */
  unsaved(): Execution[] {
    const results = this.#unsaved
    this.#unsaved = []
    return results
  }

  /** A result is stored. */
  told(execution: Execution): void {
    if (execution.saved) return
    execution.saved = true
    this.level.tell('node_end', () => ({
      node: execution.node.name,
      task: execution.task.id,
      update: execution.shown(),
    }))
  }

  /** Waits for results on their way to the store. */
  async saved(): Promise<void> {
    await this.#saving
  }

  /** The first failure, or an abort: wakes the run and tells every task. */
  stop(reason: unknown): void {
    if (this.stopped) return
    this.stopped = { reason }
    for (const execution of this.executions) execution.stop(reason)
    this.#onStop?.(reason)
    this.#wake()
  }

  /** An error nobody waits for any more. */
  late(error: unknown): void {
    const { reason } = this.stopped ?? {}
    if (error === reason || (error as Error | undefined)?.name === 'AbortError') return
    this.level.run.app.logger.warn('A node failed after its step had ended', {
      graph: this.level.plan.name,
      error,
    })
  }

  /** Waits for user code that runs between tasks; a stop ends the wait. */
  until<Value>(work: PromiseLike<Value>): Promise<Value> {
    if (this.stopped) return Promise.reject(this.stopped.reason)
    return new Promise<Value>((resolve, reject) => {
      this.#onStop = reject
      work.then(resolve, reject)
    })
  }
}
