import { later, type Clock } from './clock.ts'

/** How long work is waited for. */
export interface Bounds {
  /** Its abort ends the wait at once, with its reason. */
  readonly signal: AbortSignal
  readonly clock: Clock
  /** Milliseconds. @default no limit */
  readonly ms?: number | undefined
  /** What took longer than that, for the message of the `TimeoutError`. */
  readonly what?: string
  /** Told why work is given up, before anybody else is. */
  readonly halt?: (reason: unknown) => void
}

/** Waits for work. */
export interface Watch {
  /**
   * Starts work and waits for it. What it does after it was given up is dropped, a rejection too.
   *
   * @throws what the work throws, the reason of the signal, or a `TimeoutError`
   */
  wait<Value>(work: () => Value | PromiseLike<Value>, bounds: Bounds): Promise<Value>
  /** It waits for a person or a clock, so it can't be late: nothing of it settles any more, unless it is aborted. */
  pause(): void
}

/** Makes a watch over pieces of work that come one after the other. Between them it keeps neither timers nor listeners. */
export function watch(): Watch {
  const timers = new Set<() => void>()
  let paused = false
  return {
    wait: <Value>(
      work: () => Value | PromiseLike<Value>,
      { signal, clock, ms, what = 'It', halt }: Bounds,
    ): Promise<Value> =>
      new Promise<Value>((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason)
        const end = (settle: () => void): void => {
          timer?.()
          if (timer) timers.delete(timer)
          signal.removeEventListener('abort', stop)
          settle()
        }
        const giveUp = (reason: unknown): void =>
          end(() => {
            halt?.(reason)
            reject(reason)
          })
        const stop = (): void => giveUp(signal.reason)
        const late = (): void =>
          giveUp(new DOMException(`${what} took longer than ${ms} ms`, 'TimeoutError'))
        const timer = ms === undefined || paused ? undefined : later(clock, ms, late)
        if (timer) timers.add(timer)
        signal.addEventListener('abort', stop)
        // A thenable is only looked at by the platform, which bears with whatever it does.
        new Promise<Value>((made) => made(work())).then(
          (value) => paused || end(() => resolve(value)),
          (error) => paused || end(() => reject(error)),
        )
      }),
    pause() {
      paused = true
      for (const cancel of timers) cancel()
      timers.clear()
    },
  }
}
