import type { Store } from './store.ts'

/** A store that lies over another: whatever it doesn't do itself, the one beneath does. */
export const over = (
  store: Store,
  own: Pick<Store, 'caps' | 'get' | 'list' | 'commit'>,
): Store => ({
  name: store.name,
  ...(store.unsafe !== undefined && { unsafe: store.unsafe }),
  clear: (prefix) => store.clear(prefix),
  ...(store.watch && { watch: (key, changed) => store.watch!(key, changed) }),
  ...(store.close && { close: () => store.close!() }),
  ...own,
})
