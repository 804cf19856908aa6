// The store under the core, as the core sees it: nothing is too long, and nothing is half there.
import { memory, type Batch, type Put, type Revision, type Store } from 'heddle'
import { withFaults } from 'heddle/testing'
import { describe, expect, it } from 'vitest'
import { fitted, fits } from '../../src/durable/fit.ts'
import { sealed } from '../../src/durable/seal.ts'
import { SMALL, smallStore } from '../fakes/small-store.ts'

const ROOT = 't/acme.t1.00born/'
const HEAD = 'h/acme.t1'
const key = (n: number, kind = 's'): string => `${ROOT}${kind}/-/${String(n).padStart(5, '0')}`
const puts = (count: number, value = 'v'): Put[] =>
  Array.from({ length: count }, (_, n) => ({ key: key(n), value: `${value}${n}` }))
const all = async (store: Store, prefix = ROOT): Promise<string[]> =>
  (await store.list({ prefix, limit: 100_000 })).map((row) => row.key)

/** A small store, what the core sees of it, and every commit that it was sent. */
function open(): { under: Store; store: Store; sent: Batch[] } {
  const under = memory()
  const small = smallStore(under)
  const sent: Batch[] = []
  const spy: Store = {
    ...small,
    commit(batch) {
      sent.push(batch)
      return small.commit(batch)
    },
  }
  return { under, store: sealed(fitted(spy)), sent }
}

const write = async (store: Store, batch: Batch): Promise<Revision> => {
  const revision = await store.commit(batch)
  expect(revision).toBeDefined()
  return revision as Revision
}

it('a store without limits stays as it is', () => {
  const store = memory()
  expect(fitted(store)).toBe(store)
})

it('what the store can do beside reading and writing it can do still', async () => {
  const heard: string[] = []
  const under: Store = {
    ...smallStore(memory()),
    unsafe: 'a lock',
    watch(row, changed) {
      heard.push(row)
      changed()
      return () => void heard.push('stopped')
    },
    close: async () => void heard.push('closed'),
  }
  const store = sealed(fitted(under))
  expect(store).toMatchObject({ name: under.name, unsafe: 'a lock' })
  store.watch?.(HEAD, () => void heard.push('changed'))()
  await store.close?.()
  expect(heard).toEqual([HEAD, 'changed', 'stopped', 'closed'])
})

it.each([
  { maxValueBytes: 999 },
  { maxBatchRows: 4 },
  { maxBatchBytes: 3_999 },
  { maxValueBytes: Number.NaN },
])('a store that takes only %o is refused', (caps) => {
  const [[name, most]] = Object.entries(caps) as [[string, number]]
  const store = { ...memory(), caps: { ...memory().caps, ...caps } }
  expect(() => fitted(store)).toThrow(
    new RangeError(
      `Cannot use store "memory": its ${name} is ${most}, less than ${SMALL[name as keyof typeof SMALL]}`,
    ),
  )
})

