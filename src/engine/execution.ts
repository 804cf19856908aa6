import type { Task } from '../durable/checkpoint.ts'
import { later } from '../lib/clock.ts'
import { delayAfter } from '../lib/retry.ts'
import type { PlanNode, PlanTarget } from '../graph/plan.ts'
import { Calls, type Counted } from './calls.ts'
import { timeLimit } from './limit.ts'
import { around, type Around } from './node-hooks.ts'
import { lookUp, type Keeping } from './recall.ts'
import { accepted } from './result.ts'
import { isPromise, type Update } from './take.ts'
import type { Step } from './step.ts'
import { view } from './view.ts'

/** One task of a step on its way: a node that runs, is tried again, pauses, finishes or fails. */
export class Execution {
  readonly step: Step
  readonly task: Task
  readonly node: PlanNode
  /** Its number in the step. */
  readonly index: number
  status: 'ready' | 'running' | 'done' | 'paused' | 'failed' = 'ready'
  attempt = 0
  update: Update = []
  goto: readonly PlanTarget[] | undefined
  gotoNames: readonly string[] | undefined
  /** Its result is in the journal. */
  saved = false
  /** Its result came from the cache; or where it is kept. */
  cached = false
  keeping: Keeping | undefined
  /** It waits for an answer or a clock, recorded or not. */
  pausing = false
  /** Work of ours under way inside the node, which a pause waits for. */
  busy = 0
  /** The hooks around all its attempts, if there are any. */
  around: Around | undefined
  #calls: Calls | undefined
  #controller: AbortController | undefined
  #timer: (() => void) | undefined
  #stopped: { readonly reason: unknown } | undefined

  constructor(step: Step, task: Task, node: PlanNode, index: number) {
    this.step = step
    this.task = task
    this.node = node
    this.index = index
  }

  /** Whether this attempt may still do something; 0 is that of the hooks around all the others. */
  alive(attempt: number): boolean {
    if (this.status !== 'running' || this.step.stopped) return false
    return attempt === 0 || (this.attempt === attempt && !this.#stopped)
  }

  /** What the node asked of us; made when it first does. */
  get calls(): Calls {
    return (this.#calls ??= new Calls(this, this.task.id))
  }

  get asked(): Calls | undefined {
    return this.#calls
  }

  /** Aborts when the attempt must stop. Made when first asked for. */
  signalOf(attempt: number): AbortSignal {
    if (attempt === 0 && this.around) return this.around.signal
    if (attempt !== this.attempt) return AbortSignal.abort()
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      const stopped = this.#stopped ?? this.step.stopped
      if (stopped) this.#controller.abort(stopped.reason)
    }
    return this.#controller.signal
  }

  /** Enters the node: by way of its hooks, if there are any. */
  begin(): void {
    this.around = around(this)
    if (this.around) this.around.begin()
    else this.run()
  }

  /** Tries the node once. */
  run(): void {
    this.#next(this.around?.counted)
    const { attempt } = this
    if (attempt > 1 || !this.around) this.step.level.log.tellStart(this, attempt)
    if (this.node.timeout !== undefined) this.limit((error) => this.#failed(attempt, error))
    if (!this.node.cache) return this.#enter(attempt)
    const accept = (value: unknown): void => this.#accept(attempt, value)
    const failed = (error: unknown): void => this.#failed(attempt, error)
    lookUp(this, attempt, accept, () => this.#enter(attempt)).catch(failed)
  }

  #enter(attempt: number): void {
    const { level } = this.step
    const failed = (error: unknown): void => this.#failed(attempt, error)
    let result: unknown
    try {
      result = this.node.run(view(level.state), level.run.app.context(this) as never)
      // A thenable is only looked at by the platform, which bears with whatever it does.
      if (isPromise(result)) {
        Promise.resolve(result).then((value) => this.#accept(attempt, value), failed)
        return
      }
    } catch (error) {
      return failed(error)
    }
    this.#accept(attempt, result)
  }

  /** What goes before has no say any more: another attempt begins, or hooks after the last. */
  #next(counted?: Counted): void {
    this.attempt++
    this.status = 'running'
    this.#controller = this.#stopped = undefined
    this.pausing = false
    this.busy = 0
    if (this.attempt > 1) this.#calls?.again(counted)
  }

  /** The last attempt is over: it is the turn of hooks. */
  turn(counted?: Counted): void {
    this.free()
    this.#next(counted)
  }

  /** Validates what the node returned and counts it. A pause that was reached outweighs it. */
  #accept(attempt: number, value: unknown): void {
    if (!this.alive(attempt) || this.pausing) return
    if (!this.cached) this.keeping?.take(value)
    let update: Update | Promise<Update>
    try {
      update = accepted(this, value)
    } catch (error) {
      return this.#refused(attempt, error)
    }
    if (!isPromise(update)) return this.#finish(update)
    update.then(
      (late) => this.alive(attempt) && this.#finish(late),
      (error: unknown) =>
        this.alive(attempt) ? this.#refused(attempt, error) : this.step.late(error),
    )
  }

  /** What was kept and doesn't fit the graph any more is as good as nothing. */
  #refused(attempt: number, error: unknown): void {
    if (!this.cached) return this.#over(error)
    this.cached = false
    this.goto = this.gotoNames = undefined
    this.#enter(attempt)
  }

  #finish(update: Update): void {
    this.update = update
    if (!this.cached) this.keeping?.land()
    if (this.around) this.around.returned()
    else this.land()
  }

  /** Its result counts. */
  land(): void {
    this.status = 'done'
    this.free()
    this.step.landed(this)
  }

  #failed(attempt: number, error: unknown): void {
    if (!this.alive(attempt)) {
      // A node that stops as it was told to.
      if (error !== this.#stopped?.reason) this.step.late(error)
      return
    }
    if (this.pausing) return
    const { claim, app } = this.step.level.run
    const { clock, random } = app.owner
    let delay: number | undefined
    try {
      // Another attempt could store nothing after a commit has failed.
      if (!claim.failure) delay = delayAfter(error, attempt, this.node.retry, random)
    } catch (late) {
      return this.#over(late)
    }
    if (delay === undefined) return this.#over(error)
    this.free()
    this.halt(error)
    this.#timer = later(clock, delay, () => this.run())
  }

  /** Starts the node's time, if it is limited, for what runs now. */
  limit(late: (error: unknown) => void): void {
    this.#timer = timeLimit(this, late)
  }

  /** The node has failed, and isn't tried again. */
  #over(error: unknown): void {
    if (this.around) this.around.failed(error)
    else this.fail(error)
  }

  /** Ends the step: this task can't be finished. */
  fail(error: unknown): void {
    if (this.status !== 'running') return this.step.late(error)
    this.status = 'failed'
    this.free()
    // Child graphs beside the one that failed stop too.
    this.halt(error)
    this.around?.stop(error)
    this.step.stop(error)
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
      this.free()
      this.step.settle()
    }
    look()
  }

  /** Stops what runs inside: the node's signal aborts, child graphs stop. */
  stop(reason: unknown): void {
    this.free()
    if (this.status !== 'running') return
    this.halt(reason)
    this.around?.stop(reason)
  }

  /** Stops what the last attempt has under way. */
  halt(reason: unknown): void {
    this.#stopped = { reason }
    this.#controller?.abort(reason)
    this.#calls?.halt(reason)
  }

  /** Calls off its timer, and what it held back. */
  free(): void {
    this.keeping?.end()
    this.#timer?.()
    this.#timer = undefined
    for (const { held } of this.#calls?.all ?? [])
      for (const one of held.splice(0)) one.goOn('stopped')
  }
}
