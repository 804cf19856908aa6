// Every row of an encrypted thread, changed in every way: it is damage, or nothing comes of it.
import { encrypted, memory, type Store } from 'heddle'
import { expect, test } from 'vitest'
import { rowsOf } from '../behaviours/portable.ts'
import { flipped, holding, looks, newKey, told } from './encrypted.tools.ts'

type Damage = readonly [what: string, key: string, value: string]

test('a flipped bit anywhere in a row is damage or does no harm', async () => {
  await eachDamage(function* (rows) {
    for (const [key, value] of rows)
      for (const at of [0, 12, Math.floor(value.length / 3), -17, -1])
        yield [`${key} at ${at}`, key, flipped(value, at)]
  })
})

test('a value under the key of another row, without its id or never sealed is damage or does no harm', async () => {
  await eachDamage(function* (rows) {
    for (const [key, value] of rows) {
      for (const [from, other] of rows)
        if (from !== key && from[0] === key[0]) yield [`${from} at ${key}`, key, other]
      const rest = value.slice(1)
      const texts = ['', '.', '1.', '1.AAAA', '1.!', rest, `2${rest}`, `constructor${rest}`]
      for (const text of [...texts, value.slice(0, -4), '{"thread":"t"}'])
        yield [`${text} at ${key}`, key, text]
    }
  })
})

test('ids that could be taken for something else, or for two keys, are refused', async () => {
  const key = await newKey()
  for (const id of ['', 'a.b', 'a/b', 'é', 'x'.repeat(65)]) {
    expect(() => encrypted(memory(), { key, id })).toThrow(RangeError)
    expect(() => encrypted(memory(), { key, old: { [id]: key } })).toThrow(RangeError)
  }
  expect(() => encrypted(memory(), { key, id: 'a', old: { a: key } })).toThrow(RangeError)
})

test('what is no key is refused before anything is sealed', async () => {
  const key = await newKey()
  for (const options of [undefined, {}, { key: 'secret' }, { key: null }, { key, old: { a: 'x' } }])
    expect(() => encrypted(memory(), options as never)).toThrow(TypeError)
  expect(encrypted(memory(), { key: () => Promise.resolve(key) }).name).toContain('memory')
})

test('what the store can do and what it holds is told less what values grow by', async () => {
  const key = await newKey()
  const caps = { atomic: true, consistency: 'strong' } as const
  const of = (maxValueBytes: number, maxBatchRows: number, maxBatchBytes: number) =>
    encrypted(
      { ...memory(), caps: { ...caps, maxValueBytes, maxBatchRows, maxBatchBytes } },
      { key },
    ).caps
  expect(of(Infinity, Infinity, Infinity)).toEqual(memory().caps)
  for (const [value, rows, bytes] of [
    [65_000, 160, 700_000],
    [1_000_000, 5_000, 1_500_000],
    [1_900_000, Infinity, 64_000_000],
  ] as const) {
    const inside = of(value, rows, bytes)
    const sizes: number[] = []
    const raw: Store = {
      ...memory(),
      commit: async ({ puts = [] }) => String(sizes.push(...puts.map((put) => put.value.length))),
    }
    const store = encrypted(raw, { key })
    await store.commit({ puts: [{ key: 't/a.b/1', value: 'x'.repeat(inside.maxValueBytes) }] })
    expect(sizes.at(-1)).toBeLessThanOrEqual(value)
    expect(sizes.at(-1)).toBeGreaterThan(value - 4)
    expect(inside.maxBatchRows).toBeLessThanOrEqual(rows)
    const count = Math.min(inside.maxBatchRows, 2000)
    const each = Math.floor(inside.maxBatchBytes / count)
    sizes.length = 0
    const puts = Array.from({ length: count }, (_, n) => `t/a.b/${n}`)
    await store.commit({ puts: puts.map((row) => ({ key: row, value: 'x'.repeat(each) })) })
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(bytes)
  }
})

test('closing, watching and what makes it unsafe are those of the store', async () => {
  const key = await newKey()
  const heard: string[] = []
  const raw: Store = {
    ...memory(),
    unsafe: 'luck',
    watch: (row, changed) => {
      heard.push(row)
      changed()
      return () => void heard.push('stopped')
    },
  }
  const store = encrypted(raw, { key })
  store.watch!('h/a', () => heard.push('changed'))()
  expect([store.name, store.unsafe, heard]).toEqual([
    'memory',
    'luck',
    ['h/a', 'changed', 'stopped'],
  ])
  await store.close!()
  await expect(raw.get(['h/a'])).rejects.toMatchObject({ code: 'storage_closed' })
  await expect(store.get(['h/a'])).rejects.toMatchObject({ code: 'storage_closed' })
  const { close: _, ...open } = memory()
  expect(encrypted(open, { key })).not.toHaveProperty('close')
  expect(encrypted(open, { key })).not.toHaveProperty('watch')
})

test('a key that may not open values is no damage', async () => {
  const raw = memory()
  const usable = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 128 }, true, [
    'encrypt',
  ])
  await encrypted(raw, { key: usable }).commit({ puts: [{ key: 'h/a.b', value: 'text' }] })
  const error = await encrypted(raw, { key: usable })
    .get(['h/a.b'])
    .catch((reason: unknown) => reason)
  expect(error).toMatchObject({ name: 'InvalidAccessError' })
})

/** Holds a thread with one row changed against the sound one: told as damage, or as if nothing had happened. */
async function eachDamage(
  damage: (rows: ReadonlyMap<string, string>) => Iterable<Damage>,
): Promise<void> {
  const key = await newKey()
  const raw = memory()
  await told(encrypted(raw, { key }))
  const rows = new Map([...(await rowsOf(raw))].filter(([name]) => !name.includes('other')))
  const sound = await looks(encrypted(await holding(rows), { key }))
  const found = new Set<string>()
  for (const [what, name, value] of damage(rows)) {
    const there = await holding(new Map([...rows, [name, value]]))
    for (const [look, seen] of Object.entries(await looks(encrypted(there, { key }), there))) {
      if (seen === 'corrupt t') found.add(name)
      else expect(seen, `${what}, ${look}`).toBe(sound[look])
    }
  }
  const read = [...rows.keys()].filter((name) => /^(h|t\/[^/]*\/[ci])\//.test(name))
  expect(read.length).toBeGreaterThan(4)
  expect(read.filter((name) => !found.has(name))).toEqual([])
}
