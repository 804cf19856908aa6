import type { Open } from './report.ts'

/** Where a suite can run. Each has a runner of this name in `scripts/places`. */
export type Place =
  | 'node'
  | 'happy-dom'
  | 'chromium'
  | 'firefox'
  | 'webkit'
  | 'workerd'
  | 'deno'
  | 'bun'

/** Cases that need no test runner, so that they run in every place. */
export interface Suite {
  readonly name: string
  readonly places: readonly Place[]
  readonly load: (
    open: Open,
  ) => Promise<readonly { readonly name: string; readonly run: () => unknown }[]>
}

const pages: readonly Place[] = ['chromium', 'firefox', 'webkit']
const processes: readonly Place[] = ['node', 'deno', 'bun']

/** One line a suite. `open` opens a store of the place: memory in processes, IndexedDB in pages, KV in workerd. */
export const suites: readonly Suite[] = [
  {
    name: 'store contract',
    places: [...processes, ...pages],
    load: async (open) => (await import('./contract.ts')).contract(open),
  },
]
