/** Tokens of one call or the sum of several. A figure nobody reported is absent, never 0. */
export interface TokenUsage {
  readonly input?: number
  readonly output?: number
  /** As reported, else `input + output`. */
  readonly total?: number
  /** Parts of `input`. */
  readonly cacheRead?: number
  readonly cacheWrite?: number
  /** Part of `output`. */
  readonly reasoning?: number
  /** Requests counted, retries that billed included. */
  readonly requests?: number
  /** By the `prices` given to `compile`; absent without them. */
  readonly cost?: number
}
