import { cacheKey, tenantNs } from '../cache/key.ts'
import { shared, type Leading, type Shared } from '../cache/shared.ts'
import { type Cell } from '../durable/codec.ts'
import { INSIDE } from '../hook/mark.ts'
import type { Heard } from './collect.ts'
import type { RequestContext } from './inside.ts'
import type { ModelRequest } from './model.ts'
import type { Asked } from './request.ts'

/** What is cached of an answer. */
export type Kept = Pick<Heard, 'text' | 'reasoning' | 'finish'>

/**
 * Looks an answer up, or waits for the same request under way, or asks for all who want the same. Nothing is looked up or
 * kept where tools are offered, or have been called.
 *
 * @param patient Waits for the cache, as long as it may take
 */
export async function cachedOr(
  { cache: wanted, model }: Asked,
  request: ModelRequest,
  ctx: RequestContext,
  leading: Leading,
  patient: <Value>(work: () => Promise<Value>) => Promise<Value | undefined>,
  make: () => Promise<Cell>,
): Promise<Shared> {
  const { signal, [INSIDE]: inside } = ctx
  const { cache, flights } = inside.host
  const { tools = [], messages, ...rest } = request
  const plain = tools.length === 0 && messages.every(({ role }) => role !== 'tool')
  if (!wanted || !cache || !plain) return { cell: await make() }
  const payload = {
    ...rest,
    messages: messages.map(({ id: _, createdAt: __, ...said }) => said),
  }
  const parts = {
    ns: tenantNs(cache.ns, inside.tenant),
    provider: model.provider,
    model: model.model,
    payload,
  }
  const key = await patient(() => cacheKey.llm(parts).catch(() => undefined))
  if (key === undefined) return { cell: await make() }
  const good = (value: unknown): boolean => typeof Object(value).text === 'string'
  const sharing = { cache, kind: 'llm', key, flights, signal, good, patient } as const
  return shared(sharing, leading, make)
}
