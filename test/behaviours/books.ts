// Books of what must not outlive its owner: timers, listeners on the caller's signal, unhandled rejections.
import type { Clock } from 'heddle'
import { afterEach, beforeEach, expect } from 'vitest'
import { listenedSignal, type CountedSignal } from '../fakes/listened-signal.ts'

const platform = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout }

const timers = new Set<unknown>()
const clocks = new Set<{ live(): number }>()
const signals = new Set<{ listeners(): number }>()
let unhandled: unknown[] = []
const note = (reason: unknown): void => void unhandled.push(reason)

/** After every test of this file no timer is live, no listener is on a caller's signal, and no rejection went unhandled. */
export function keepBooks(): void {
  beforeEach(() => {
    for (const book of [timers, clocks, signals]) book.clear()
    unhandled = []
    process.on('unhandledRejection', note)
    globalThis.setTimeout = ((call: () => void, ms?: number) => {
      const timer = platform.setTimeout(() => {
        timers.delete(timer)
        call()
      }, ms)
      timers.add(timer)
      return timer
    }) as never
    globalThis.clearTimeout = (timer) => {
      timers.delete(timer)
      platform.clearTimeout(timer)
    }
  })
  afterEach(async () => {
    Object.assign(globalThis, platform)
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
    process.off('unhandledRejection', note)
    expect(unhandled, 'rejections that went unhandled').toEqual([])
    expect(timers.size, 'timers of the platform that are live').toBe(0)
    expect(sum([...clocks].map((clock) => clock.live())), 'timers of the clock that are live').toBe(
      0,
    )
    expect(sum([...signals].map((one) => one.listeners())), 'listeners on signals').toBe(0)
  })
}

/** A clock by the platform's time that knows how many of its timers are live. */
export function countingClock(): Clock & { live(): number } {
  const live = new Set<object>()
  const clock = {
    now: () => Date.now(),
    after(ms: number, call: () => void) {
      const one = {}
      live.add(one)
      const timer = platform.setTimeout(() => {
        live.delete(one)
        call()
      }, ms)
      return () => {
        live.delete(one)
        platform.clearTimeout(timer)
      }
    },
    live: () => live.size,
  }
  clocks.add(clock)
  return clock
}

/** A caller's signal that knows how many listeners it has; at the end of its test there may be none. */
export function countedSignal(): CountedSignal {
  const counted = listenedSignal()
  signals.add(counted)
  return counted
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)
