import { describe, expect, test } from 'vitest'
import { cdp } from 'vitest/browser'
import { indexedDb, type IndexedDbEvent } from 'heddle/indexeddb'
import { suite } from './indexeddb.suite.ts'
import { deleteDatabase, freshName, refusedWith, retold } from './indexeddb.tools.ts'

for (const { name, run } of suite) test(name, run)

describe('what only Chromium lets a test do', () => {
  test('when the disk is full nothing is lost, and small rows go on', async () => {
    const bucket = await buckets().open('small', { quota: 4_000_000 })
    const { store, events } = opened(bucket.indexedDB)
    const revision = await store.commit({ puts: [{ key: 'h/t1', value: 'one' }] })
    const puts = Array.from({ length: 80 }, (_, n) => ({ key: `t/${n}`, value: noise(200_000) }))
    const checks = [{ key: 'h/t1', revision }]
    for (const durable of [{}, { durable: true }] as const) {
      const batch = { checks, puts: [{ key: 'h/t1', value: 'two' }, ...puts], ...durable }
      expect(await refusedWith(store.commit(batch))).toBe('storage_quota')
    }
    expect(events).toEqual([1, 2].map(() => ({ kind: 'quota', freed: 0 })))
    expect(await store.list({ prefix: '', limit: 99 })).toEqual([
      { key: 'h/t1', value: 'one', revision },
    ])
    expect(await store.commit({ checks, puts: [{ key: 'h/t1', value: 'three' }] })).toBeDefined()
    expect(await retold(store, 'h/t1')).toBe('three')
    await store.close?.()
    await buckets().delete('small')
  })

  test('when site data is cleared the store is empty, and says so', async () => {
    const { name, store, events } = opened(indexedDB)
    const revision = await store.commit({ puts: [{ key: 'h/t1', value: 'one' }], durable: true })
    await cdp().send('Storage.clearDataForOrigin', {
      origin: location.origin,
      storageTypes: 'indexeddb',
    })
    const next = { checks: [{ key: 'h/t1', revision }], puts: [{ key: 'h/t1', value: 'two' }] }
    expect(await store.commit(next)).toBeUndefined()
    expect(await store.list({ prefix: '', limit: 99 })).toEqual([])
    expect(events).toEqual([{ kind: 'reset' }])
    expect(await store.commit({ puts: next.puts })).toBeDefined()
    await store.close?.()
    await deleteDatabase(name)
  })
})

/** The part of the Storage Buckets API that this file uses. */
interface Buckets {
  open(name: string, options: { quota: number }): Promise<{ readonly indexedDB: IDBFactory }>
  delete(name: string): Promise<void>
}

const buckets = (): Buckets => (navigator as unknown as { storageBuckets: Buckets }).storageBuckets

function opened(factory: IDBFactory) {
  const name = freshName()
  const events: IndexedDbEvent[] = []
  const store = indexedDb({ name, factory, onEvent: (event) => events.push(event) })
  return { name, events, store }
}

/** Text that a disk can't make much smaller. */
function noise(length: number): string {
  let text = ''
  while (text.length < length) text += Math.random().toString(36).slice(2)
  return text.slice(0, length)
}
