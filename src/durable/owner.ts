import type { Clock } from '../lib/clock.ts'
import { ascending, letters } from '../lib/ids.ts'
import type { Key, Put, Store } from '../store/store.ts'
import type { Head } from './head.ts'

/** What a claim needs of its app. */
export interface Owner {
  readonly store: Store
  readonly clock: Clock
  readonly random: () => number
  /** Names this process among others. */
  readonly name: string
  readonly leaseMs: number
  /** Who wants to hear of commits of this process, by the place of the thread. */
  readonly listeners: Map<string, Set<() => void>>
}

/** Rows to write and to remove beside the head. */
export interface Change {
  readonly puts?: Put[]
  readonly deletes?: Key[]
  readonly durable?: boolean
}

/** The next id of a thread: sorts by creation whatever the clock does. */
export function mint(
  head: Pick<Head, 'last'>,
  { clock, random }: Pick<Owner, 'clock' | 'random'>,
): string {
  head.last = Math.max(clock.now(), head.last + 1)
  return ascending(head.last) + letters(random)
}

/** What an index row says: where to look, unless that is long; its key says it too. The head decides whether it is still true. */
export const hint = ({ tenant, thread }: Pick<Head, 'tenant' | 'thread'>): string =>
  tenant.length + thread.length > 100 ? '[]' : JSON.stringify([tenant, thread])
