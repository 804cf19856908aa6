import { decode, encode, type Cell } from '../durable/codec.ts'
import type { CacheKind } from './envelope.ts'
import { follow, lead, type Flights, type Lead } from './flight.ts'
import { keep, recall, type ToolResultCache } from './results.ts'

/** What came of work that others may share. */
export interface Shared {
  readonly cell: Cell
  /** It comes from the cache, or from the same work beside it. */
  readonly cached?: true
}

/** Work that others may share, and where what comes of it is kept. */
export interface Sharing {
  readonly cache: ToolResultCache
  readonly kind: CacheKind
  readonly key: string
  readonly flights: Flights
  readonly signal: AbortSignal
  readonly ttl?: number | undefined
  /** Whether a cached value is one. @default any is */
  readonly good?: (value: unknown) => boolean
  /** Waits for the cache, as long as it may take; nothing if it takes longer. */
  patient<Value>(work: () => Promise<Value>): Promise<Value | undefined>
}

/** Who leads: has to `end` however it ends, on a pause as well; and what keeps the result, once that may be kept. */
export interface Leading {
  flight?: Lead
  save?: () => Promise<unknown>
}

/**
 * Looks a result up, or waits for the same work under way, or does it for all who want the same. A leader that fails, is
 * aborted or waits for a person leaves the others to themselves.
 *
 * @param leading Is told of the flight, and how to keep what came of it
 */
export async function shared(
  { cache, kind, key, flights, signal, ttl, good, patient }: Sharing,
  leading: Leading,
  make: () => Promise<Cell>,
): Promise<Shared> {
  const own = lead(flights, key)
  if (!own) {
    const theirs = await follow(flights, key, signal)
    return theirs ? { ...theirs, cached: true } : { cell: await make() }
  }
  leading.flight = own
  const hit = await patient(() => recall(cache, kind, key))
  const found = hit && (good?.(hit.value) ?? true)
  const cell = found ? encode(hit.value) : await make()
  if (!found) leading.save = () => patient(() => keep(cache, kind, key, decode(cell), ttl))
  own.land(cell)
  return found ? { cell, cached: true } : { cell }
}
