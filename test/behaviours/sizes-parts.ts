// What the tests of sizes share: stores that take little, and a look at what lies in them.
import { memory, type Caps, type Store } from 'heddle'
import { smallStore } from '../fakes/small-store.ts'
import { rowsOf } from './portable.ts'

/** As much as Deno KV takes. */
export const LIKE_DENO: Partial<Caps> = {
  maxValueBytes: 65_000,
  maxBatchRows: 160,
  maxBatchBytes: 700_000,
}

/** Stores by what they take. */
export const SIZES: readonly (readonly [string, () => Store])[] = [
  ['1,000 bytes a value, 5 rows a batch', () => smallStore(memory())],
  ['the same without atomic batches', () => smallStore(memory(), { atomic: false })],
  ['as much as Deno KV', () => smallStore(memory(), LIKE_DENO)],
]

/** Pieces that no row names, and no head. */
export async function stray(store: Store): Promise<string[]> {
  const rows = await rowsOf(store)
  const named = new Set<string>()
  const add = (key: string, count: number): void => {
    for (let n = 0; n < count; n++) named.add(`${key}.${n}`)
  }
  for (const [key, value] of rows) {
    const count = /^\+(\d+)$/.exec(value)
    if (count) add(key.replace(/^(t\/[^/]*\/)/, '$1x/'), Number(count[1]))
    if (!key.startsWith('h/')) continue
    const { born, parts = [] } = JSON.parse(value.slice(0, value.lastIndexOf('~1'))) as {
      readonly born: string
      readonly parts?: readonly (string | readonly [string, number])[]
    }
    for (const part of parts)
      if (typeof part !== 'string') add(`t/${key.slice(2)}.${born}/x/h/${part[0]}`, part[1])
  }
  return [...rows.keys()].filter((key) => /^t\/[^/]*\/x\//.test(key) && !named.has(key))
}
