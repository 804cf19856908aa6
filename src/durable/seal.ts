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
  const open = (entry: Entry): Entry => ({ ...entry, value: unseal(entry.key, entry.value) })
  return {
    name: store.name,
    caps: store.caps,
    ...(store.unsafe !== undefined && { unsafe: store.unsafe }),
    get: (keys) => store.get(keys).then((entries) => entries.map((entry) => entry && open(entry))),
    list: (range) => store.list(range).then((entries) => entries.map(open)),
    commit: store.volatile
      ? (batch) => store.commit(batch)
      : ({ puts = [], ...batch }) =>
          store.commit({
            ...batch,
            puts: puts.map((put) => ({ ...put, value: seal(put.key, put.value) })),
          }),
    clear: (prefix) => store.clear(prefix),
    ...(store.watch && { watch: (key, changed) => store.watch?.(key, changed) ?? (() => {}) }),
  }
}

function seal(key: Key, text: string): string {
  return text + MARK + sum(key, text, text.length)
}

/** A text without a mark was written by a store that needed none: it is JSON, or it is damaged. */
function unseal(key: Key, text: string): string {
  const end = text.length - DIGITS - MARK.length
  if (!text.startsWith(MARK, end)) return text
  return text.endsWith(sum(key, text, end)) ? text.slice(0, end) : ''
}

/** Any one unit that changes changes the sum: every step is a bijection of the state. */
function sum(key: Key, text: string, length: number): string {
  let state = 0x811c9dc5 ^ length
  for (let i = 0; i < key.length; i++) state = Math.imul(state ^ key.charCodeAt(i), 0x01000193)
  let i = 0
  for (; i + 1 < length; i += 2)
    state = Math.imul(state ^ (text.charCodeAt(i) | (text.charCodeAt(i + 1) << 16)), 0x9e3779b1)
  if (i < length) state = Math.imul(state ^ text.charCodeAt(i), 0x9e3779b1)
  return (state >>> 0).toString(36).padStart(DIGITS, '0')
}
