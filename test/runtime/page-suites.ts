import type { Suite } from './report.ts'

// Chromium meets these in vitest's browser project.
const pages = ['firefox', 'webkit'] as const

/** Suites of a page: one entry each, a `*.suite.ts` of `{ name, run }`. */
export const pageSuites: readonly Suite[] = [
  {
    name: 'indexeddb',
    places: pages,
    load: async () => (await import('../browser/indexeddb.suite.ts')).suite,
  },
]
