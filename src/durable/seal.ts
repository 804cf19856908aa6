import { over } from '../store/over.ts'
import type { Entry, Key, Store } from '../store/store.ts'

/** How a row ends: the way it is written, and its sum. Another way is not for this version to read. */
const MARK = '~1'
const SUM = 7

/**
 * The same store, whose rows end with a sum over their key and their text. A row that was changed, cut off or put under
 * another key reads as an empty text, so that whoever reads it finds it damaged. That is against accidents: who changes
 * rows on purpose can change the sum too (`encrypted` is against that).
 */
export function sealed(store: Store): Store {
  const open = (entry: Entry | undefined): Entry | undefined => {
    if (!entry) return entry
    try {
      const { key, value, revision } = entry
      const text = value.slice(0, Math.max(0, value.lastIndexOf(MARK)))
      return { key, value: seal(key, text) === value ? text : '', revision }
    } catch {
      // Whoever reads its value will hear why it can't be.
      return entry
    }
  }
  return over(store, {
    caps: { ...store.caps, maxValueBytes: store.caps.maxValueBytes - MARK.length - SUM },
    get: async (keys) => (await store.get(keys)).map(open),
    list: async (range) => (await store.list(range)).map(open) as Entry[],
    commit: ({ puts = [], ...batch }) =>
      store.commit({
        ...batch,
        puts: puts.map((put) => ({ ...put, value: seal(put.key, put.value) })),
      }),
  })
}

const seal = (key: Key, text: string): string =>
  text + MARK + (sum(text, sum(key, text.length)) >>> 0).toString(36).padStart(SUM, '0')

/** Any one unit that changes changes the sum: every step is a bijection of the state. Two units a turn. */
function sum(text: string, state: number): number {
  const last = text.length - 1
  let i = 0
  for (; i < last; i += 2)
    state = Math.imul(state ^ (text.charCodeAt(i) | (text.charCodeAt(i + 1) << 16)), 0x9e3779b1)
  return i === last ? Math.imul(state ^ text.charCodeAt(i), 0x9e3779b1) : state
}
