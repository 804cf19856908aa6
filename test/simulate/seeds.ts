import { expect, it } from 'vitest'
import { told } from './report.ts'
import { simulate } from './simulate.ts'
import type { StoreName } from './stores.ts'

/** How many seeds make a test. */
const BATCH = 100

/** Plays the first seeds on a store: `npm run simulate` plays more. */
export function playSeeds(store: StoreName, seeds: number): void {
  for (let from = 1; from <= seeds; from += BATCH) {
    const last = Math.min(from + BATCH - 1, seeds)
    it(
      `what must hold on ${store} holds for seeds ${from} to ${last}`,
      { timeout: 120_000 },
      async () => {
        for (let seed = from; seed <= last; seed++) {
          const found = await simulate(seed, { store })
          if (found.violations.length > 0) expect.unreachable(await told(found))
        }
      },
    )
  }
}
