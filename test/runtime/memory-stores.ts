import { memory } from 'heddle'
import type { Store } from '../../src/store/store.ts'

/** Memory stores by name, so that opening one again finds its rows. */
export function memoryStores(): (name: string) => Store {
  const stores = new Map<string, Store>()
  return (name) => {
    const store = stores.get(name) ?? memory()
    stores.set(name, store)
    return store
  }
}
