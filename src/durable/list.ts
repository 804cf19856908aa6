import { decode, type Cell } from './codec.ts'

/**
 * A list that only grows. Versions share one backing array: appending to the newest version pushes, appending to an
 * older one copies. The items are cells, so a version never changes.
 */
export class List {
  readonly items: Cell[]
  readonly length: number

  constructor(items: Cell[]) {
    this.items = items
    this.length = items.length
  }

  append(cells: readonly Cell[]): List {
    const items = this.items.length === this.length ? this.items : this.items.slice(0, this.length)
    for (const cell of cells) items.push(cell)
    return new List(items)
  }

  /** A fresh copy for a reader who may do what they like with it. */
  copy(): unknown[] {
    const copy: unknown[] = this.items.slice(0, this.length)
    for (let i = 0; i < copy.length; i++) {
      const item = copy[i]
      if (typeof item === 'object' && item !== null) copy[i] = decode(item as Cell)
    }
    return copy
  }
}

/** What a field holds: a cell, or a list of them. Absent fields are `undefined`. */
export type Value = Cell | List | undefined

/** A fresh copy of what a field holds. */
export const copyOf = (value: Value): unknown =>
  value instanceof List ? value.copy() : value === undefined ? undefined : decode(value)
