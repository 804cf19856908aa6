// What is more than a store takes at once, on every store that Node can open.
import { cloudflareKv } from 'heddle/cloudflare-kv'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { eventualKv } from '../fakes/eventual-kv.ts'
import { smallStore } from '../fakes/small-store.ts'
import { memoryStores } from '../runtime/memory-stores.ts'
import { LIKE_DENO } from './sizes-parts.ts'
import { suite } from './sizes.suite.ts'
import { onEveryStore } from './stores.ts'

onEveryStore(suite)

describe('a store of the limits of Deno KV', () => {
  const stores = memoryStores()
  for (const { name, run } of suite(async (store) => smallStore(await stores(store), LIKE_DENO)))
    it(name, run)
})

describe('Workers KV whose heads lie in a store that takes less', () => {
  // KV takes one write a second of a key, and the time for it passes at once.
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] })
    vi.setTimerTickMode('nextTimerAsync')
  })
  afterEach(() => void vi.useRealTimers())

  const leases = memoryStores()
  const worlds = new Map<string, ReturnType<typeof eventualKv>>()
  const open = (name: string): ReturnType<typeof cloudflareKv> => {
    const world = worlds.get(name) ?? eventualKv({ seesOwn: 1, lagMs: 0 })
    worlds.set(name, world)
    return cloudflareKv(world.at('here'), { lease: smallStore(leases(name), LIKE_DENO) })
  }
  for (const { name, run } of suite(open)) it(name, run)

  it('takes as much a value as both do', () => {
    expect(open('caps').caps.maxValueBytes).toBe(65_000)
  })
})
