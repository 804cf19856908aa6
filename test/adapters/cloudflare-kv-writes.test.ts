import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { cloudflareKv, type KV } from '../../adapters/cloudflare-kv.ts'
import { eventualKv } from '../fakes/eventual-kv.ts'
import { place, put, valuesOf } from '../fakes/kv-rows.ts'

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 3, 1), toFake: ['Date', 'setTimeout', 'clearTimeout'] })
  // What waits for a second chance gets it as soon as nothing else runs.
  vi.setTimerTickMode('nextTimerAsync')
})
afterEach(() => {
  vi.useRealTimers()
})

test('rows are written before the head, and what is deleted goes last', async () => {
  const order: string[] = []
  const kv = place({ seesOwn: 1 })
  const watched = { ...kv, put: note('put', kv.put), delete: note('delete', kv.delete) }
  const store = cloudflareKv(watched as KV, { prefix: '', singleWriter: true })
  await store.commit({ puts: [put('h/t'), put('t/1'), put('t/2')], deletes: ['t/0'] })
  expect(order).toEqual(['put t/1', 'put t/2', 'put h/t', 'delete t/0'])

  function note(verb: string, does: (name: string, ...rest: never[]) => Promise<void>) {
    return async (name: string, ...rest: never[]) => {
      await does(name, ...rest)
      order.push(`${verb} ${name.split('\t')[0]}`)
    }
  }
})

test("when a row can't be written the head stays as it was", async () => {
  const kv = place({ seesOwn: 1 })
  const revision = await cloudflareKv(kv, { singleWriter: true }).commit({
    puts: [put('h/t', 'old')],
  })
  const full = {
    ...kv,
    put: async (name: string) => {
      throw new Error(`KV PUT failed: 500 ${name}`)
    },
  }
  const store = cloudflareKv(full as KV, { singleWriter: true })
  await expect(
    store.commit({ checks: [{ key: 'h/t', revision }], puts: [put('t/1'), put('h/t', 'new')] }),
  ).rejects.toThrow('500')
  expect(await valuesOf(store.get(['h/t']))).toEqual(['old'])
})

test('a head whose write failed is not remembered as written', async () => {
  const kv = place({ seesOwn: 1 })
  let fails = false
  const flaky = {
    ...kv,
    put: async (...call: Parameters<KV['put']>) => {
      if (fails) throw new Error('KV PUT failed: 500')
      await kv.put(...call)
    },
  }
  const store = cloudflareKv(flaky as KV, { singleWriter: true })
  const revision = await store.commit({ puts: [put('h/t', 'old')] })
  fails = true
  await expect(
    store.commit({ checks: [{ key: 'h/t', revision }], puts: [put('h/t', 'new')] }),
  ).rejects.toThrow('500')
  fails = false
  expect(await valuesOf(store.get(['h/t']))).toEqual(['old'])
  expect(
    await store.commit({ checks: [{ key: 'h/t', revision }], puts: [put('h/t', 'newer')] }),
  ).toBeDefined()
})

test('a write that comes too soon is tried again a second later', async () => {
  const world = eventualKv({ seesOwn: 1 })
  const store = cloudflareKv(world.at('FRA'))
  const start = Date.now()
  await store.commit({ puts: [put('c/1', 'one')] })
  await store.commit({ puts: [put('c/1', 'two')] })
  expect(await valuesOf(store.get(['c/1']))).toEqual(['two'])
  expect([world.ops.refused, Date.now() - start]).toEqual([1, 1000])
})

test('a write that is refused again and again is given up after three more tries', async () => {
  let tries = 0
  const kv = {
    ...place(),
    put: async () => {
      tries++
      throw new Error('KV PUT failed: 429 Too Many Requests')
    },
  }
  await expect(cloudflareKv(kv as KV).commit({ puts: [put('c/1')] })).rejects.toThrow('429')
  expect(tries).toBe(4)
})

test('a hint that a row expires is passed on, never less than KV takes', async () => {
  const lifetimes: unknown[] = []
  const kv = {
    ...place(),
    put: async (...[, , options]: Parameters<KV['put']>) => {
      lifetimes.push(options?.expirationTtl)
    },
  }
  const now = Date.now()
  const expiries = [now - 5000, now + 1000, now + 3_600_000, Date.UTC(2200, 0), Infinity]
  await cloudflareKv(kv as KV).commit({
    puts: [put('c/0'), ...expiries.map((expires, n) => ({ ...put(`c/${n}`), expires }))],
  })
  expect(lifetimes).toEqual([undefined, 60, 60, 3600, (Date.UTC(2200, 0) - now) / 1000, undefined])
})

test('heads that were cleared stay away in a place whose lists still show them', async () => {
  const world = eventualKv({ seesOwn: 0 })
  const store = cloudflareKv(world.at('FRA'), { singleWriter: true })
  const other = cloudflareKv(world.at('FRA'), { singleWriter: true })
  await other.commit({ puts: [put('h/t1'), put('h/t2')] })
  await pass(120_000)
  await store.clear('h/')
  expect(await valuesOf(store.get(['h/t1', 'h/t2']))).toEqual([undefined, undefined])
  expect(await store.list({ prefix: 'h/', limit: 9 })).toEqual([])
  expect(await valuesOf(other.get(['h/t1']))).toEqual(['value'])
  await pass(120_000)
  expect(await valuesOf(cloudflareKv(world.at('SFO')).get(['h/t1', 'h/t2']))).toEqual([
    undefined,
    undefined,
  ])
})

async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms)
}