describe('a value', () => {
  const whole = SMALL.maxValueBytes - 9
  it.each(['x', '"', 'é', '漢', '😀'])('of many %s comes back, however long', async (letter) => {
    const bytes = new TextEncoder().encode(letter).length
    for (const size of [0, 1, whole - 1, whole, whole + 1, 3 * whole, 3 * whole + 1, 50_000]) {
      const { under, store } = open()
      const value = letter.repeat(Math.floor(size / bytes)) + 'x'.repeat(size % bytes)
      await write(store, { puts: [{ key: key(1), value }] })
      expect((await store.get([key(1)]))[0]).toMatchObject({ key: key(1), value })
      expect((await store.list({ prefix: ROOT, limit: 9 }))[0]?.value).toBe(value)
      // One row as long as it fits, which the sum of its text is a part of.
      expect((await all(under)).length === 1, `one row of ${size} bytes`).toBe(size <= whole)
      await write(store, { deletes: [key(1)] })
      expect(await all(under)).toEqual([])
    }
  })

  it('of 3.6 MB comes back', async () => {
    const { under, store, sent } = open()
    const value = `${'漢字'.repeat(600_000)}😀`
    await write(store, { puts: [{ key: key(1), value }] })
    expect((await store.get([key(1)]))[0]?.value).toBe(value)
    expect(sent.length).toBeGreaterThan(900)
    await store.clear(ROOT)
    expect(await all(under)).toEqual([])
  })

  it('may begin with the sign for pieces', async () => {
    const { store } = open()
    for (const value of ['+', '+1', '+3 apples', `+${'x'.repeat(5_000)}`]) {
      await write(store, { puts: [{ key: key(1), value }] })
      expect((await store.get([key(1)]))[0]?.value).toBe(value)
    }
  })

  it('in pieces is no part of lists, and lists are as long as they were asked for', async () => {
    const { store } = open()
    const rows = puts(7, 'x'.repeat(2_000))
    await write(store, { puts: rows })
    expect(await all(store)).toEqual(rows.map((row) => row.key))
    const page = await store.list({ prefix: ROOT, after: key(2), limit: 3 })
    expect(page.map(({ key: at, value }) => ({ key: at, value }))).toEqual(rows.slice(3, 6))
    // Who asks for pieces gets their keys: a prune finds those of rows that are gone.
    expect(await all(store, `${ROOT}x/`)).toHaveLength(21)
  })

  it('that lacks a piece, or has a wrong one, reads as damage; one that is gone as gone', async () => {
    const { under, store } = open()
    const row = { key: key(1), value: 'x'.repeat(3_000) }
    const pieces = async (): Promise<string[]> => all(under, `${ROOT}x/`)
    await write(store, { puts: [row] })
    const [first] = await pieces()
    await under.commit({ deletes: [first as string] })
    expect((await store.get([row.key]))[0]?.value).toBe('')
    await under.commit({ puts: [{ key: first as string, value: 'y'.repeat(1_000) }] })
    expect((await store.get([row.key]))[0]?.value).toBe('')
    for (const value of ['+', '+0', '+x', '+99999999', '+-1', '+2']) {
      await under.commit({ puts: [{ key: row.key, value }] })
      expect((await store.get([row.key]))[0]?.value).toBe('')
    }
    const racing: Store = {
      ...smallStore(under),
      async get(keys) {
        const found = await under.get(keys)
        await under.clear(ROOT)
        return found
      },
    }
    await write(store, { puts: [row] })
    expect(await sealed(fitted(racing)).get([row.key])).toEqual([undefined])
  })

  it('of an index is refused by the store before anything is written', async () => {
    const { under, store } = open()
    const long = { key: 'n/g/acme/1/t1', value: 'x'.repeat(1_000) }
    await expect(store.commit({ puts: [long] })).rejects.toThrow(RangeError)
    expect(await all(under, 'n/')).toEqual([])
  })
})

