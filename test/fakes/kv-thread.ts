import { expect, vi } from 'vitest'
import type { Revision, Store } from '../../src/index.ts'
import { eventualKv, type World, type WorldOptions } from './eventual-kv.ts'

export const MINUTE = 60_000
const START = Date.UTC(2026, 3, 1)

/** The world's clock; what a Worker reads may differ. */
let now = START

/** Stops the clock; `pass` moves it. */
export function stopClock(): void {
  vi.useFakeTimers({ now: START, toFake: ['Date', 'setTimeout', 'clearTimeout'] })
  now = START
}

/** A world whose time `pass` moves. */
export function earth(options?: WorldOptions): World {
  return eventualKv({ now: () => now, ...options })
}

/** Time goes on; clocks that are wrong by `skew` go on with it. */
export function pass(ms: number, skew = 0): void {
  now += ms
  vi.setSystemTime(now + skew)
}

let made = 0

/** A step as the engine takes it: the head names the last checkpoint; both are read, then the next is written. Tells its number, or nothing if it lost. */
export async function step(store: Store): Promise<number | undefined> {
  const [head] = await store.get(['h/t'])
  const last = Number(head?.value.split('.')[0] ?? 0)
  if (head) {
    const rows = await store.get([`t/c/${head.value}`, `t/v/${head.value}`])
    expect(rows.map((row) => row?.value)).toEqual([`checkpoint ${last}`, `values ${last}`])
  }
  const revision = await commit(store, head?.revision, last + 1)
  return revision === undefined ? undefined : last + 1
}

/** Writes a head under a check, and the two rows it names. */
export async function commit(
  store: Store,
  revision: Revision | undefined,
  n = 0,
): Promise<Revision | undefined> {
  const id = `${n}.${made++}`
  const rows = [
    { key: `t/c/${id}`, value: `checkpoint ${n}` },
    { key: `t/v/${id}`, value: `values ${n}` },
  ]
  return store.commit({
    checks: [{ key: 'h/t', revision }],
    puts: [...rows, { key: 'h/t', value: id }],
  })
}

/** The revision of the head, as a store sees it. */
export async function revisionIn(store: Store): Promise<Revision | undefined> {
  return (await store.get(['h/t']))[0]?.revision
}

/** The value of the head, as a store sees it. */
export async function valueIn(store: Store): Promise<string | undefined> {
  return (await store.get(['h/t']))[0]?.value
}
