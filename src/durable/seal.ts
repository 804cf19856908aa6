import type { Entry, Key, Store } from '../store/store.ts'

/** How a row ends: the way it is written, and its sum. Another way is not for this version to read. */
const MARK = '~1'
const DIGITS = 7

/**
 * The same store, whose rows end with a sum over their key and their text. A row that was changed, cut off or put under
 * another key reads as an empty text, so that whoever reads it finds it damaged. That is against accidents: who changes
 * rows on purpose can change the sum too (`encrypted` is against that).
 */
export function sealed(store: Store): Store {
  const open = (entry: Entry): Entry => {
    const { key, value } = entry
    const text = value.slice(0, -DIGITS - MARK.length)
    return { ...entry, value: seal(key, text) === value ? text : '' }
  }
  return {
    name: store.name,
    caps: store.caps,
    ...(store.unsafe !== undefined && { unsafe: store.unsafe }),
    get: async (keys) => (await store.get(keys)).map((entry) => entry && open(entry)),
    list: async (range) => (await store.list(range)).map(open),
    commit: (batch) =>
      store.commit({
        ...batch,
        puts: (batch.puts ?? []).map((put) => ({ ...put, value: seal(put.key, put.value) })),
      }),
    clear: (prefix) => store.clear(prefix),
  }
}

const seal = (key: Key, text: string): string => text + MARK + sum(key + text)

/** Any one unit that changes changes the sum: every step is a bijection of the state. Two units a turn. */
function sum(text: string): string {
  const last = text.length - 1
  let state = last
  let i = 0
  for (; i < last; i += 2)
    state = Math.imul(state ^ (text.charCodeAt(i) | (text.charCodeAt(i + 1) << 16)), 0x9e3779b1)
  if (i === last) state = Math.imul(state ^ text.charCodeAt(i), 0x9e3779b1)
  return (state >>> 0).toString(36).padStart(DIGITS, '0')
}
