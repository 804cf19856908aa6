import { describe, expect, test } from 'vitest'
import { Crash, storeContract, withFaults, type Fault } from '../../adapters/testing.ts'
import { memory } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/store.ts'

describe('without faults', () => {
  for (const { name, run } of storeContract({ create: () => withFaults(memory()) })) test(name, run)

  test('notes every operation in order, reads included', async () => {
    const store = withFaults(memory())
    await Promise.all([store.get(['h/a', 'h/b']), store.list({ prefix: 't/a/', limit: 1 })])
    await store.commit({
      checks: [{ key: 'h/a', revision: undefined }],
      puts: [{ key: 'h/a', value: '' }],
      deletes: ['h/b'],
    })
    await store.clear('t/a/')
    expect(store.log).toEqual([
      { n: 1, op: 'get', keys: ['h/a', 'h/b'] },
      { n: 2, op: 'list', keys: ['t/a/'] },
      { n: 3, op: 'commit', keys: ['h/a', 'h/b'] },
      { n: 4, op: 'clear', keys: ['t/a/'] },
    ])
    expect(store.crashed).toBe(false)
  })
})

test('a lost reply: it is done, and the caller sees an error that is no crash', async () => {
  const store = withFaults(memory(), [{ at: 1, lose: 'reply' }])
  const error = await put(store, 'a').catch((thrown: unknown) => thrown)
  expect(error).toEqual(new Error('Cannot tell how operation 1 (commit) ended: its reply was lost'))
  expect(error).not.toBeInstanceOf(Crash)
  expect(await keys(store)).toEqual(['h/a'])
})

test('an error: it is not done, and the caller sees that very error', async () => {
  const quota = new RangeError('full')
  const store = withFaults(memory(), [{ at: 1, error: quota }])
  expect(await put(store, 'a').catch((thrown: unknown) => thrown)).toBe(quota)
  expect(await keys(store)).toEqual([])
})

describe('a torn operation', () => {
  const rows = [
    { key: 'h/a', value: 'head' },
    { key: 't/a/1', value: '1' },
    { key: 't/a/2', value: '2' },
  ]

  test.each([
    [0, ['t/a/old']],
    [1, ['t/a/1', 't/a/old']],
    [2, ['t/a/1', 't/a/2', 't/a/old']],
    [3, ['h/a', 't/a/1', 't/a/2', 't/a/old']],
    [4, ['h/a', 't/a/1', 't/a/2']],
  ])('of %i writes does puts first, heads last of these, then deletes', async (tear, expected) => {
    const store = withFaults(memory(), [{ at: 2, tear }])
    await store.commit({ puts: [{ key: 't/a/old', value: '' }] })
    await expect(store.commit({ puts: rows, deletes: ['t/a/old'] })).rejects.toThrow(
      `torn after ${tear} writes`,
    )
    expect([...(await keys(store)), ...(await keys(store, 't/'))]).toEqual(expected)
  })

  test('writes nothing if a check fails', async () => {
    const store = withFaults(memory(), [{ at: 1, tear: 2 }])
    await store
      .commit({ checks: [{ key: 'h/a', revision: 'x' }], puts: rows })
      .catch(() => undefined)
    expect(await keys(store, 't/')).toEqual([])
  })

  test('may be a clear, and may end the process', async () => {
    const store = withFaults(memory(), [
      { at: 2, tear: 1 },
      { at: 2, crash: 'after' },
    ])
    await store.commit({ puts: rows })
    await expect(store.clear('t/a/')).rejects.toThrow(
      'the process is gone in the middle of operation 2 (clear)',
    )
    expect(await keys(store.restart(), 't/')).toEqual(['t/a/2'])
  })
})

test('a delay holds one operation, or all', async () => {
  const one = withFaults(memory(), [{ at: 1, delay: 20 }])
  const order: string[] = []
  await Promise.all([
    put(one, 'slow').then(() => order.push('slow')),
    put(one, 'fast').then(() => order.push('fast')),
  ])
  expect(order).toEqual(['fast', 'slow'])

  const all = withFaults(memory(), [{ at: 'all', delay: 20 }])
  const start = performance.now()
  await put(all, 'a')
  await put(all, 'b')
  expect(performance.now() - start).toBeGreaterThan(35)
})

describe('a frozen operation', () => {
  test('lands late, when released, for two users of one store', async () => {
    const store = withFaults(memory(), [{ at: 1, freeze: true }])
    let landed = false
    const frozen = put(store, 'a').then(() => (landed = true))
    await put(store, 'b')
    expect({ rows: await keys(store), landed }).toEqual({ rows: ['h/b'], landed: false })
    store.release()
    await frozen
    expect(await keys(store)).toEqual(['h/a', 'h/b'])
  })

  test('loses against one that came in between', async () => {
    const store = withFaults(memory(), [{ at: 1, freeze: true }])
    const claim = (by: Store, value: string) =>
      by.commit({ checks: [{ key: 'h/a', revision: undefined }], puts: [{ key: 'h/a', value }] })
    const late = claim(store, 'late')
    expect(await claim(store.restart(), 'other')).toEqual(expect.any(String))
    store.release()
    expect(await late).toBeUndefined()
    expect((await store.get(['h/a']))[0]?.value).toBe('other')
  })

  test('never lands when its process is gone', async () => {
    const store = withFaults(memory(), [
      { at: 1, freeze: true },
      { at: 2, crash: 'before' },
    ])
    const frozen = put(store, 'a')
    await put(store, 'b').catch(() => undefined)
    store.release()
    await expect(frozen).rejects.toThrow(Crash)
    expect(await keys(store.restart())).toEqual([])
  })
})

test('closing is for one process: the next opens the same data', async () => {
  const inner = memory()
  const store = withFaults(inner)
  await put(store, 'a')
  await store.close()
  await expect(store.get(['h/a'])).rejects.toMatchObject({ code: 'storage_closed' })
  expect(await keys(store.restart())).toEqual(['h/a'])
  expect(await keys(inner)).toEqual(['h/a'])
})

test('a watcher hears nothing once its process is gone', async () => {
  let change = (): void => undefined
  let heard = 0
  const watched: Store = {
    ...memory(),
    watch: (_key, changed) => {
      change = changed
      return () => {
        change = () => undefined
      }
    },
  }
  const store = withFaults(watched, [{ at: 1, crash: 'before' }])
  store.watch?.('h/a', () => heard++)
  change()
  await put(store, 'a').catch(() => undefined)
  change()
  expect(heard).toBe(1)
  expect(withFaults(memory()).watch).toBeUndefined()
})

test('a fault that could never happen is refused', () => {
  for (const at of [0, -1, 1.5, Number.NaN]) {
    expect(() => withFaults(memory(), [{ at, crash: 'before' }] satisfies Fault[])).toThrow(
      `Cannot fail at operation ${at}: operations count from 1`,
    )
  }
})

function put(store: Store, name: string): Promise<string | undefined> {
  return store.commit({ puts: [{ key: `h/${name}`, value: name }] })
}

async function keys(store: Store, prefix = 'h/'): Promise<readonly string[]> {
  return (await store.list({ prefix, limit: 100 })).map((entry) => entry.key)
}
