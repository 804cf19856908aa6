import { decode, encode, type Cell } from '../durable/codec.ts'
import type { Logger } from '../lib/logger.ts'
import type { Bounds, Watch } from '../lib/within.ts'
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
  /** Rejects, or gives nothing, if there is no key: nothing is shared then. */
  readonly key: () => Promise<string | undefined>
  readonly flights: Flights
  readonly ttl?: number | undefined
  /** Whether a cached value is one. @default any is */
  readonly good?: (value: unknown) => boolean
  /** What it is the cache of, in words. */
  readonly whose: string
  /** How long the cache is waited for: one that takes its time is one that knows nothing. */
  readonly watch: Watch
  readonly bounds: Bounds
  readonly logger: Logger
}

/** Who leads has to `end` however it ends, on a pause as well; and what keeps the result, once that may be kept. */
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
  { cache, kind, key: keyOf, flights, ttl, good, whose, watch, bounds, logger }: Sharing,
  leading: Leading,
  make: () => Promise<Cell>,
): Promise<Shared> {
  const { signal } = bounds
  const patient = async <Value>(work: () => Promise<Value>): Promise<Value | undefined> => {
    try {
      return await watch.wait(work, { ...bounds, what: `The cache of ${whose}` })
    } catch (error) {
      if (signal.aborted) throw error
      logger.warn('A cache was given up', { error })
      return undefined
    }
  }
  const key = await patient(() => keyOf().catch(() => undefined))
  const own = key === undefined ? undefined : lead(flights, key)
  if (key === undefined || !own) {
    const theirs = key === undefined ? key : await follow(flights, key, signal)
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
