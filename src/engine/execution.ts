import type { Task } from '../durable/checkpoint.ts'
import { isHeddleError } from '../errors.ts'
import { later } from '../lib/clock.ts'
import { isGoto } from '../graph/graph.ts'
import { targets, type PlanNode, type PlanTarget } from '../graph/plan.ts'
import { Calls } from './calls.ts'
import { isPromise, take, type Update } from './take.ts'
import type { Step } from './step.ts'
import { view } from './view.ts'

/** The only failures of ours that another attempt may mend. */
const PASSING = ['model_error', 'unreachable']

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
  /** It waits for an answer or a clock, recorded or not. */
  pausing = false
  /** Work of ours under way inside the node, which a pause waits for. */
  busy = 0
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

  /** Whether this attempt may still do something. */
  alive(attempt: number): boolean {
    const stopped = this.#stopped ?? this.step.stopped
    return this.status === 'running' && this.attempt === attempt && !stopped
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
    if (attempt !== this.attempt) return AbortSignal.abort()
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
    this.pausing = false
    this.busy = 0
    if (attempt > 1) this.#calls?.again()
    const started = 2 * this.index
    level.log.tell(
      () => ({ kind: 'node_start', node: this.node.name, task: this.task.id, attempt }),
      attempt === 1 ? started : [this.index, attempt],
    )
    const { timeout } = this.node
    if (timeout !== undefined)
      this.#timer = later(run.app.owner.clock, timeout, () => this.#timeout(attempt, timeout))
    const failed = (error: unknown): void => this.#failed(attempt, error)
    let result: unknown
    try {
      result = this.node.run(view(level.state), run.app.context(this) as never)
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

  /** Validates what the node returned and counts it. A pause that was reached outweighs it. */
  #accept(attempt: number, value: unknown): void {
    if (!this.alive(attempt) || this.pausing) return
    const { plan } = this.step.level
    let update: Update | Promise<Update>
    try {
      if (isGoto(value)) {
        this.gotoNames = ([] as string[]).concat(value.goto)
        this.goto = targets(plan, this.gotoNames.map(String), this.node.name)
        value = value.update
      }
      update = take(plan, value, { graph: plan.name, node: this.node.name })
    } catch (error) {
      return this.fail(error)
    }
    if (!isPromise(update)) return this.#finish(update)
    update.then(
      (late) => this.alive(attempt) && this.#finish(late),
      (error: unknown) => (this.alive(attempt) ? this.fail(error) : this.step.late(error)),
    )
  }

  #finish(update: Update): void {
    this.update = update
    this.status = 'done'
    this.#clear()
    this.step.landed(this)
  }

  #failed(attempt: number, error: unknown): void {
    if (!this.alive(attempt)) {
      // A node that stops as it was told to.
      if (error !== this.#stopped?.reason) this.step.late(error)
      return
    }
    if (this.pausing) return
    const { retry } = this.node
    try {
      // Another attempt could store nothing after a commit has failed.
      const { failure } = this.step.level.run.claim
      const hopeless = failure ?? (isHeddleError(error) && !PASSING.includes(error.code))
      if (!retry || attempt >= retry.attempts || hopeless || retry.when?.(error) === false)
        return this.fail(error)
    } catch (late) {
      return this.fail(late)
    }
    this.#clear()
    this.#halt(error)
    const { clock, random } = this.step.level.run.app.owner
    const delay = Math.min(retry.delay * retry.factor ** (attempt - 1), retry.maxDelay)
    const fewer = Math.round(delay * (1 - retry.jitter * random()))
    this.#timer = later(clock, fewer, () => this.run())
  }

  #timeout(attempt: number, ms: number): void {
    // A node that waits is not late; one that waits and still has work under way is.
    if (!this.alive(attempt) || (this.pausing && this.busy === 0)) return
    this.pausing = false
    const what = `Node "${this.node.name}" took longer than ${ms} ms`
    const error = new DOMException(what, 'TimeoutError')
    this.#failed(attempt, error)
    this.#halt(error)
  }

  /** Ends the step: this task can't be finished. */
  fail(error: unknown): void {
    if (this.status !== 'running') return this.step.late(error)
    this.status = 'failed'
    this.#clear()
    // Child graphs beside the one that failed stop too.
    this.#halt(error)
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
    this.#calls?.halt(reason)
  }

  #clear(): void {
    this.#timer?.()
    this.#timer = undefined
    for (const { held } of this.#calls?.all ?? [])
      for (const one of held.splice(0)) one.goOn('stopped')
  }
}
