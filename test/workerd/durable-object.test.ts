import { env, runInDurableObject } from 'cloudflare:test'
import { describe, expect, test } from 'vitest'
import { durableObjectStore, type ObjectStorage } from '../../adapters/durable-object.ts'
import { storeContract } from '../../adapters/testing.ts'
import type { Store } from '../../src/index.ts'
import type { Room } from './worker.ts'

const { ROOM, PLAIN } = env as unknown as Record<'ROOM' | 'PLAIN', DurableObjectNamespace<Room>>

/** Runs in an object of its own. */
function inside<Result>(
  work: (storage: DurableObjectStorage) => Promise<Result>,
  rooms = ROOM,
): Promise<Result> {
  return runInDurableObject(rooms.get(rooms.newUniqueId()), (_, { storage }) => work(storage))
}

describe('the contract, in a Durable Object of workerd', () => {
  for (const { name } of storeContract({ create: outside })) {
    test(name, () =>
      inside(async (storage) => {
        const cases = storeContract({ create: () => durableObjectStore(storage) })
        await cases.find((one) => one.name === name)!.run()
      }),
    )
  }
})

test('a value as long as the limit is kept whole, whatever it is made of', () =>
  inside(async (storage) => {
    const store = durableObjectStore(storage)
    const texts = ['x', '"', '漢', '😀']
    const longest = texts.map((text) => {
      const bytes = new TextEncoder().encode(text).length
      return text.repeat(Math.floor(store.caps.maxValueBytes / bytes))
    })
    for (const value of longest) {
      await store.commit({ puts: [{ key: 'h/t', value }] })
      expect((await store.get(['h/t']))[0]?.value === value).toBe(true)
    }
  }))

test('the table is made by the first call, whichever it is, and again when it is gone', () =>
  inside(async (storage) => {
    const store = durableObjectStore(storage)
    expect(await store.get(['h/t'])).toEqual([undefined])
    await store.commit({ puts: [{ key: 'h/t', value: 'here' }] })
    await storage.deleteAll()
    expect(await store.list({ prefix: 'h/', limit: 9 })).toEqual([])
    await storage.deleteAll()
    await store.clear('t/')
    await storage.deleteAll()
    await store.commit({ puts: [{ key: 'h/t', value: 'again' }] })
    expect((await durableObjectStore(storage).get(['h/t']))[0]?.value).toBe('again')
  }))

test('a commit marked durable waits for the disk, and no other does', () =>
  inside(async (storage) => {
    const { counted, syncs } = counting(storage)
    const store = durableObjectStore(counted)
    const revision = await store.commit({ puts: [{ key: 'h/t', value: 'one' }] })
    expect(syncs()).toBe(0)
    const check = { key: 'h/t', revision }
    await store.commit({ checks: [check], puts: [{ key: 'h/t', value: 'two' }], durable: true })
    expect(syncs()).toBe(1)
    expect(await store.commit({ checks: [check], durable: true })).toBeUndefined()
    expect(syncs()).toBe(1)
  }))

test('of two puts of a row the last counts; a delete comes after puts', () =>
  inside(async (storage) => {
    const store = durableObjectStore(storage)
    const puts = ['first', 'last'].flatMap((value) => [
      { key: 't/a', value },
      { key: 't/b', value },
    ])
    await store.commit({ puts, deletes: ['t/b'] })
    expect((await store.get(['t/a', 't/b'])).map((row) => row?.value)).toEqual(['last', undefined])
  }))

test('what was committed is there after the object was evicted', async () => {
  const room = () => ROOM.get(ROOM.idFromName('evicted'))
  const write = (value: string) =>
    runInDurableObject(room(), async (instance, { storage }) => {
      const before = await durableObjectStore(storage).get(['h/t'])
      await durableObjectStore(storage).commit({ puts: [{ key: 'h/t', value }], durable: true })
      return { instance: instance.id, before: before[0]?.value }
    })
  const first = await write('one')
  await runInDurableObject(room(), (_, state) => state.abort('evicted')).catch(() => {})
  const second = await write('two')
  expect(second).toEqual({ instance: expect.any(String), before: 'one' })
  expect(second.instance).not.toBe(first.instance)
})

test('in an object without SQLite every call rejects', () =>
  inside(async (storage) => {
    const store = durableObjectStore(storage)
    await expect(store.get(['h/t'])).rejects.toThrow('SQL')
    await expect(store.commit({ deletes: ['h/t'] })).rejects.toThrow('SQL')
  }, PLAIN))

/** A storage that counts how often it was asked to be on disk. */
function counting(storage: ObjectStorage): {
  readonly counted: ObjectStorage
  readonly syncs: () => number
} {
  let count = 0
  const counted: ObjectStorage = {
    sql: storage.sql,
    transactionSync: (work) => storage.transactionSync(work),
    async sync() {
      count++
      await storage.sync()
    },
  }
  return { counted, syncs: () => count }
}

function outside(): Store {
  throw new Error('Cannot open a store outside of an object')
}
