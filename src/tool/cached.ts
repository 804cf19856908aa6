import { cacheKey, tenantNs } from '../cache/key.ts'
import type { ToolResultCache } from '../cache/results.ts'
import { shared, type Shared } from '../cache/shared.ts'
import type { Cell } from '../durable/codec.ts'
import { INSIDE } from '../hook/mark.ts'
import type { Going } from './perform.ts'

/**
 * Looks a result up, or waits for an identical call under way, or makes it for all who want the same. A call that goes on
 * after it has asked somebody isn't cached: its result has the answer in it.
 *
 * @param args Gives what goes in, before the tool's schema has made something of it
 */
export async function cachedOr(
  go: Going,
  args: () => unknown,
  make: () => Promise<Cell>,
): Promise<Shared> {
  const { ctx, inv } = go
  const { host, depends } = ctx[INSIDE]
  const { ttl } = inv.spec.settings.cache ?? {}
  const cache = depends || !inv.spec.settings.cache ? undefined : host.cache
  const patient = patience(go)
  const key = cache && (await patient(() => keyOf(go, cache, args())))
  if (cache === undefined || key === undefined) return { cell: await make() }
  const { flights } = host
  return shared({ cache, kind: 'tool', key, flights, signal: ctx.signal, ttl, patient }, go, make)
}

/** Waits for a cache, no longer than for the tool: one that takes its time is one that knows nothing. */
const patience =
  ({ ctx, inv, watch, bounds }: Going) =>
  async <Value>(work: () => Promise<Value>): Promise<Value | undefined> => {
    const what = `The cache of tool "${inv.spec.name}"`
    try {
      return await watch.wait(work, { ...bounds, what })
    } catch (error) {
      if (ctx.signal.aborted) throw error
      ctx[INSIDE].host.logger.warn('A cache was given up', { error })
      return undefined
    }
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