describe('a commit', () => {
  it('that fits is one, as it was', async () => {
    const { store, sent } = open()
    await write(store, { puts: puts(3), deletes: [key(9, 'w'), 'd/1/2/3'] })
    expect(sent).toHaveLength(1)
    expect(fits(SMALL as never, { puts: puts(4) })).toBe(true)
    expect(fits(SMALL as never, { puts: puts(6) })).toBe(false)
    expect(fits(SMALL as never, { puts: puts(4) }, 2)).toBe(false)
  })

  it('of 1,500 rows has its head last, and what is removed goes after it', async () => {
    const { store, sent } = open()
    const gone = Array.from({ length: 100 }, (_, n) => key(n, 'w'))
    await write(store, { puts: gone.map((one) => ({ key: one, value: 'old' })) })
    const first = await write(store, { puts: [{ key: HEAD, value: 'one' }] })
    sent.length = 0
    const checks = [{ key: HEAD, revision: first }]
    const index = { key: 'd/g/1/acme.t1/lease', value: '[]' }
    const history = { key: key(1, 'c'), value: 'c' }
    const second = await write(store, {
      checks,
      puts: [index, history, ...puts(1_499), { key: HEAD, value: 'two' }],
      deletes: [...gone, 'o/g/acme/1/t1/int_1'],
      durable: true,
    })
    expect((await all(store)).length).toBe(1_500)
    expect((await store.get([HEAD]))[0]).toMatchObject({ value: 'two', revision: second })
    const at = sent.findIndex((batch) => batch.puts?.some((put) => put.key === HEAD))
    const keys = sent.map((batch) => batch.puts?.map((put) => put.key) ?? [])
    // What is listed is in the commit of the head, where there is room.
    expect(keys[at]).toEqual(expect.arrayContaining([index.key, history.key]))
    expect(sent[at]?.deletes).toContain('o/g/acme/1/t1/int_1')
    for (const [n, batch] of sent.entries()) {
      expect(batch.checks).toEqual(n <= at ? checks : [{ key: HEAD, revision: second }])
      expect(batch.durable).toBe(true)
      if (n < at) expect(batch.deletes).toEqual([])
      if (n > at) expect(batch.puts).toEqual([])
    }
    expect(sent.slice(at + 1).flatMap((batch) => batch.deletes ?? [])).toHaveLength(100)
  })

  it('whose check fails anywhere changes nothing that the head names', async () => {
    const { under, store } = open()
    const revision = await write(store, { puts: [{ key: HEAD, value: 'one' }] })
    const checks = [{ key: HEAD, revision: 'another' }]
    const put = { key: HEAD, value: 'two' }
    expect(await store.commit({ checks, puts: [...puts(20), put] })).toBeUndefined()
    expect(await all(under)).toEqual([])
    // Somebody else is faster in the middle of it.
    let left = 3
    const racing = sealed(
      fitted({
        ...smallStore(under),
        async commit(batch) {
          if (--left === 0)
            await sealed(under).commit({ puts: [{ key: HEAD, value: 'theirs' }], checks: [] })
          return under.commit(batch)
        },
      }),
    )
    const mine = { checks: [{ key: HEAD, revision }], puts: [...puts(20), put], deletes: [key(3)] }
    expect(await racing.commit(mine)).toBeUndefined()
    expect((await store.get([HEAD]))[0]?.value).toBe('theirs')
  })

  it('that removes a head removes it last', async () => {
    const { store, sent } = open()
    const revision = await write(store, { puts: [{ key: HEAD, value: 'one' }] })
    const rows = Array.from({ length: 20 }, (_, n) => `o/g/acme/1/t1/int_${n}`)
    sent.length = 0
    const lease = 'd/g/1/acme.t1/lease'
    await write(store, { checks: [{ key: HEAD, revision }], deletes: [...rows, HEAD, lease] })
    expect(sent.flatMap((batch) => batch.deletes ?? [])).toHaveLength(22)
    expect(sent.at(-1)?.deletes).toEqual(expect.arrayContaining([HEAD, lease]))
    expect(await all(store, 'h/')).toEqual([])
  })

  it('can be sent again after any failure, and is then as if sent once', async () => {
    const batch = (revision: Revision): Batch => ({
      checks: [{ key: HEAD, revision }],
      puts: [...puts(9, 'x'.repeat(1_500)), { key: HEAD, value: 'two' }],
      deletes: [key(1, 'i'), key(2, 'i')],
    })
    const run = async (at: number, how: object): Promise<[boolean, string[]]> => {
      const under = memory()
      const before = sealed(fitted(smallStore(under)))
      const revision = await write(before, {
        puts: [
          { key: HEAD, value: 'one' },
          { key: key(1, 'i'), value: 'y'.repeat(2_000) },
        ],
      })
      const faulty = withFaults(smallStore(under), [{ at, ...how } as never])
      const store = sealed(fitted(faulty))
      const failed = await store.commit(batch(revision)).then(
        () => false,
        () => true,
      )
      const found = (await before.get([HEAD]))[0]
      // As the core does: what landed is not sent again, what goes after it is.
      if (found?.value === 'two')
        await before.commit({
          checks: [{ key: HEAD, revision: found.revision }],
          deletes: [...(batch(revision).deletes ?? [])],
        })
      else await write(before, batch(revision))
      return [failed || faulty.log.length >= at, await all(under, 't/')]
    }
    const [, expected] = await run(1_000, {})
    expect(expected.length).toBe(9 * 3)
    for (const how of [{ lose: 'reply' }, { crash: 'before' }, { crash: 'after' }]) {
      let at = 1
      for (let reached = true; reached; at++) {
        const [done, rows] = await run(at, how)
        reached = done
        expect(rows, `${JSON.stringify(how)} at ${at}`).toEqual(expected)
      }
      expect(at).toBeGreaterThan(8)
    }
  })
})
