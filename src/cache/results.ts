import type { Logger } from '../lib/logger.ts'
import type { CachePort } from './port.ts'

/** Results of tools over a cache; its errors are misses, logged at warning. */
export interface ToolResultCache {
  get(key: string): Promise<{ readonly value: unknown } | undefined>
  set(key: string, value: unknown, options?: { readonly ttl?: number }): Promise<void>
}
export type ToolResultCacheOptions = { readonly port: CachePort; readonly logger?: Logger }
