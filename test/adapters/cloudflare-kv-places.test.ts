import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { cloudflareKv, type KV } from '../../adapters/cloudflare-kv.ts'
import { memory, type Store } from '../../src/index.ts'
import { earth, MINUTE, pass, step, stopClock } from '../fakes/kv-thread.ts'

beforeEach(stopClock)
afterEach(() => {
  vi.useRealTimers()
})

const modes = {
  'one writer': (kv: KV) => cloudflareKv(kv, { singleWriter: true }),
  'a lease store': (kv: KV, lease: Store) => cloudflareKv(kv, { lease }),
}

for (const [mode, open] of Object.entries(modes)) {
  describe(`with ${mode}`, () => {
    test('five steps with no time between them are never refused for coming too soon', async () => {
      const world = earth()
      const fra = open(world.at('FRA'), memory())
      expect([
        await step(fra),
        await step(fra),
        await step(fra),
        await step(fra),
        await step(fra),
      ]).toEqual([1, 2, 3, 4, 5])
      expect(world.ops.refused).toBe(0)
    })

    test('steps go on where they were in a place that sees none of its own writes', async () => {
      const fra = open(earth({ seesOwn: 0 }).at('FRA'), memory())
      expect([
        await step(fra),
        await step(fra),
        await step(fra),
        await step(fra),
        await step(fra),
      ]).toEqual([1, 2, 3, 4, 5])
    })

    test('steps go on in another store of the isolate, as Workers make one for each request', async () => {
      const kv = earth({ seesOwn: 0 }).at('FRA')
      const lease = memory()
      expect([
        await step(open(kv, lease)),
        await step(open(kv, lease)),
        await step(open(kv, lease)),
      ]).toEqual([1, 2, 3])
    })

    test('a place whose clock is three seconds late still writes the newest head', async () => {
      const world = earth({ lagMs: 500 })
      const lease = memory()
      const [fra, sfo] = [open(world.at('FRA'), lease), open(world.at('SFO'), lease)]
      for (const n of [1, 2, 3]) expect(await step(fra)).toBe(n)
      pass(1000, -3000)
      expect(await step(sfo)).toBe(4)
      pass(1000)
      expect(await step(fra)).toBe(5)
    })

    test('a thread moves to another place once what was written has come through', async () => {
      const world = earth()
      const lease = memory()
      const [fra, sfo] = [open(world.at('FRA'), lease), open(world.at('SFO'), lease)]
      await step(fra)
      pass(MINUTE)
      await sfo.get(['h/t'])
      for (const n of [2, 3]) expect(await step(fra)).toBe(n)
      pass(MINUTE)
      expect(await step(sfo)).toBe(4)
    })
  })
}

describe('what only a lease store gives', () => {
  test('a thread moves to another place at once, though that place read it before', async () => {
    const world = earth()
    const lease = memory()
    const [fra, sfo] = [
      cloudflareKv(world.at('FRA'), { lease }),
      cloudflareKv(world.at('SFO'), { lease }),
    ]
    await step(fra)
    await step(sfo)
    for (const n of [3, 4]) expect(await step(fra)).toBe(n)
    expect(await step(sfo)).toBe(5)
  })

  test('of two places that go on from the same head one gets in', async () => {
    const world = earth()
    const lease = memory()
    const [fra, sfo] = [
      cloudflareKv(world.at('FRA'), { lease }),
      cloudflareKv(world.at('SFO'), { lease }),
    ]
    await step(fra)
    const outcomes = await Promise.all([step(fra), step(sfo)])
    expect(outcomes.toSorted()).toEqual([2, undefined])
  })

  test('one that loses deletes nothing', async () => {
    const fra = cloudflareKv(earth().at('FRA'), { lease: memory() })
    await step(fra)
    await fra.commit({ puts: [{ key: 't/w/1', value: 'pending' }] })
    pass(2000)
    const checks = [{ key: 'h/t', revision: undefined }]
    expect(await fra.commit({ checks, deletes: ['t/w/1'] })).toBeUndefined()
    expect((await fra.get(['t/w/1']))[0]?.value).toBe('pending')
  })

  test('three places never read a wrong head or miss a row it names in a thousand steps', async () => {
    const world = earth({ seed: 7, seesOwn: 0.5 })
    const lease = memory()
    const places = ['FRA', 'SFO', 'NRT'].map((place) => cloudflareKv(world.at(place), { lease }))
    const random = dice(11)
    let expected = 0
    let races = 0
    for (let n = 0; n < 1000; n++) {
      const pick = (): Store => places[Math.floor(random() * 3)]!
      if (random() < 0.1) {
        const outcomes = await Promise.all([step(pick()), step(pick())])
        expect(outcomes.filter((outcome) => outcome === expected + 1)).toHaveLength(1)
        expect(outcomes).toContain(undefined)
        races++
      } else {
        expect(await step(pick())).toBe(expected + 1)
      }
      expected++
      pass(random() * 20_000)
    }
    expect(races).toBeGreaterThan(50)
  })
})

/** The same throws from 0 to 1 for a seed. */
function dice(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}
