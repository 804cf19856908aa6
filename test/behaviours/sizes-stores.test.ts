// What is more than a store takes at once, on every store that Node can open.
import { describe, it } from 'vitest'
import { suite } from './sizes.suite.ts'
import { LIKE_DENO } from './sizes-parts.ts'
import { memoryStores } from '../runtime/memory-stores.ts'
import { smallStore } from '../fakes/small-store.ts'
import { onEveryStore } from './stores.ts'

onEveryStore(suite)

describe('a store of the limits of Deno KV', () => {
  const stores = memoryStores()
  for (const { name, run } of suite(async (store) => smallStore(await stores(store), LIKE_DENO)))
    it(name, run)
})
