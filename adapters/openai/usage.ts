import type { TokenUsage } from '../../src/index.ts'

type Figure = number | null

/** What endpoints report, by the names that they have for it. */
export interface Usage {
  readonly prompt_tokens?: Figure
  readonly completion_tokens?: Figure
  readonly total_tokens?: Figure
  readonly prompt_tokens_details?: {
    readonly cached_tokens?: Figure
    readonly cache_write_tokens?: Figure
  } | null
  readonly completion_tokens_details?: { readonly reasoning_tokens?: Figure } | null
  /** DeepSeek. */
  readonly prompt_cache_hit_tokens?: Figure
  /** Moonshot. */
  readonly cached_tokens?: Figure
}

/** A usage in our figures; what nobody reported stays absent, and without any there is none. */
export function usageOf(usage: Usage | null | undefined): TokenUsage | undefined {
  if (!usage) return undefined
  const input = usage.prompt_tokens_details
  const figures = {
    input: usage.prompt_tokens,
    output: usage.completion_tokens,
    total: usage.total_tokens,
    cacheRead: input?.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens,
    cacheWrite: input?.cache_write_tokens,
    reasoning: usage.completion_tokens_details?.reasoning_tokens,
  }
  const known = Object.entries(figures).filter(([, figure]) => Number.isFinite(figure))
  return known[0] && Object.fromEntries(known)
}
