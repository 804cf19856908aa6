import type { Guarantee } from '../../../adapters/testing.ts'
import type { Store } from '../../../src/store/store.ts'

/** Stores that each break one promise, by what is wrong with them. */
export type BrokenStores<Broken extends Guarantee> = {
  readonly [G in Broken]: { readonly [how: string]: (store: Store) => Partial<Store> }
}
