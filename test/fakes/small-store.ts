import type { Caps, Store } from 'heddle'

/** What the least of stores takes. */
export const SMALL = { maxValueBytes: 1_000, maxBatchRows: 5, maxBatchBytes: 4_000 } as const

/** A store that takes little, and throws at everything that is too much for it. */
export function smallStore(store: Store, caps: Partial<Caps> = {}): Store {
  const most: Caps = { ...store.caps, ...SMALL, ...caps }
  return {
    ...store,
    name: `small ${store.name}`,
    caps: most,
    async commit(batch) {
      const { puts = [], deletes = [] } = batch
      const bytes = puts.map(({ value }) => new TextEncoder().encode(value).length)
      const keys = [...puts.map(({ key }) => key), ...deletes]
      refuse('a value of bytes', Math.max(0, ...bytes), most.maxValueBytes)
      refuse('a batch of rows', keys.length, most.maxBatchRows)
      refuse(
        'a batch of bytes',
        sum([...bytes, ...keys.map(({ length }) => length)]),
        most.maxBatchBytes,
      )
      refuse('a key of bytes', Math.max(0, ...keys.map(({ length }) => length)), 256)
      refuse('a key so often', keys.length - new Set(keys).size, 0)
      for (const { key, value } of puts)
        if (/\p{Surrogate}/u.test(value))
          throw new TypeError(`Cannot write row "${key}": half a character`)
      return store.commit(batch)
    },
  }
}

function refuse(what: string, count: number, most: number): void {
  if (count > most) throw new RangeError(`Cannot write ${what}: ${count}, at most ${most}`)
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)
