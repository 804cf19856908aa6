import { cacheKey, tenantNs } from '../cache/key.ts'
import { shared, type Shared } from '../cache/shared.ts'
import type { Cell } from '../durable/codec.ts'
import { INSIDE } from '../hook/mark.ts'
import type { ModelRequest } from './model.ts'
import type { Going } from './perform.ts'

/**
 * Looks an answer up, or waits for the same request under way, or asks for all who want the same. Nothing is looked up or
 * kept where tools are offered, or have been called. What is kept is `{ text, reasoning, finish }`.
 */
export async function cachedOr(
  going: Going,
  request: ModelRequest,
  make: () => Promise<Cell>,
): Promise<Shared> {
  const { asked, ctx, watch, bounds } = going
  const { host, tenant } = ctx[INSIDE]
  const { cache, flights, logger } = host
  const { tools, messages, ...rest } = request
  if (!asked.cache || !cache || tools?.length || messages.some(({ role }) => role === 'tool'))
    return { cell: await make() }
  const { provider, model } = asked.model
  const said = messages.map(({ id: _, createdAt: __, ...one }) => one)
  const ns = tenantNs(cache.ns, tenant)
  const key = (): Promise<string> =>
    cacheKey.llm({ ns, provider, model, payload: { ...rest, messages: said } })
  const good = (value: unknown): boolean => typeof Object(value).text === 'string'
  const whose = `model "${asked.name}"`
  const sharing = { cache, kind: 'llm', key, flights, good, whose, watch, bounds, logger } as const
  return shared(sharing, going, make)
}
