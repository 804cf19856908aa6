import type { Key, Put, Store } from '../store/store.ts'
import type { Head } from './head.ts'

/** Rows as a head carries them. */
export const carried = (puts: readonly Put[], deletes: readonly Key[]): Head['redo'] => [
  ...puts.map(({ key, value }) => [key, value] as const),
  ...deletes.map((key) => [key, null] as const),
]

/** The rows under some keys: those that are known, or as they are stored. */
export async function knownOr(
  store: Store,
  known: ReadonlyMap<Key, string | null>,
  keys: readonly Key[],
): Promise<readonly ({ readonly value: string } | undefined)[]> {
  // Nobody asks for a row that may still come: a place where reads lag would go on saying that it isn't there.
  const stored = await store.get(keys.filter((key) => known.get(key) == null))
  let n = 0
  return keys.map((key) => {
    const value = known.get(key)
    return value == null ? stored[n++] : { value }
  })
}

/** Rows that are to be written, or removed where they are null. */
export class Held extends Map<Key, string | null> {
  add(puts: readonly Put[], deletes: readonly Key[]): void {
    for (const { key, value } of puts) this.set(key, value)
    // What is only held has never been stored.
    for (const key of deletes) if (!this.delete(key)) this.set(key, null)
  }

  /** Hands everything over. */
  take(): { puts: Put[]; deletes: Key[] } {
    const rows = [...this]
    this.clear()
    return {
      puts: rows.flatMap(([key, value]) => (value === null ? [] : { key, value })),
      deletes: rows.flatMap(([key, value]) => (value === null ? key : [])),
    }
  }
}
