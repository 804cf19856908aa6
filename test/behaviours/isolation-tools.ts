import { field, type Schema } from 'heddle'

export interface Item {
  n: number
}

/** A field of items that nobody may change from afar. */
export const items = (): Schema<Item[] | undefined, Item[]> => field<Item[]>([])

/** What they are at first, and must stay. */
export const kept: Item[] = [{ n: 1 }]

export const input = (): { items: Item[] } => ({ items: [{ n: 1 }] })

/** Changes everything that can be changed about a list of items. */
export function spoil(list: Item[]): void {
  for (const item of list) item.n = 50
  list.push({ n: 99 })
}
