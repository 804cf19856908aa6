import { env } from 'cloudflare:test'
import { describe, expect, test } from 'vitest'
import { cloudflareKv, type KV } from '../../adapters/cloudflare-kv.ts'
import { storeContract } from '../../adapters/testing.ts'
import { memory, type Store } from '../../src/index.ts'

// The pool keeps what a test of this file wrote, so each has a prefix of its own.
const { KV: kv } = env as unknown as { readonly KV: KVNamespace }
let made = 0
const prefix = (): string => `test-${made++}/`

describe('the contract, on the KV of workerd', () => {
  const create = (): Store => cloudflareKv(kv, { prefix: prefix(), singleWriter: true })
  for (const { name, run } of storeContract({ create })) test(name, run)
})

describe('the contract, with heads in a strong store', () => {
  const except = {
    'writes a batch whole or not at all':
      'rows are written before the lease store decides; nothing leads to those of a commit that lost',
  }
  const create = (): Store => cloudflareKv(kv, { prefix: prefix(), lease: memory() })
  for (const { name, run } of storeContract({ create, except })) test(name, run)
})

test('a step of one head and two rows is one list and three puts, then one delete more', async () => {
  const { counted, ops } = counting(kv)
  const store = cloudflareKv(counted, { prefix: prefix(), singleWriter: true })
  let revision: string | undefined
  const costs: object[] = []
  for (let n = 1; n <= 3; n++) {
    ops.clear()
    const rows = [`t/c/${n}`, `t/v/${n}`, 'h/t'].map((key) => ({ key, value: `step ${n}` }))
    revision = await store.commit({ checks: [{ key: 'h/t', revision }], puts: rows })
    costs.push(Object.fromEntries(ops))
    await scheduler.wait(1050)
  }
  expect(costs).toEqual([
    { list: 1, put: 3 },
    { list: 1, put: 3 },
    { list: 1, put: 3, delete: 1 },
  ])
})

test('a list of short rows needs no read, whatever their text', async () => {
  const { counted, ops } = counting(kv)
  const store = cloudflareKv(counted, { prefix: prefix() })
  const texts = ['{"quotes":"\\"\\""}', 'é'.repeat(500), '\u0000', '漢字', '😀'.repeat(250)]
  await store.commit({ puts: texts.map((value, n) => ({ key: `t/${n}`, value })) })
  ops.clear()
  const found = await store.list({ prefix: 't/', limit: 9 })
  expect(found.map(({ value }) => value)).toEqual(texts)
  expect(Object.fromEntries(ops)).toEqual({ list: 1 })
})

test('a text is metadata up to the last byte that KV takes, and is read from one byte more', async () => {
  const { counted, ops } = counting(kv)
  const store = cloudflareKv(counted, { prefix: prefix() })
  // 1,024 bytes: a revision of 16, and the two quotes of JSON.
  const texts = [1006, 1007].map((length) => 'x'.repeat(length))
  await store.commit({ puts: texts.map((value, n) => ({ key: `t/${n}`, value })) })
  for (const [n, value] of texts.entries()) {
    ops.clear()
    expect((await store.list({ prefix: `t/`, limit: n + 1 }))[n]?.value).toBe(value)
    expect(Object.fromEntries(ops)).toEqual(n === 0 ? { list: 1 } : { list: 1, get: 1 })
  }
})

test('rows that together are more than KV gives at once are read one by one', async () => {
  const store = cloudflareKv(kv, { prefix: prefix() })
  const rows = ['a', 'b', 'c'].map((letter) => ({
    key: `t/x/${letter}`,
    value: letter.repeat(9 << 20),
  }))
  for (const row of rows) await store.commit({ puts: [row] })
  const found = await store.get(rows.map(({ key }) => key))
  expect(found.map((entry) => entry?.value.length)).toEqual(rows.map(({ value }) => value.length))
})

test('the longest prefix leaves room for the longest key', async () => {
  const store = cloudflareKv(kv, {
    prefix: `${prefix()}${'x'.repeat(232)}`.slice(0, 239),
    singleWriter: true,
  })
  const keys = [`h/${'k'.repeat(254)}`, `t/${'k'.repeat(254)}`]
  await store.commit({ puts: keys.map((key) => ({ key, value: 'fits' })) })
  expect((await store.get(keys)).map((entry) => entry?.value)).toEqual(['fits', 'fits'])
})

/** A binding that counts what it is asked. */
function counting(binding: KV): { readonly counted: KV; readonly ops: Map<string, number> } {
  const ops = new Map<string, number>()
  const counted = new Proxy(binding, {
    get(target, verb: keyof KV) {
      return (...args: never[]) => {
        ops.set(verb, (ops.get(verb) ?? 0) + 1)
        return (target[verb] as (...args: never[]) => unknown)(...args)
      }
    },
  })
  return { counted, ops }
}
