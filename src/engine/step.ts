import { Execution } from './execution.ts'
import type { Leavings } from './leave.ts'
import type { Level } from './level.ts'
import { restore, resultEntry } from './result.ts'

/** What runs at once, and one promise that settles when all of it has finished, paused or been stopped. */
export class Step {
  readonly level: Level
  readonly executions: readonly Execution[]
  /** Tasks that have neither finished nor paused. */
  left = 0
  stopped: { readonly reason: unknown } | undefined
  #started = 0
  /** Tasks that have not been started. */
  #ready = 0
  #starting = false
  #wake: (() => void) | undefined
  #unsaved: Execution[] = []
  /** Results on their way to the store, and to the cache. */
  saving: Promise<void> | undefined
  keeping: Promise<unknown> | undefined
  #onStop: ((reason: unknown) => void) | undefined
  /** What tasks leave that don't finish; see `leave`. */
  leavings: Leavings | undefined

  constructor(level: Level) {
    this.level = level
    const { run } = level
    this.executions = level.next.map(({ task, node }, i) => new Execution(this, task, node, i))
    for (const execution of this.executions) {
      const known = run.journal.of(execution.task.id)?.result
      if (known) restore(execution, known)
      else if (run.waits(execution.task.id)) execution.status = 'paused'
      else this.left = ++this.#ready
    }
  }

  /** Settles when nothing is left to wait for, or when the step is stopped. */
  done(): Promise<void> {
    return this.stopped ? Promise.resolve() : new Promise((resolve) => (this.#wake = resolve))
  }

  /** Starts what may run now. One loop does it, however many tasks finish before it is through. */
  begin(): void {
    if (this.#starting) return
    this.#starting = true
    const { concurrency } = this.level.run.app
    for (; this.#started < this.executions.length && !this.stopped; this.#started++) {
      if (this.left - this.#ready >= concurrency) break
      const execution = this.executions[this.#started] as Execution
      if (execution.status !== 'ready') continue
      this.#ready--
      execution.begin()
    }
    this.#starting = false
  }

  /** A task has finished: its result is stored at once, unless the step's own commit will do it. */
  landed(execution: Execution): void {
    this.#unsaved.push(execution)
    const { durable } = this.level.run
    if (!durable) this.level.log.tellEnd(execution)
    if (this.settle() > 0 && durable) this.saving ??= this.#save()
  }

  /** A task has finished or pauses. */
  settle(): number {
    if (--this.left === 0) this.#wake?.()
    else if (this.#started < this.executions.length) this.begin()
    return this.left
  }

  async #save(): Promise<void> {
    await Promise.resolve()
    try {
      while (this.#unsaved.length > 0 && this.left > 0 && !this.stopped) await this.keep()
    } catch (error) {
      this.stop(error)
    }
    this.saving = undefined
  }

  /** Stores the results that only this process knows. */
  async keep(): Promise<void> {
    const results = this.unsaved()
    if (results.length === 0) return
    const { level } = this
    const { claim } = level.run
    const entries = results.map(resultEntry)
    const puts = entries.flatMap((entry) => claim.entry(entry))
    level.log.hold()
    for (const execution of results) level.log.tellEnd(execution)
    level.log.write(puts)
    await claim.commit({ puts })
    // A child graph is entered again when its node is tried again.
    if (level.parent) for (const entry of entries) level.run.journal.add(entry)
    level.log.release()
  }

  /** Hands over the results that are not stored yet, in the order in which they came. */
  unsaved(): Execution[] {
    const results = this.#unsaved
    this.#unsaved = []
    return results
  }

  /** The first failure, or an abort: wakes the run and tells every task. */
  stop(reason: unknown): void {
    if (this.stopped) return
    this.stopped = { reason }
    for (const execution of this.executions) execution.stop(reason)
    this.#onStop?.(reason)
    this.#wake?.()
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
    return new Promise<Value>((resolve, reject) => {
      this.#onStop = reject
      work.then(resolve, reject)
      if (this.stopped) reject(this.stopped.reason)
    })
  }
}
