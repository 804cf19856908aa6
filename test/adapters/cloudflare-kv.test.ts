import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { cloudflareKv, type KV } from '../../adapters/cloudflare-kv.ts'
import { storeContract } from '../../adapters/testing.ts'
import { isHeddleError } from '../../src/index.ts'
import { memory } from '../../src/store/memory.ts'
import { eventualKv, type World, type WorldOptions } from '../fakes/eventual-kv.ts'

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 3, 1), toFake: ['Date', 'setTimeout', 'clearTimeout'] })
  // What waits for a second chance gets it as soon as nothing else runs.
  vi.setTimerTickMode('nextTimerAsync')
})
afterEach(() => {
  vi.useRealTimers()
})

describe('the contract, in a place that sees its own writes', () => {
  const create = () => cloudflareKv(place({ seesOwn: 1 }), { singleWriter: true })
  for (const { name, run } of storeContract({ create })) test(name, run)
})

describe('the contract, in a place that may not see its own writes', () => {
  const lag = 'KV may show what a place wrote itself a minute later'
  const except = {
    'reads its own writes at once': lag,
    'writes a batch whole or not at all': lag,
    'tells an absent key from any value': lag,
    'lists in key order, page by page': lag,
    'keeps a prefix apart from its neighbours': lag,
    'holds values up to its limit and refuses longer ones': lag,
    'clears a prefix whole': lag,
  }
  const create = () => cloudflareKv(place({ seesOwn: 0.3 }), { singleWriter: true })
  for (const { name, run } of storeContract({ create, except })) test(name, run)
})

describe('the contract, with heads in a strong store', () => {
  const except = {
    'writes a batch whole or not at all':
      'rows are written before the lease store decides; nothing leads to those of a commit that lost',
  }
  const create = () => cloudflareKv(place({ seesOwn: 1 }), { lease: memory() })
  for (const { name, run } of storeContract({ create, except })) test(name, run)
})

test('writing under a check rejects before anything is written, without a lease store and without a word that there is one writer', async () => {
  const world = eventualKv()
  const store = cloudflareKv(world.at('FRA'))
  const error = await store
    .commit({ checks: [{ key: 'h/t', revision: undefined }], puts: [put('t/1'), put('h/t')] })
    .catch((thrown: unknown) => thrown)
  expect(isHeddleError(error, 'store_unsafe') && error.details).toEqual({
    store: 'cloudflare-kv',
    needs: 'lease or singleWriter',
  })
  expect(world.ops).toMatchObject({ put: 0, delete: 0 })
})

test('reading, and writing what needs no check, works without either', async () => {
  const kv = place({ seesOwn: 1 })
  await cloudflareKv(kv, { singleWriter: true }).commit({ puts: [put('h/t', 'head')] })
  const store = cloudflareKv(kv)
  await store.commit({ puts: [put('c/run/1', 'cached')] })
  expect(await valuesOf(store.get(['h/t', 'c/run/1']))).toEqual(['head', 'cached'])
  expect(await valuesOf(store.list({ prefix: 'c/', limit: 9 }))).toEqual(['cached'])
})

test('only heads can be checked', async () => {
  const store = cloudflareKv(place(), { singleWriter: true })
  const commit = store.commit({ checks: [{ key: 't/1', revision: undefined }], puts: [put('h/t')] })
  await expect(commit).rejects.toThrow(
    new RangeError('Cannot check row "t/1": it is no head, "h/…"'),
  )
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

test('a prefix keeps stores apart, heads and what is remembered of them too', async () => {
  const kv = place({ seesOwn: 1 })
  const [one, two] = ['one/', 'two/'].map((prefix) =>
    cloudflareKv(kv, { prefix, singleWriter: true }),
  ) as [ReturnType<typeof cloudflareKv>, ReturnType<typeof cloudflareKv>]
  await one.commit({ puts: [put('h/t', 'mine'), put('t/1', 'mine')] })
  expect(await valuesOf(two.get(['h/t', 't/1']))).toEqual([undefined, undefined])
  await two.clear('t/')
  expect(await valuesOf(one.get(['h/t', 't/1']))).toEqual(['mine', 'mine'])
})

test('a prefix that leaves too little room for keys is refused', async () => {
  expect(() => cloudflareKv(place(), { prefix: 'x'.repeat(240) })).toThrow(RangeError)
  expect(() => cloudflareKv(place(), { prefix: '€'.repeat(80) })).toThrow(RangeError)
  const store = cloudflareKv(place({ seesOwn: 1 }), { prefix: 'x'.repeat(239), singleWriter: true })
  const longest = `h/${'x'.repeat(254)}`
  await store.commit({ puts: [put(longest, 'fits'), put(`t/${'x'.repeat(254)}`)] })
  expect(await valuesOf(store.get([longest]))).toEqual(['fits'])
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

test('closing a store leaves its lease store open', async () => {
  const lease = memory()
  const store = cloudflareKv(place(), { lease })
  await store.close!()
  await expect(store.get(['h/t'])).rejects.toMatchObject({ code: 'storage_closed' })
  expect(await lease.get(['h/t'])).toEqual([undefined])
})

function place(options?: WorldOptions): KV {
  return eventualKv(options).at('FRA')
}

function put(key: string, value = 'value'): { readonly key: string; readonly value: string } {
  return { key, value }
}

async function valuesOf(
  entries: Promise<readonly ({ readonly value: string } | undefined)[]>,
): Promise<(string | undefined)[]> {
  return (await entries).map((entry) => entry?.value)
}

async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms)
}

function spent(before: World['ops'], after: World['ops']): object {
  const costs = Object.entries(after).map(([op, n]) => [op, n - before[op as keyof World['ops']]])
  return Object.fromEntries(costs.filter(([, n]) => n))
}
