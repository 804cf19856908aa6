/** Time, as the engine sees it. The default is the platform's; `heddle/testing` has one that stands still. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Calls back once, at least `ms` later; returns how to cancel it. May be early or late: callers look at `now` again. */
  after(ms: number, call: () => void): () => void
}

/** The longest delay that timers take everywhere: beyond it they fire at once. */
export const LONGEST = 2 ** 31 - 1

/** Calls back when `ms` have passed, however early the clock does and whatever it can't do at once. */
export function later(clock: Clock, ms: number, call: () => void): () => void {
  const due = clock.now() + ms
  let cancel: () => void
  const wait = (left: number): void => {
    const now = Math.min(left, LONGEST)
    cancel = clock.after(now, () => {
      const remaining = due - clock.now()
      // More than there was before: the clock was set back. What was waited for has passed all the same.
      const rest = remaining > left ? left - now : remaining
      if (rest <= 0) call()
      else wait(Math.max(1, rest))
    })
  }
  wait(ms)
  return () => cancel()
}

/** The last instant that keys can tell, with room behind it for what is counted on from there. */
export const LAST = 3.6e15

/** The same clock in whole milliseconds: what is stored is named after them. It refuses to tell what is no instant. */
export const whole = (clock: Clock): Clock => ({
  now() {
    const now = Math.floor(clock.now())
    if (Math.abs(now) <= LAST) return now
    throw new RangeError(`Cannot tell the time: the clock says ${now}`)
  },
  after: (ms, call) => clock.after(ms, call),
})

/** The platform's clock. Its timers never keep a process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, call) {
    const timer: unknown = setTimeout(call, Math.min(ms, LONGEST))
    if (typeof timer === 'object') (timer as { unref?(): void }).unref?.()
    return () => clearTimeout(timer as number)
  },
}
