import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { cloudflareKv, type KV } from '../../adapters/cloudflare-kv.ts'
import { memory } from '../../src/index.ts'
import { eventualKv, type World } from '../fakes/eventual-kv.ts'
import { place, put, valuesOf } from '../fakes/kv-rows.ts'

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 3, 1), toFake: ['Date', 'setTimeout', 'clearTimeout'] })
  // What waits for a second chance gets it as soon as nothing else runs.
  vi.setTimerTickMode('nextTimerAsync')
})
afterEach(() => {
  vi.useRealTimers()
})

test('a step of one head and two rows is one list and three puts, then one delete more', async () => {
  const world = eventualKv({ seesOwn: 1 })
  const store = cloudflareKv(world.at('FRA'), { singleWriter: true })
  const costs: object[] = []
  let revision: string | undefined
  for (let n = 1; n <= 4; n++) {
    const before = { ...world.ops }
    revision = await store.commit({
      checks: [{ key: 'h/t', revision }],
      puts: [put(`t/c/${n}`), put(`t/v/${n}`), put('h/t', String(n))],
    })
    costs.push(spent(before, world.ops))
    await pass(2000)
  }
  expect(costs).toEqual([
    { list: 1, put: 3 },
    { list: 1, put: 3 },
    { list: 1, put: 3, delete: 1 },
    { list: 1, put: 3, delete: 1 },
  ])
})

test('steps faster than one a second leave the versions of their head to a later step', async () => {
  const world = eventualKv({ seesOwn: 1 })
  const store = cloudflareKv(world.at('FRA'), { singleWriter: true })
  let revision: string | undefined
  const move = async (): Promise<void> => {
    revision = await store.commit({ checks: [{ key: 'h/t', revision }], puts: [put('h/t')] })
  }
  for (let n = 0; n < 5; n++) await move()
  expect(world.ops.delete).toBe(0)
  await pass(2000)
  await move()
  // All but the newest and the one before it.
  expect(world.ops).toMatchObject({ put: 6, delete: 4, refused: 0 })
  expect((await world.at('FRA').list({ prefix: 'heddle/h/' })).keys).toHaveLength(2)
})

test('heads are listed in the order of their keys, whatever characters follow', async () => {
  const keys = ['h/a', 'h/a b', 'h/a!', 'h/a-b', 'h/a.b', 'h/a/b', 'h/a0', 'h/aa', 'h/a~']
  const store = cloudflareKv(place({ seesOwn: 1 }), { singleWriter: true })
  await store.commit({ puts: keys.toReversed().map((key) => put(key, key)) })
  expect(await valuesOf(store.list({ prefix: 'h/', limit: 99 }))).toEqual(keys)
  expect(await valuesOf(store.list({ prefix: 'h/', after: 'h/a-b', limit: 2 }))).toEqual([
    'h/a.b',
    'h/a/b',
  ])
  expect(await valuesOf(store.list({ prefix: 'h/a/', limit: 99 }))).toEqual(['h/a/b'])
})

test('with a lease store a step is two puts and one strong commit', async () => {
  const world = eventualKv()
  const store = cloudflareKv(world.at('FRA'), { lease: memory() })
  let revision: string | undefined
  for (let n = 1; n <= 4; n++) {
    revision = await store.commit({
      checks: [{ key: 'h/t', revision }],
      puts: [put(`t/c/${n}`), put(`t/v/${n}`), put('h/t')],
    })
  }
  expect(world.ops).toEqual({ get: 0, list: 0, put: 8, delete: 0, refused: 0 })
})

test('at most six connections are open at once', async () => {
  let open = 0
  let most = 0
  const kv = place({ seesOwn: 1 })
  const counted = { ...kv, put: counting(kv.put), delete: counting(kv.delete) }
  const store = cloudflareKv(counted as KV, { singleWriter: true })
  const keys = Array.from({ length: 20 }, (_, n) => `t/${n}`)
  await store.commit({ puts: keys.map((key) => put(key)) })
  await pass(2000)
  await store.commit({ deletes: keys })
  expect(most).toBe(6)

  function counting(does: (name: string, ...rest: never[]) => Promise<void>) {
    return async (name: string, ...rest: never[]) => {
      most = Math.max(most, ++open)
      await new Promise((resolve) => setTimeout(resolve, 1))
      await does(name, ...rest)
      open--
    }
  }
})

test('a list of short rows reads none of them; long ones are read a hundred at a time', async () => {
  const world = eventualKv({ seesOwn: 1 })
  const store = cloudflareKv(world.at('FRA'))
  await store.commit({
    puts: Array.from({ length: 150 }, (_, n) => put(`t/short/${n}`, 'é'.repeat(400))),
  })
  await store.commit({
    puts: Array.from({ length: 150 }, (_, n) => put(`t/long/${n}`, 'é'.repeat(600))),
  })
  expect(
    (await store.list({ prefix: 't/short/', limit: 200 })).every(
      ({ value }) => value === 'é'.repeat(400),
    ),
  ).toBe(true)
  expect(world.ops).toMatchObject({ get: 0, list: 1 })
  expect(
    (await store.list({ prefix: 't/long/', limit: 200 })).every(
      ({ value }) => value === 'é'.repeat(600),
    ),
  ).toBe(true)
  expect(world.ops).toMatchObject({ get: 2, list: 2 })
})

test('rows that together are more than KV gives at once are read one by one', async () => {
  const kv = place({ seesOwn: 1 })
  const store = cloudflareKv(kv)
  const rows = ['a', 'b', 'c'].map((letter) => put(`t/x/${letter}`, letter.repeat(9 << 20)))
  await store.commit({ puts: rows })
  const values = await valuesOf(store.get(rows.map(({ key }) => key)))
  expect(values.map((value) => `${value?.[0]}${value?.length}`)).toEqual(
    ['a', 'b', 'c'].map((letter) => `${letter}${9 << 20}`),
  )
})

test('clearing more than an invocation may do is finished by the next one', async () => {
  const world = eventualKv({ seesOwn: 1, opsPerInvocation: 1000 })
  const keys = Array.from({ length: 1500 }, (_, n) => `t/${String(n).padStart(4, '0')}`)
  for (const part of [keys.slice(0, 750), keys.slice(750)]) {
    await cloudflareKv(world.at('FRA')).commit({ puts: part.map((key) => put(key)) })
  }
  await pass(2000)
  await expect(cloudflareKv(world.at('FRA')).clear('t/')).rejects.toThrow('Too many')
  await cloudflareKv(world.at('FRA')).clear('t/')
  expect(await cloudflareKv(world.at('FRA')).list({ prefix: 't/', limit: 9 })).toEqual([])
})

async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms)
}

function spent(before: World['ops'], after: World['ops']): object {
  const costs = Object.entries(after).map(([op, n]) => [op, n - before[op as keyof World['ops']]])
  return Object.fromEntries(costs.filter(([, n]) => n))
}
