import { follow, lead, type Lead } from '../cache/flight.ts'
import { cacheKey, tenantNs } from '../cache/key.ts'
import type { ToolResultCache } from '../cache/results.ts'
import { decode, encode, type Cell } from '../durable/codec.ts'
import { tidy } from '../lib/tidy.ts'
import { INSIDE } from '../hook/mark.ts'
import type { Going } from './perform.ts'

/** What came of a call before the hooks after it. */
export interface Made {
  readonly cell: Cell
  /** It comes from the cache, or from an identical call beside it. */
  readonly cached?: true
}

/**
 * Looks a result up, or waits for an identical call under way, or makes it for all who want the same. A leader that fails,
 * is aborted or waits for a person leaves the others to themselves. A call that goes on after it has asked somebody isn't
 * cached: its result has the answer in it.
 *
 * @param args Gives what goes in, before the tool's schema has made something of it
 */
export async function cachedOr(
  go: Going,
  args: () => unknown,
  make: () => Promise<Cell>,
): Promise<Made> {
  const { ctx, inv } = go
  const { host, depends } = ctx[INSIDE]
  const cache = depends || !inv.spec.settings.cache ? undefined : host.cache
  const key = cache && (await patient(go, () => keyOf(go, cache, args())))
  if (cache === undefined || key === undefined) return { cell: await make() }
  const own = lead(host.flights, key)
  if (!own) {
    const theirs = await follow(host.flights, key, ctx.signal)
    return theirs ? { ...theirs, cached: true } : { cell: await make() }
  }
  go.flight = own
  const hit = await patient(go, () => cache.get(key))
  if (hit) return landed(own, { cell: encode(hit.value), cached: true })
  const cell = await make()
  const { ttl } = inv.spec.settings.cache ?? {}
  // Once it is stored that the call ran.
  go.save = () => patient(go, () => cache.set(key, decode(cell), tidy({ ttl })))
  return landed(own, { cell })
}

/** Waits for a cache, no longer than for the tool: one that takes its time is one that knows nothing. */
async function patient<Value>(
  { ctx, inv, watch, bounds }: Going,
  work: () => Promise<Value>,
): Promise<Value | undefined> {
  const what = `The cache of tool "${inv.spec.name}"`
  try {
    return await watch.wait(work, { ...bounds, what })
  } catch (error) {
    if (ctx.signal.aborted) throw error
    ctx[INSIDE].host.logger.warn('A cache was given up', { error })
    return undefined
  }
}

function landed(own: Lead, made: Made): Made {
  own.land(made.cell)
  return made
}

/** The key of the result; nothing where it isn't cached: no id for its scope, or no text for its arguments. */
async function keyOf(
  { ctx, inv }: Going,
  { ns }: ToolResultCache,
  args: unknown,
): Promise<string | undefined> {
  const { name, settings } = inv.spec
  const { runId, threadId, tenant } = ctx[INSIDE].whose
  const { scope = 'run' } = settings.cache ?? {}
  const parts = { ns: tenantNs(ns, tenant), scope, runId, threadId, tool: name, args }
  return cacheKey.tool(parts).catch(() => undefined)
}
