import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { cloudflareKv } from '../../adapters/cloudflare-kv.ts'
import { storeContract } from '../../adapters/testing.ts'
import { memory } from '../../src/index.ts'
import { place, put, valuesOf } from '../fakes/kv-rows.ts'

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

test('without a lease store, and without a word that there is one writer, it says what it needs', () => {
  expect(cloudflareKv(place()).unsafe).toBe('lease or singleWriter')
  expect(cloudflareKv(place(), { singleWriter: true }).unsafe).toBeUndefined()
  expect(cloudflareKv(place(), { lease: memory() }).unsafe).toBeUndefined()
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

test('closing a store leaves its lease store open', async () => {
  const lease = memory()
  const store = cloudflareKv(place(), { lease })
  await store.close!()
  await expect(store.get(['h/t'])).rejects.toMatchObject({ code: 'storage_closed' })
  expect(await lease.get(['h/t'])).toEqual([undefined])
})
