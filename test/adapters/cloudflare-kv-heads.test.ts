import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { cloudflareKv, type KV } from '../../adapters/cloudflare-kv.ts'
import type { Revision } from '../../src/index.ts'
import {
  commit,
  earth,
  MINUTE,
  pass,
  revisionIn,
  step,
  stopClock,
  valueIn,
} from '../fakes/kv-thread.ts'

beforeEach(stopClock)
afterEach(() => {
  vi.useRealTimers()
})

describe("what KV alone can't give, and what it still does", () => {
  test('a place that goes on too early takes steps again, and the one that was overtaken is told', async () => {
    const { fra, sfo } = await threadInTwoPlaces()
    let revision: Revision | undefined
    for (const n of [2, 3]) {
      expect(await step(fra)).toBe(n)
      revision = await revisionIn(fra)
    }
    pass(1000)
    expect(await step(sfo)).toBe(2)
    pass(2 * MINUTE)
    expect(await commit(fra, revision)).toBeUndefined()
    expect(await valueIn(fra)).toBe(await valueIn(sfo))
  })

  test('two places that go on at once both get in; later all places agree on one head and the other is told', async () => {
    const { fra, sfo, world } = await threadInTwoPlaces()
    const outcomes = await Promise.all([step(fra), step(sfo)])
    expect(outcomes).toEqual([2, 2])
    const revisions = [await revisionIn(fra), await revisionIn(sfo)]
    pass(2 * MINUTE)
    const agreed = await Promise.all([fra, sfo, cloudflareKv(world.at('NRT'))].map(revisionIn))
    expect(new Set(agreed).size).toBe(1)
    const [loser, revision] = agreed[0] === revisions[0] ? [sfo, revisions[1]] : [fra, revisions[0]]
    expect(await commit(loser, revision)).toBeUndefined()
  })

  test('of writers in one isolate one gets in, whichever store they have', async () => {
    const kv = earth({ seesOwn: 0 }).at('FRA')
    const stores = Array.from({ length: 10 }, () => cloudflareKv(kv, { singleWriter: true }))
    const outcomes = await Promise.all(stores.map(step))
    expect(outcomes.filter((outcome) => outcome === 1)).toHaveLength(1)
    expect(outcomes.filter((outcome) => outcome === undefined)).toHaveLength(9)
  })

  test('a head that moves slower than KV lags is never absent anywhere', async () => {
    for (let seed = 0; seed < 50; seed++) {
      const world = earth({ seed })
      const [fra, sfo] = [
        cloudflareKv(world.at('FRA'), { singleWriter: true }),
        cloudflareKv(world.at('SFO')),
      ]
      for (let n = 1; n <= 5; n++) {
        expect(await step(fra)).toBe(n)
        if (n > 1) expect(['old', 'new']).toContain(age(await valueIn(sfo), n))
        pass(MINUTE)
      }
    }
  })

  test("a head whose text can't be seen is an error, not an absent head", async () => {
    const world = earth({ seesOwn: 0 })
    const [fra, sfo] = [
      cloudflareKv(world.at('FRA'), { singleWriter: true }),
      cloudflareKv(world.at('SFO')),
    ]
    let revision: Revision | undefined
    for (let n = 0; n < 4; n++) {
      revision = await fra.commit({
        checks: [{ key: 'h/t', revision }],
        puts: [{ key: 'h/t', value: `${n}`.repeat(2000) }],
      })
      pass(n === 0 ? 2 * MINUTE : 1100)
    }
    const outcome = await sfo.get(['h/t']).then(
      ([entry]) => entry?.value[0],
      (error: unknown) => String(error),
    )
    expect(['1', '2', '3', 'Error: Cannot read "h/t": it moved out of sight']).toContain(outcome)
    expect(outcome).toBe('Error: Cannot read "h/t": it moved out of sight')
  })

  test('a head that another place deleted is gone here too, ten minutes after it was last written here at the latest', async () => {
    const world = earth({ seesOwn: 0 })
    const [fra, sfo] = [
      cloudflareKv(world.at('FRA'), { singleWriter: true }),
      cloudflareKv(world.at('SFO'), { singleWriter: true }),
    ]
    await step(fra)
    pass(2 * MINUTE)
    const [head] = await sfo.get(['h/t'])
    await sfo.commit({ checks: [{ key: 'h/t', revision: head!.revision }], deletes: ['h/t'] })
    pass(9 * MINUTE)
    expect(await fra.get(['h/t'])).toEqual([undefined])
    expect(await fra.list({ prefix: 'h/', limit: 9 })).toEqual([])
    expect(await step(fra)).toBe(1)
  })

  test('a head that is deleted leaves no version behind, though none was listed yet', async () => {
    const world = earth({ seesOwn: 0 })
    const fra = cloudflareKv(world.at('FRA'), { singleWriter: true })
    for (const n of [1, 2, 3]) expect(await step(fra)).toBe(n)
    pass(1100)
    await fra.commit({ deletes: ['h/t'] })
    pass(2 * MINUTE)
    expect((await world.at('FRA').list({ prefix: 'heddle/h/' })).keys).toEqual([])
  })

  test('a head that is deleted leaves no version behind, though some were left before', async () => {
    const world = earth({ seesOwn: 1 })
    const kv = world.at('FRA')
    let fails = true
    const flaky: KV = {
      ...kv,
      delete: async (name) => {
        if (fails) throw new Error('KV DELETE failed: 500')
        await kv.delete(name)
      },
    }
    const fra = cloudflareKv(flaky, { singleWriter: true })
    for (let n = 1; n <= 5; n++) {
      expect(await step(fra)).toBe(n)
      pass(2000)
    }
    fails = false
    expect((await kv.list({ prefix: 'heddle/h/' })).keys).toHaveLength(5)
    await fra.commit({ deletes: ['h/t'] })
    expect((await kv.list({ prefix: 'heddle/h/' })).keys).toEqual([])
  })

  test('a head deleted and made again is the new one, also where lists still show the old', async () => {
    const { fra, sfo } = await threadInTwoPlaces()
    await step(fra)
    pass(2000)
    await fra.commit({
      checks: [{ key: 'h/t', revision: await revisionIn(fra) }],
      deletes: ['h/t'],
    })
    expect(await step(fra)).toBe(1)
    pass(2 * MINUTE)
    expect(await step(sfo)).toBe(2)
  })
})

/** A thread of one step that two places have seen. */
async function threadInTwoPlaces() {
  const world = earth({ seed: 3 })
  const [fra, sfo] = [
    cloudflareKv(world.at('FRA'), { singleWriter: true }),
    cloudflareKv(world.at('SFO'), { singleWriter: true }),
  ]
  expect(await step(fra)).toBe(1)
  pass(MINUTE)
  expect(await revisionIn(sfo)).toBe(await revisionIn(fra))
  return { world, fra, sfo }
}

/** Whether a head is of the last step or of the one before. */
function age(value: string | undefined, n: number): string {
  if (value?.startsWith(`${n}.`)) return 'new'
  return value?.startsWith(`${n - 1}.`) ? 'old' : `${value} after step ${n}`
}
