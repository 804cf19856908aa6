import { expect, test } from 'vitest'
import { storeContract } from '../../adapters/testing.ts'
import { memory } from '../../src/store/memory.ts'

for (const { name, run } of storeContract({ create: () => memory() })) test(name, run)

test('lists what a plain map would, whatever comes and goes', async () => {
  const random = numbers(42)
  const store = memory()
  const model = new Map<string, string>()
  const prefixes = ['t/a.1/', 't/a.1/c/', 't/a.2/', 't/', 'd/', 'h/', 'n/none/']
  for (let step = 0; step < 3000; step++) {
    const puts = Array.from({ length: random(step % 500 ? 4 : 200) }, () => ({
      key: anyKey(random),
      value: `${step}`,
    }))
    const deletes = Array.from({ length: random(4) }, () => anyKey(random))
    await store.commit({ puts, deletes })
    for (const { key, value } of puts) model.set(key, value)
    for (const key of deletes) model.delete(key)
    if (step % 700 === 699) {
      await store.clear('t/a.1/c/')
      for (const key of model.keys()) if (key.startsWith('t/a.1/c/')) model.delete(key)
    }
    if (random(3)) continue
    const prefix = prefixes[random(prefixes.length)] as string
    const after = random(2) ? anyKey(random) : ''
    const limit = random(2) ? 1000 : random(9)
    const expected = [...model].filter(([key]) => key.startsWith(prefix) && key > after)
    const listed = await store.list({ prefix, limit, after })
    expect(listed.map(({ key, value }) => [key, value])).toEqual(
      expected.toSorted(([a], [b]) => (a < b ? -1 : 1)).slice(0, limit),
    )
  }
  expect(model.size).toBeGreaterThan(100)
})

test('keeps what was read when the row is rewritten or removed', async () => {
  const store = memory()
  const first = await store.commit({ puts: [{ key: 'h/a.1', value: 'one' }] })
  const [read] = await store.get(['h/a.1'])
  const [listed] = await store.list({ prefix: 'h/', limit: 1 })
  await store.commit({ puts: [{ key: 'h/a.1', value: 'two' }] })
  await store.commit({ deletes: ['h/a.1'] })
  const kept = { key: 'h/a.1', value: 'one', revision: first }
  expect([read, listed]).toEqual([kept, kept])
})

test('two stores share nothing', async () => {
  const [one, other] = [memory(), memory()]
  await one.commit({ puts: [{ key: 'h/a.1', value: 'one' }] })
  await one.close?.()
  expect(await other.get(['h/a.1'])).toEqual([undefined])
})

test('says what it is closed for', async () => {
  const store = memory()
  await store.close?.()
  await expect(store.get([])).rejects.toMatchObject({
    name: 'StorageClosed',
    message: 'Cannot use store "memory": it is closed',
    details: { store: 'memory' },
  })
})

/** Few enough keys that rows are often rewritten, removed and put back. */
function anyKey(random: (below: number) => number): string {
  const kind = ['t/a.1/c/', 't/a.1/v/', 't/a.2/c/', 'd/', 'h/'][random(5)] as string
  return `${kind}${random(90)}`
}

/** The same numbers each time. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
