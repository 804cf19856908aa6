import type { Open, Suite } from './report.ts'

/** Suites that need nothing of a page: one entry each. `open` opens a store of the place. */
export const suites: readonly Suite[] = [
  {
    name: 'store contract',
    // Workers KV keeps less than the whole contract: test/workerd says what.
    places: ['node', 'deno', 'bun'],
    load: async (open: Open) => (await import('./contract.ts')).contract(open),
  },
]
