import { describe, expect, test } from 'vitest'
import { storeContract, type Guarantee } from '../../adapters/testing.ts'
import { memory } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/store.ts'
import { smallStore } from '../fakes/small-store.ts'
import { limits } from './broken/limits.ts'
import { lists } from './broken/lists.ts'
import { reads } from './broken/reads.ts'
import { revisions } from './broken/revisions.ts'
import type { BrokenStores } from './broken/stores.ts'
import { writes } from './broken/writes.ts'

const BROKEN: BrokenStores<Guarantee> = { ...reads, ...writes, ...revisions, ...lists, ...limits }

for (const [guarantee, stores] of Object.entries(BROKEN)) {
  describe(`"${guarantee}" fails a store that`, () => {
    test.each(Object.entries(stores))('%s', async (_, broken) => {
      const cases = storeContract({ create: () => brokenStore(broken) })
      const message = await cases
        .find(({ name }) => name === guarantee)!
        .run()
        .then(
          () => 'passed',
          (error: Error) => error.message,
        )
      expect(message).not.toBe('passed')
      // Not a slip in the broken store itself: the suite's own words, or those the store rejects with.
      expect(message).toMatch(
        /expected|already closed|not found|Invalid expiration|too long|aborted|busy/,
      )
    })
  })
}

test('every promise has stores that break it', () => {
  expect(Object.keys(BROKEN).toSorted()).toEqual(
    storeContract({ create: memory })
      .map(({ name }) => name)
      .toSorted(),
  )
})

describe('the suite', () => {
  test('opens a store for each case and removes it, also when the case fails', async () => {
    const open = new Set<Store>()
    let made = 0
    const cases = storeContract({
      create: async () => {
        const store = brokenStore(() => ({ get: async () => [] }))
        open.add(store)
        made++
        return store
      },
      destroy: async (store) => {
        open.delete(store)
      },
    })
    for (const { run } of cases) await run().catch(() => undefined)
    expect({ made, left: open.size }).toEqual({ made: 11, left: 0 })
  })

  test('leaves out what a store excepts with a reason', () => {
    const cases = storeContract({
      create: memory,
      except: { 'reads its own writes at once': 'reads may lag by a minute' },
    })
    expect(cases.map(({ name }) => name)).not.toContain('reads its own writes at once')
    expect(cases).toHaveLength(10)
  })

  test('takes no exception without a reason, nor one that is no promise', () => {
    expect(() =>
      storeContract({ create: memory, except: { 'clears a prefix whole': ' ' } }),
    ).toThrow('Cannot except "clears a prefix whole": its reason is empty')
    expect(() => storeContract({ create: memory, except: { clears: 'why not' } as never })).toThrow(
      'Cannot except "clears": no store promises that',
    )
  })

  test('passes a store without close, which promises nothing there', async () => {
    const { close: _, ...rest } = memory()
    await storeContract({ create: () => rest })
      .find(({ name }) => name === 'refuses work after close')!
      .run()
  })
})

describe('a store that takes five rows a commit keeps every promise', () => {
  const create = (): Store => smallStore(memory(), { maxValueBytes: 4_000 })
  for (const { name, run } of storeContract({ create })) test(name, run)
})

function brokenStore(broken: (store: Store) => Partial<Store>): Store {
  const store = memory()
  return { ...store, ...broken(store) }
}
