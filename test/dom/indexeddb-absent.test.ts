import { indexedDb } from 'heddle/indexeddb'
import { expect, test } from 'vitest'

test('where there is no IndexedDB a store can be made, and its first use says so', async () => {
  expect(globalThis.indexedDB).toBeUndefined()
  const store = indexedDb({ name: 'nowhere' })
  const call = store.get(['h/t1'])
  await expect(call).rejects.toThrow('Cannot open database "nowhere": IndexedDB isn\'t here')
})
