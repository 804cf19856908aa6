import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { cloudflareKv, type KV } from '../../adapters/cloudflare-kv.ts'
import { memory } from '../../src/store/memory.ts'
import type { Entry, Revision, Store } from '../../src/store/store.ts'
import { eventualKv, type World, type WorldOptions } from '../fakes/eventual-kv.ts'

const MINUTE = 60_000
const START = Date.UTC(2026, 3, 1)

/** The world's clock; what a Worker reads may differ. */
let now = START

beforeEach(() => {
  vi.useFakeTimers({ now: START, toFake: ['Date', 'setTimeout', 'clearTimeout'] })
  now = START
})
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

describe('long lists', () => {
  const keys = Array.from({ length: 2500 }, (_, n) => `t/e/${String(n).padStart(6, '0')}`)

  test('in another place a list lags: rows are missing, never out of order or twice; a minute later it is whole', async () => {
    const world = earth()
    await fill(cloudflareKv(world.at('FRA')))
    const sfo = cloudflareKv(world.at('SFO'))
    pass(MINUTE / 2)
    const early = keysOf(await sfo.list({ prefix: 't/e/', limit: 5000 }))
    expect(early.length).toBeGreaterThan(0)
    expect(early.length).toBeLessThan(2500)
    expect(early).toEqual([...new Set(early)].toSorted())
    pass(MINUTE / 2)
    expect(keysOf(await sfo.list({ prefix: 't/e/', limit: 5000 }))).toEqual(keys)
  })

  test('pages go on from where the last one ended, at one operation a page', async () => {
    const world = earth()
    await fill(cloudflareKv(world.at('FRA')))
    pass(MINUTE)
    const sfo = cloudflareKv(world.at('SFO'))
    expect(await pagesOf(sfo, 600)).toEqual(keys)
    expect(world.ops.list).toBe(5)
  })

  test("a store that doesn't remember the page before pages from the start", async () => {
    const world = earth()
    await fill(cloudflareKv(world.at('FRA')))
    pass(MINUTE)
    const page = await cloudflareKv(world.at('SFO')).list({
      prefix: 't/e/',
      after: keys[1499]!,
      limit: 3,
    })
    expect(keysOf(page)).toEqual(keys.slice(1500, 1503))
    expect(world.ops.list).toBe(2)
  })

  test('pages of deleted rows are empty and not the last', async () => {
    const world = earth()
    const fra = cloudflareKv(world.at('FRA'))
    await fill(fra)
    pass(MINUTE)
    for (let at = 0; at < 2000; at += 500) await fra.commit({ deletes: keys.slice(at, at + 500) })
    pass(MINUTE)
    const sfo = cloudflareKv(world.at('SFO'))
    expect(keysOf(await sfo.list({ prefix: 't/e/', limit: 2 }))).toEqual(keys.slice(2000, 2002))
    expect(keysOf(await sfo.list({ prefix: 't/e/', after: keys[2001]!, limit: 5000 }))).toEqual(
      keys.slice(2002),
    )
  })

  async function fill(store: Store): Promise<void> {
    for (let at = 0; at < keys.length; at += 500) {
      await store.commit({ puts: keys.slice(at, at + 500).map((key) => ({ key, value: 'event' })) })
    }
  }

  async function pagesOf(store: Store, limit: number): Promise<string[]> {
    const found: string[] = []
    for (;;) {
      const after = found.at(-1)
      const page = keysOf(
        await store.list({ prefix: 't/e/', limit, ...(after !== undefined && { after }) }),
      )
      found.push(...page)
      if (page.length < limit) return found
    }
  }

  function keysOf(entries: readonly Entry[]): string[] {
    return entries.map(({ key }) => key)
  }
})

function earth(options?: WorldOptions): World {
  return eventualKv({ now: () => now, ...options })
}

/** Time goes on; clocks that are wrong by `skew` go on with it. */
function pass(ms: number, skew = 0): void {
  now += ms
  vi.setSystemTime(now + skew)
}

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

let made = 0

/** A step as the engine takes it: the head names the last checkpoint; both are read, then the next is written. Tells its number, or nothing if it lost. */
async function step(store: Store): Promise<number | undefined> {
  const [head] = await store.get(['h/t'])
  const last = Number(head?.value.split('.')[0] ?? 0)
  if (head) {
    const rows = await store.get([`t/c/${head.value}`, `t/v/${head.value}`])
    expect(rows.map((row) => row?.value)).toEqual([`checkpoint ${last}`, `values ${last}`])
  }
  const revision = await commit(store, head?.revision, last + 1)
  return revision === undefined ? undefined : last + 1
}

async function commit(
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

async function revisionIn(store: Store): Promise<Revision | undefined> {
  return (await store.get(['h/t']))[0]?.revision
}

async function valueIn(store: Store): Promise<string | undefined> {
  return (await store.get(['h/t']))[0]?.value
}

/** Whether a head is of the last step or of the one before. */
function age(value: string | undefined, n: number): string {
  if (value?.startsWith(`${n}.`)) return 'new'
  return value?.startsWith(`${n - 1}.`) ? 'old' : `${value} after step ${n}`
}

/** The same throws from 0 to 1 for a seed. */
function dice(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}
