import { describe, expect, test } from 'vitest'
import {
  Crash,
  storeContract,
  withFaults,
  type Fault,
  type FaultyStore,
} from '../../adapters/testing.ts'
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

describe('a crash', () => {
  test('before an operation leaves nothing of it, and nothing works from then on', async () => {
    const store = withFaults(memory(), [{ at: 2, crash: 'before' }])
    await put(store, 'a')
    await expect(put(store, 'b')).rejects.toThrow(Crash)
    await expect(store.get(['h/a'])).rejects.toThrow(Crash)
    await expect(store.clear('t/a/')).rejects.toThrow('Cannot use the store: the process is gone')
    expect({ crashed: store.crashed, operations: store.log.length }).toEqual({
      crashed: true,
      operations: 2,
    })
    expect(await keys(store.restart())).toEqual(['h/a'])
  })

  test('after an operation leaves it whole', async () => {
    const store = withFaults(memory(), [{ at: 2, crash: 'after' }])
    await put(store, 'a')
    await expect(put(store, 'b')).rejects.toThrow(
      'Cannot go on: the process is gone after operation 2 (commit)',
    )
    expect(await keys(store.restart())).toEqual(['h/a', 'h/b'])
  })

  test('at a read takes the process too', async () => {
    const store = withFaults(memory(), [{ at: 1, crash: 'after' }])
    await expect(store.get(['h/a'])).rejects.toMatchObject({ name: 'Crash' })
    expect(store.crashed).toBe(true)
  })

  test('keeps replies from calls that were under way', async () => {
    const store = withFaults(memory(), [
      { at: 1, delay: 5 },
      { at: 2, crash: 'before' },
    ])
    const slow = put(store, 'slow')
    await expect(put(store, 'b')).rejects.toThrow(Crash)
    await expect(slow).rejects.toThrow(Crash)
    expect(await keys(store.restart())).toEqual([])
  })

  test('at every place of a story leaves a store that a new process can go on with', async () => {
    for (const crash of ['before', 'after'] as const) {
      for (let at = 1; at <= 5; at++) {
        const store = withFaults(memory(), [{ at, crash }])
        await expect(countToTwo(store)).rejects.toThrow(Crash)
        const next = store.restart()
        await countToTwo(next)
        expect((await next.get(['h/n']))[0]?.value).toBe('2')
      }
    }
  })
})

test('a restart takes faults of its own and counts from 1', async () => {
  const first = withFaults(memory(), [{ at: 1, crash: 'after' }])
  await put(first, 'a').catch(() => undefined)
  const second = first.restart([{ at: 2, crash: 'before' }])
  expect(await keys(second)).toEqual(['h/a'])
  await expect(keys(second)).rejects.toThrow(Crash)
  expect([first.log.length, second.log.length]).toEqual([1, 2])
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

/** Five operations, safe to begin again. */
async function countToTwo(store: FaultyStore): Promise<void> {
  for (let n = 1; n <= 2; n++) {
    const [row] = await store.get(['h/n'])
    const value = String(Math.max(n, Number(row?.value ?? 0)))
    const made = await store.commit({
      checks: [{ key: 'h/n', revision: row?.revision }],
      puts: [{ key: 'h/n', value }],
    })
    if (made === undefined) throw new Error('Cannot count: someone else wrote')
  }
  await store.list({ prefix: 'h/', limit: 1 })
}
