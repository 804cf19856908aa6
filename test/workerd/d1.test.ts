import { env } from 'cloudflare:test'
import { describe, expect, test } from 'vitest'
import { d1, type D1 } from '../../adapters/d1.ts'
import { storeContract } from '../../adapters/testing.ts'
import type { Store } from '../../src/index.ts'

// The pool keeps what a test of this file wrote, so each has a table of its own.
const { DB: db } = env as unknown as { readonly DB: D1Database }
let made = 0
const table = (): string => `test_${made++}`

describe('the contract, on the D1 of workerd', () => {
  const create = (): Store => d1(db, { table: table() })
  for (const { name, run } of storeContract({ create })) test(name, run)
})

test('stores that open at once on a database without a table make it together', async () => {
  const name = table()
  const revisions = await Promise.all(
    Array.from({ length: 10 }, (_, n) =>
      d1(db, { table: name }).commit({ puts: [{ key: `h/${n}`, value: 'here' }] }),
    ),
  )
  expect(new Set(revisions).size).toBe(10)
  expect(await d1(db, { table: name }).list({ prefix: 'h/', limit: 99 })).toHaveLength(10)
})

test('reading makes the table too, and one that was dropped is made again', async () => {
  const name = table()
  const store = d1(db, { table: name })
  expect(await store.get(['h/t'])).toEqual([undefined])
  await store.commit({ puts: [{ key: 'h/t', value: 'here' }] })
  await db.exec(`DROP TABLE ${name}`)
  expect(await store.list({ prefix: 'h/', limit: 9 })).toEqual([])
  await store.commit({ puts: [{ key: 'h/t', value: 'again' }] })
  expect((await store.get(['h/t']))[0]?.value).toBe('again')
})

test('a step is one batch of two statements, and so is one of many rows', async () => {
  const { counted, batches } = counting(db)
  const store = d1(counted, { table: table() })
  let revision = await store.commit({ puts: [{ key: 'h/t', value: 'start' }] })
  for (const rows of [2, 400]) {
    batches.length = 0
    const puts = Array.from({ length: rows }, (_, n) => ({ key: `t/${rows}/${n}`, value: 'row' }))
    const head = { key: 'h/t', value: 'next' }
    revision = await store.commit({ checks: [{ key: 'h/t', revision }], puts: [...puts, head] })
    expect(batches).toEqual([2])
  }
  batches.length = 0
  expect(await store.commit({})).toBeDefined()
  expect(batches).toEqual([])
})

test('values that are text within text and together are large fill one commit', async () => {
  const store = d1(db, { table: table() })
  const texts = ['"', '\\', '\u0001', '漢', '😀']
  const puts = Array.from({ length: 14 }, (_, n) => ({
    key: `t/${String(n).padStart(2, '0')}`,
    value: texts[n % 5]!.repeat(Math.floor(100_000 / texts[n % 5]!.length / (n % 5 < 3 ? 1 : 2))),
  }))
  await store.commit({ puts })
  const found = await store.list({ prefix: 't/', limit: 99 })
  expect(found.every(({ value }, n) => value === puts[n]!.value)).toBe(true)
  expect(found).toHaveLength(14)
})

test('of two puts of a row the last counts, however long each is; a delete comes after puts', async () => {
  const store = d1(db, { table: table() })
  const [long, short] = ['x'.repeat(500_000), 'short']
  await store.commit({
    puts: [long, short].flatMap((value, n) => [
      { key: 't/a', value },
      { key: 't/b', value: n ? long : short },
      { key: 't/c', value },
    ]),
    deletes: ['t/c'],
  })
  const [a, b, c] = await store.get(['t/a', 't/b', 't/c'])
  expect([a?.value.length, b?.value.length, c]).toEqual([5, 500_000, undefined])
})

test('as many rows as a commit may have go in and out', async () => {
  const store = d1(db, { table: table() })
  const keys = Array.from({ length: 5000 }, (_, n) => `t/${String(n).padStart(245, '0')}`)
  await store.commit({ puts: keys.map((key) => ({ key, value: 'row' })) })
  expect(await store.list({ prefix: 't/', limit: 9999 })).toHaveLength(5000)
  await store.commit({ deletes: keys.slice(10) })
  expect(await store.list({ prefix: 't/', limit: 9999 })).toHaveLength(10)
})

test('tables are apart, and a name with other characters is refused', async () => {
  const [one, other] = [d1(db, { table: table() }), d1(db, { table: 'order' })]
  await one.commit({ puts: [{ key: 'h/t', value: 'one' }] })
  await other.commit({ puts: [{ key: 'h/t', value: 'other' }] })
  expect((await one.get(['h/t']))[0]?.value).toBe('one')
  expect((await other.get(['h/t']))[0]?.value).toBe('other')
  for (const name of ['', '1', 'a-b', 'a b', 'a"; drop table test_0; --', 'é'])
    expect(() => d1(db, { table: name })).toThrow(`Cannot use table "${name}"`)
})

test('a session of the database fits too', async () => {
  const store = d1(db.withSession('first-primary'), { table: table() })
  await store.commit({ puts: [{ key: 'h/t', value: 'here' }] })
  expect((await store.get(['h/t']))[0]?.value).toBe('here')
})

/** A binding that counts the statements of each batch. */
function counting(binding: D1): { readonly counted: D1; readonly batches: number[] } {
  const batches: number[] = []
  const counted: D1 = {
    prepare: (query) => binding.prepare(query),
    batch(statements) {
      batches.push(statements.length)
      return binding.batch(statements)
    },
  }
  return { counted, batches }
}
