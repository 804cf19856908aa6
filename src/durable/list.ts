import { decode, Tagged, type Cell } from './codec.ts'

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
    const items = this.items.length === this.length ? this.items : this.cells()
    for (const cell of cells) items.push(cell)
    return new List(items)
  }

  /** What is in it, in order. */
  cells(): Cell[] {
    return this.items.slice(0, this.length)
  }

  /** A fresh copy for a reader who may do what they like with it. */
  copy(): unknown[] {
    const copy: unknown[] = this.cells()
    for (let i = 0; i < copy.length; i++) {
      const item = copy[i]
      if (typeof item === 'object' && item !== null) copy[i] = decode(item as Cell)
    }
    return copy
  }
}

/** What was done to a list of messages: one of a new id comes last, one that stands in for that of its id, or a removal. */
interface Operation {
  readonly id: string
  readonly role?: string
  readonly replace?: { readonly id: string }
  readonly remove?: string
}

/** What the members of a message or an operation are, as far as JSON can tell them. */
export const membersOf = <Members = Operation>(cell: Cell): Members =>
  Object(cell instanceof Tagged ? cell.tree : cell) as Members

/** The cell of an object that holds another under a name, and back. */
const around = (name: string, cell: Cell): Cell => {
  if (!(cell instanceof Tagged)) return { [name]: cell } as Cell
  const tags = cell.tags.map(([type, ...path]) => [type, name, ...path] as const)
  return new Tagged({ [name]: cell.tree }, tags)
}
const inside = (name: string, cell: Cell): Cell => {
  const tree = membersOf<Record<string, never>>(cell)[name] as unknown as Cell
  if (!(cell instanceof Tagged)) return tree
  return new Tagged(
    tree as never,
    cell.tags.map(([type, , ...path]) => [type, ...path] as const),
  )
}

/** The message that an operation brings, if it brings one. */
export const messageIn = (cell: Cell): Cell =>
  membersOf(cell).replace ? inside('replace', cell) : cell

/** A message that is there for the first time. */
export interface News {
  readonly id: string
  readonly role: string
}

/** What is there after so many operations. */
interface Seen {
  upTo: number
  readonly there: Map<string, Cell>
  /** Ids that were removed at some time. */
  readonly gone: Set<string>
}

const unseen = (): Seen => ({ upTo: 0, there: new Map(), gone: new Set() })

/**
 * A list of messages, each once by its id. Its items are what was done to it, so that what is stored grows with what
 * changed; what that comes to is kept with the newest version, and worked out again for an older one.
 */
export class Messages extends List {
  readonly #seen: Seen

  constructor(operations: Cell[] = [], seen: Seen = unseen()) {
    super(operations)
    this.#seen = seen
  }

  /** The messages by their ids, in order. Good until something is appended. */
  get there(): ReadonlyMap<string, Cell> {
    return this.#upTo(this.length).there
  }

  #upTo(length: number): Seen {
    const seen = this.#seen.upTo > length ? unseen() : this.#seen
    const { there, gone } = seen
    for (; seen.upTo < length; seen.upTo++) {
      const cell = this.items[seen.upTo] as Cell
      const { id, replace, remove } = membersOf(cell)
      if (remove === undefined) there.set((replace ?? { id }).id, messageIn(cell))
      else if (there.delete(remove)) gone.add(remove)
    }
    return seen
  }

  /** Takes messages and removals, or operations as they were stored. */
  override append(cells: readonly Cell[]): Messages {
    const newest = this.items.length === this.length
    const next = newest ? this : new Messages(super.cells())
    for (const cell of cells) {
      const { there } = next.#upTo(next.items.length)
      next.items.push(there.has(membersOf(cell).id) ? around('replace', cell) : cell)
    }
    return new Messages(next.items, next.#seen)
  }

  /**
   * The messages that have come since it was so long, and were never there before.
   *
   * @param known Ids that are no news
   */
  since(length = 0, known?: ReadonlySet<string>): News[] {
    const { there, gone } = this.#upTo(this.length)
    return this.items.slice(length, this.length).flatMap((cell) => {
      const { id, role } = membersOf(cell)
      const isNew = role !== undefined && there.has(id) && !gone.has(id) && !known?.has(id)
      return isNew ? { id, role } : []
    })
  }

  /** The ids of all that are or were there. */
  ids(): Set<string> {
    const { there, gone } = this.#upTo(this.length)
    return new Set([...there.keys(), ...gone])
  }

  override cells(): Cell[] {
    return [...this.there.values()]
  }

  override copy(): unknown[] {
    return this.cells().map(decode)
  }

  /** The same without what has come and gone: worth it when that is most. */
  compact(): Messages {
    return this.length > 2 * this.there.size + 64 ? new Messages(this.cells()) : this
  }
}

/** What a field holds: a cell, or a list of them. Absent fields are `undefined`. */
export type Value = Cell | List | undefined

/** A fresh copy of what a field holds. */
export const copyOf = (value: Value): unknown =>
  value instanceof List ? value.copy() : value === undefined ? undefined : decode(value)
