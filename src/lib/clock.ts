/** Time, as the engine sees it. The default is the platform's; `heddle/testing` has one that stands still. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Calls back once, at least `ms` later; returns how to cancel it. May be early or late: callers look at `now` again. */
  after(ms: number, call: () => void): () => void
}

/** The longest delay that timers take everywhere: beyond it they fire at once. */
const LONGEST = 2 ** 31 - 1

/** The platform's clock. Its timers never keep a process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, call) {
    const timer: unknown = setTimeout(call, Math.min(ms, LONGEST))
    if (typeof timer === 'object') (timer as { unref?(): void }).unref?.()
    return () => clearTimeout(timer as number)
  },
}
