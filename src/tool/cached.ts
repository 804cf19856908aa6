import { cacheKey, tenantNs } from '../cache/key.ts'
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
  const { name, settings } = go.inv.spec
  const { host, depends, whose: of } = go.ctx[INSIDE]
  const { cache, flights, logger } = host
  if (depends || !settings.cache || !cache) return { cell: await make() }
  const { scope, ttl } = settings.cache
  const { runId, threadId, tenant } = of
  const { watch, bounds } = go
  const key = async (): Promise<string | undefined> =>
    cacheKey.tool({
      ns: tenantNs(cache.ns, tenant),
      ...{ scope, runId, threadId, tool: name, args: args() },
    })
  const whose = `tool "${name}"`
  const sharing = { cache, kind: 'tool', key, flights, ttl, whose, watch, bounds, logger } as const
  return shared(sharing, go, make)
}
