// Chance that can be repeated: orders, durations and slow stores by seed.
import type { Store } from 'heddle'

const { setTimeout: wait } = globalThis

/** Seeds of the tests that shuffle. */
export const SEEDS: readonly number[] = Array.from({ length: 50 }, (_, n) => n + 1)

/** Numbers from 0 up to 1, the same for the same seed. */
export function mulberry32(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** A list in an order by chance. */
export function shuffled<Value>(random: () => number, values: readonly Value[]): Value[] {
  const order = [...values]
  for (let i = order.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    ;[order[i], order[j]] = [order[j] as Value, order[i] as Value]
  }
  return order
}

/** Waits for some milliseconds, beside the books: what a node leaves behind is the test's own business. */
export function after(ms: number, value?: unknown): Promise<void> {
  return new Promise((resolve) => wait(() => resolve(value as void), ms))
}

/** Waits, by chance, for some turns or up to `most` milliseconds; for nodes whose order must not matter. */
export function times(random: () => number, most = 4): () => Promise<void> {
  return async () => {
    const ms = Math.floor(random() * (most + 2)) - 1
    if (ms >= 0) return after(ms)
    for (let turn = Math.floor(random() * 6); turn > 0; turn--) await Promise.resolve()
  }
}

/** A store that takes its time, by chance, before and after what it does. */
export function unevenStore(store: Store, random: () => number, most = 3): Store {
  const slow = times(random, most)
  async function late<Value>(work: () => Promise<Value>): Promise<Value> {
    await slow()
    const result = await work()
    await slow()
    return result
  }
  return {
    name: store.name,
    caps: store.caps,
    get: (keys) => late(() => store.get(keys)),
    list: (range) => late(() => store.list(range)),
    commit: (batch) => late(() => store.commit(batch)),
    clear: (prefix) => late(() => store.clear(prefix)),
  }
}
