import { describe, expect, test } from 'vitest'
import { Crash, withFaults, type FaultyStore } from '../../adapters/testing.ts'
import { memory } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/store.ts'

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
