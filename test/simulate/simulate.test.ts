// The simulator itself: a seed replays exactly, and a store that breaks a promise is found out.
import type { Batch, Store } from 'heddle'
import { describe, expect, it } from 'vitest'
import { told } from './report.ts'
import { simulate, type Simulated } from './simulate.ts'
import { STORES } from './stores.ts'

describe.each(STORES)('on %s', (store) => {
  it('the same seed gives the same run, and the next one another', async () => {
    const [first, again, next] = [
      await simulate(7, { store }),
      await simulate(7, { store, traced: true }),
      await simulate(8, { store }),
    ]
    expect(again.digest).toBe(first.digest)
    expect(again.trace.length).toBeGreaterThan(again.turns)
    expect(next.digest).not.toBe(first.digest)
  })
})

/** Stores that break one promise each, and how many seeds it takes at most until that is seen. */
const liars: Readonly<Record<string, (store: Store) => Store>> = {
  'lets a commit through whose check has failed': (store) => ({
    ...store,
    commit: async ({ checks: _, ...batch }) => store.commit(batch),
  }),
  'loses a result of work done once': withCommit((batch) => ({
    ...batch,
    puts: (batch.puts ?? []).filter(({ value }) => !value.includes('"kind":"once"')),
  })),
  'forgets to remove rows': withCommit(({ deletes: _, ...batch }) => batch),
  'loses what a timer is found by': withCommit((batch) => ({
    ...batch,
    puts: (batch.puts ?? []).filter(({ key }) => !/^d\/.*\/tmr_/.test(key)),
  })),
}

describe('a store is found out that', () => {
  it.each(Object.keys(liars))('%s', { timeout: 60_000 }, async (name) => {
    expect(await firstFailure(liars[name]!)).toBeDefined()
  })
})

it('a seed that fails is told with its shortest trace and the command that plays it again', async () => {
  const found = await firstFailure(liars['forgets to remove rows']!)
  const text = await told(found!, liars['forgets to remove rows'])
  expect(text).toContain(`seed ${found!.seed} on memory: `)
  expect(text).toContain('VIOLATION')
  expect(text).toContain(`npm run simulate -- --store memory --from ${found!.seed} --seeds 1`)
})

async function firstFailure(lie: (store: Store) => Store): Promise<Simulated | undefined> {
  for (let seed = 1; seed <= 60; seed++) {
    const found = await simulate(seed, { store: 'memory', lie })
    if (found.violations.length > 0) return found
  }
  return undefined
}

/** A store that commits something else than it was given. */
function withCommit(change: (batch: Batch) => Batch): (store: Store) => Store {
  return (store) => ({ ...store, commit: (batch) => store.commit(change(batch)) })
}
