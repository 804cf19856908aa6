/// <reference lib="esnext.disposable" />
import { anything, check } from '../lib/check.ts'
import { later, systemClock } from '../lib/clock.ts'
import { consoleLogger, guarded } from '../lib/logger.ts'
import {
  bounded,
  boundsOf,
  checkTimeout,
  LASTING,
  usage,
  type Bounded,
  type ScopeOptions,
} from './bounded.ts'
import { here, type Frame } from './frame.ts'
import { openScope, readable, type Room, type Scope } from './scope.ts'

interface Warm {
  readonly controller: AbortController
  readonly room: Room
}

// WebKit has no such symbol, and no `await using` that would look for it.
const DISPOSE: typeof Symbol.asyncDispose = /* @__PURE__ */ (() =>
  Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose'))() as never

/**
 * One warm scope for many calls, at once or one after the other: what `scopeLocal` keeps in it, and what is deferred to it, lasts
 * until `close`. On Workers make one per request, or per Durable Object: one that was warmed in another request is refused with
 * `ToolUsageError`.
 */
export class LoopRunner {
  readonly #options: Pick<ScopeOptions, 'graceMs' | 'logger' | 'clock'>
  readonly #running = new Set<Bounded<unknown>>()
  #warm: Warm | undefined
  #closing: Promise<void> | undefined

  /**
   * @param options What holds for every `run`, and for closing. Nothing is opened before the first `run`
   * @throws TypeError for options that aren't known
   */
  constructor(options: Pick<ScopeOptions, 'graceMs' | 'logger' | 'clock'> = {}) {
    check('Cannot make a LoopRunner', LASTING, options)
    this.#options = options
  }

  /**
   * Runs work in the warm scope, with a signal of its own.
   *
   * @throws as `scoped` does; ToolUsageError after `close`, when `close` stopped the work, and from inside the runner's own work
   * where that can be seen: in its synchronous part, and wherever the platform has AsyncLocalStorage
   */
  async run<Value>(
    work: (scope: Scope) => Value | Promise<Value>,
    options: ScopeOptions = {},
  ): Promise<Value> {
    const bounds = boundsOf(work, { ...this.#options, ...options })
    this.#check('run work')
    if (this.#closing) throw usage('Cannot run work: this LoopRunner is closed')
    bounds.signal?.throwIfAborted()
    const { room } = (this.#warm ??= this.#open())
    const controller = new AbortController()
    const scope = room.view(controller.signal)
    const frame: Frame = { scope: () => scope, runner: this, outer: here() }
    const running = bounded(controller, frame, () => work(scope), bounds)
    this.#running.add(running)
    try {
      return await running.result
    } finally {
      frame.over = true
      this.#running.delete(running)
    }
  }

  /**
   * Lets work finish, stops the rest after `timeout` milliseconds (30,000 by default; its callers get `ToolUsageError`), then
   * closes the scope. Calls share one closing.
   *
   * @throws ToolUsageError from inside the runner's own work where that can be seen; elsewhere the timeout ends the wait for itself
   */
  async close(options: { readonly timeout?: number } = {}): Promise<void> {
    check('Cannot close a LoopRunner', { timeout: anything }, options)
    const { timeout = 30_000 } = options
    checkTimeout('close a LoopRunner', timeout)
    this.#check('close a LoopRunner')
    await (this.#closing ??= this.#end(timeout))
  }

  [DISPOSE](): Promise<void> {
    return this.close()
  }

  #open(): Warm {
    const controller = new AbortController()
    const logger = guarded(this.#options.logger ?? consoleLogger)
    return { controller, room: openScope(controller.signal, logger) }
  }

  #check(what: string): void {
    for (let frame = here(); frame; frame = frame.outer)
      if (frame.runner === this && !frame.over)
        throw usage(`Cannot ${what}: this is inside the work of the same LoopRunner`)
    if (this.#warm && !readable(this.#warm.room.scope.signal))
      throw usage(
        `Cannot ${what}: this LoopRunner was warmed in another request. Make one per request, or per Durable Object`,
      )
  }

  async #end(timeout: number): Promise<void> {
    const { clock = systemClock } = this.#options
    const done = Promise.allSettled([...this.#running].map(({ result }) => result))
    let cancel = (): void => {}
    const late = new Promise<void>((resolve) => (cancel = later(clock, timeout, resolve)))
    await Promise.race([done, late])
    cancel()
    if (this.#running.size > 0) {
      const reason = usage('Cannot finish the work: its LoopRunner was closed')
      this.#warm?.controller.abort(reason)
      for (const running of this.#running) running.stop(reason)
    }
    await done
    await this.#warm?.room.close()
  }
}
