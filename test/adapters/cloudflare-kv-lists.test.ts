import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { cloudflareKv } from '../../adapters/cloudflare-kv.ts'
import type { Entry, Store } from '../../src/index.ts'
import { earth, MINUTE, pass, stopClock } from '../fakes/kv-thread.ts'

beforeEach(stopClock)
afterEach(() => {
  vi.useRealTimers()
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
