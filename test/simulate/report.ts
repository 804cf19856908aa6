import { simulate, type Simulated, type SimulateOptions } from './simulate.ts'
import type { Mishap } from './world.ts'

const MISHAPS: readonly Mishap[] = ['kill', 'freeze', 'lose', 'clock', 'time']

/** A seed that failed, in a line. */
export const brief = ({ seed, store, violations }: Simulated): string =>
  `seed ${seed} on ${store}: ${violations[0]}`

/** What a reader wants to know of a seed that failed: what was wrong, the shortest way there, and how to see it again. */
export async function told(found: Simulated, lie?: SimulateOptions['lie']): Promise<string> {
  const { seed, store } = found
  const small = await smallest(found, lie)
  return [
    brief(small),
    ...small.violations.slice(1, 5),
    `after ${small.turns} turns and ${small.mishaps} mishaps:`,
    ...small.trace.slice(-60).map((line) => `  ${line.slice(0, 300)}`),
    `again: npm run simulate -- --store ${store} --from ${seed} --seeds 1 --trace`,
  ].join('\n')
}

/** Plays the seed again with less and less that goes wrong, as long as something turns out to be wrong. */
async function smallest(
  { seed, store, mishaps }: Simulated,
  lie: SimulateOptions['lie'],
): Promise<Simulated> {
  const play = (most: number, without: readonly Mishap[]): Promise<Simulated> =>
    simulate(seed, { store, mishaps: most, without, traced: true, ...(lie && { lie }) })
  let best = await play(mishaps, [])
  let without: readonly Mishap[] = []
  for (const kind of MISHAPS) {
    const tried = await play(best.mishaps, [...without, kind])
    if (tried.violations.length === 0) continue
    best = tried
    without = [...without, kind]
  }
  for (let most = best.mishaps - 1; most >= 0; most--) {
    const tried = await play(most, without)
    if (tried.violations.length > 0) best = tried
  }
  return best
}
