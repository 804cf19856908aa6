import { anything, check } from '../lib/check.ts'
import { later, systemClock, type Clock } from '../lib/clock.ts'
import { consoleLogger, guarded, type Logger } from '../lib/logger.ts'
import { ToolUsageError } from '../errors.ts'
import { enter, type Frame } from './frame.ts'

export interface ScopeOptions {
  /** Milliseconds, a positive, finite number; then the work's signal aborts and `TimeoutError` is thrown, whatever comes of the work. @default none */
  readonly timeout?: number
  /** Aborts the work, too; its reason is thrown. */
  readonly signal?: AbortSignal
  /** Milliseconds more before work that ignores its signal is given up. @default 5_000 */
  readonly graceMs?: number
  /** Hears of what failed to close. @default the console */
  readonly logger?: Logger
  /** What timeouts are measured by. @default the platform's, with timers that keep no process alive */
  readonly clock?: Clock
}

/** What holds while work runs, with every default filled in. */
export interface Bounds {
  readonly timeout: number | undefined
  readonly signal: AbortSignal | undefined
  readonly graceMs: number
  readonly logger: Logger
  readonly clock: Clock
}

/** What lasts as long as the options of a `LoopRunner`. */
export const LASTING = { graceMs: anything, logger: anything, clock: anything } as const

const OPTIONS = { ...LASTING, timeout: anything, signal: anything } as const

/**
 * Fills in what options leave out.
 *
 * @throws ToolUsageError for work that is no function, a timeout that is no positive, finite number, and a grace that is
 * negative or not finite; TypeError for options that aren't known
 */
export function boundsOf(work: unknown, options: ScopeOptions): Bounds {
  if (typeof work !== 'function') throw usage(`Cannot run work: it is ${typeof work}, no function`)
  check('Cannot run work', OPTIONS, options)
  const { timeout, signal, graceMs = 5000, logger = consoleLogger, clock = systemClock } = options
  if (timeout !== undefined) checkTimeout('run work', timeout)
  if (!(typeof graceMs === 'number' && graceMs >= 0 && graceMs < Infinity))
    throw usage(
      `Cannot run work: graceMs is ${String(graceMs)}, no finite number of milliseconds from 0`,
    )
  return { timeout, signal, graceMs, logger: guarded(logger), clock }
}

/** Refuses a timeout that is no positive, finite number. */
export function checkTimeout(what: string, timeout: unknown): void {
  if (!(typeof timeout === 'number' && timeout > 0 && timeout < Infinity))
    throw usage(
      `Cannot ${what}: timeout is ${String(timeout)}, no positive, finite number of milliseconds`,
    )
}

/** A mistake in using scopes. */
export function usage(message: string): InstanceType<typeof ToolUsageError> {
  return new ToolUsageError(message, {})
}

/** Work under way. */
export interface Bounded<Value> {
  readonly result: Promise<Value>
  /** Aborts the work and gives it the grace; its result is then this reason. Only while it runs. */
  stop(reason: unknown): void
}

/**
 * Runs work until it ends, or until it is stopped by its timeout, its caller's signal or `stop`, and has used up its grace.
 * Once it is stopped, what comes of it is dropped. Leaves no timer and no listener.
 */
export function bounded<Value>(
  controller: AbortController,
  frame: Frame,
  work: () => Value | Promise<Value>,
  { timeout, signal, graceMs, clock }: Bounds,
): Bounded<Value> {
  const own = controller.signal
  let cancel = (): void => {}
  let giveUp = cancel
  function stop(reason: unknown): void {
    if (own.aborted) return
    cancel()
    cancel = later(clock, graceMs, () => giveUp())
    controller.abort(reason)
  }
  const onAbort = (): void => stop(signal?.reason)
  signal?.addEventListener('abort', onAbort)
  if (timeout !== undefined) {
    const late = `The work took longer than ${timeout} ms`
    cancel = later(clock, timeout, () => stop(new DOMException(late, 'TimeoutError')))
  }
  const result = new Promise<Value>((resolve, reject) => {
    const end = (settle: () => void): void => {
      cancel()
      signal?.removeEventListener('abort', onAbort)
      if (own.aborted) reject(own.reason as Error)
      else settle()
    }
    giveUp = () => end(() => {})
    ;(async () => enter(frame, work))().then(
      (value) => end(() => resolve(value)),
      (error: unknown) => end(() => reject(error as Error)),
    )
  })
  return { result, stop }
}
