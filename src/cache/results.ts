import { anything, check } from '../lib/check.ts'
import { systemClock, type Clock } from '../lib/clock.ts'
import { consoleLogger, guarded, type Logger } from '../lib/logger.ts'
import { envelope, type CacheHit, type CacheKind } from './envelope.ts'
import type { CachePort } from './port.ts'

/** What results are cached with. */
export interface ToolResultCacheOptions {
  /** How its keys begin. @default 'heddle' */
  readonly ns?: string
  /** Where the cache's errors go. @default warnings and errors to the console */
  readonly logger?: Logger
  /** Says when a result was stored. @default the platform's */
  readonly clock?: Clock
}

/** Results of tools over a cache. What goes wrong in the cache is a miss, logged at warning: it never fails a call. */
export class ToolResultCache {
  readonly port: CachePort
  /** How its keys begin: the `ns` for `cacheKey.tool`. */
  readonly ns: string
  readonly logger: Logger
  readonly clock: Clock

  /** @throws TypeError for options that aren't known */
  constructor(port: CachePort, options: ToolResultCacheOptions = {}) {
    const rules = { ns: anything, logger: anything, clock: anything }
    check('Cannot make a ToolResultCache', rules, options)
    const { ns = 'heddle', logger = consoleLogger, clock = systemClock } = options
    this.port = port
    this.ns = ns
    this.logger = guarded(logger)
    this.clock = clock
  }

  /** A fresh copy of what is stored, wrapped, so that `undefined` and `null` are hits too; `undefined` is a miss. */
  get(key: string): Promise<CacheHit | undefined> {
    return recall(this, 'tool', key)
  }

  /** Stores a result, `ttl` milliseconds or without an end. */
  set(key: string, value: unknown, options: { readonly ttl?: number } = {}): Promise<void> {
    return keep(this, 'tool', key, value, options.ttl)
  }
}

/** Looks a result up. Never rejects. */
export async function recall(
  { port, logger }: ToolResultCache,
  kind: CacheKind,
  key: string,
): Promise<CacheHit | undefined> {
  try {
    const text = await port.get(key)
    return text === undefined ? undefined : envelope.decode(text, kind)
  } catch (error) {
    logger.warn('A cache could not be read', { key, error })
    return undefined
  }
}

/** Stores a result. Never rejects. */
export async function keep(
  { port, logger, clock }: ToolResultCache,
  kind: CacheKind,
  key: string,
  value: unknown,
  ttl?: number,
): Promise<void> {
  try {
    const text = envelope.encode(kind, value, new Date(clock.now()))
    await port.set(key, text, ttl === undefined ? {} : { ttl })
  } catch (error) {
    logger.warn('A result could not be cached', { key, error })
  }
}
