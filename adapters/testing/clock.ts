import type { Clock } from '../../src/index.ts'

/** A clock that moves only when told to. */
export interface ManualClock extends Clock {
  /** Moves on and calls back whatever became due, in order. Resolves when those callbacks have settled. */
  advance(ms: number): Promise<void>
  /** Sets the time, also backwards; calls nothing back. What waits still has as long to wait, as on real platforms. */
  set(time: string | Date): void
  /** Callbacks that wait; 0 at the end of a clean test. */
  readonly pending: number
}

interface Waiting {
  readonly due: number
  readonly call: () => void
}

/** Turns of the event loop that promises get after callbacks, and before the clock moves. */
const TURNS = 12

/**
 * Makes a clock that stands still.
 *
 * @param start Its first time
 * @default start '2026-03-01T08:00:00Z'
 */
export function manualClock(start: string | Date = '2026-03-01T08:00:00Z'): ManualClock {
  // Waiting is measured by what passed, not by the time of day: that may be set back.
  let passed = 0
  let origin = instant(start)
  let last: Promise<void> = Promise.resolve()
  const waiting = new Set<Waiting>()

  async function move(ms: number): Promise<void> {
    await turns()
    const end = passed + ms
    for (let due = earliest(waiting); due <= end; due = earliest(waiting)) {
      passed = Math.max(passed, due)
      const group = [...waiting].filter((one) => one.due === due)
      for (const one of group) if (waiting.delete(one)) one.call()
      await turns()
    }
    passed = end
  }

  return {
    now: () => origin + passed,
    after(ms, call) {
      const one = { due: passed + Math.max(0, ms), call }
      waiting.add(one)
      return () => void waiting.delete(one)
    },
    advance(ms) {
      if (!(ms >= 0 && ms < Infinity))
        throw new RangeError(`Cannot advance the clock by ${ms} ms: time only goes on`)
      const moved = last.then(() => move(ms))
      last = moved.catch(() => undefined)
      return moved
    },
    set(time) {
      origin = instant(time) - passed
    },
    get pending() {
      return waiting.size
    },
  }
}

function earliest(waiting: Iterable<Waiting>): number {
  let due = Infinity
  for (const one of waiting) due = Math.min(due, one.due)
  return due
}

function instant(time: string | Date): number {
  const ms = new Date(time).getTime()
  if (Number.isNaN(ms))
    throw new RangeError(`Cannot set the clock to "${String(time)}": it is no date`)
  return ms
}

/** Lets chains of promises run, also while a test has replaced the platform's timers. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await nextTurn()
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof MessageChannel === 'undefined') {
      setTimeout(resolve, 0)
      return
    }
    const { port1, port2 } = new MessageChannel()
    port1.addEventListener('message', () => {
      port1.close()
      resolve()
    })
    port1.start()
    port2.postMessage(null)
  })
}
