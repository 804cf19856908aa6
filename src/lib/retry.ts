import { isHeddleError } from '../errors.ts'

/** The only failures of ours that another attempt may mend. */
const PASSING = ['model_error', 'unreachable']

/** Statuses below 500 that another request may mend: it took too long, came at a bad moment, or was one too many. */
const LATER = [408, 409, 425, 429]

/** How often and how soon something is tried again: a `Retry` of a node or a tool. */
interface Rule {
  readonly attempts: number
  readonly delay?: number
  readonly factor?: number
  readonly maxDelay?: number
  readonly jitter?: number
  readonly when?: ((error: unknown) => boolean) | undefined
}

/**
 * How many milliseconds after a failed attempt another is made; `undefined` if none is. A model's provider is not asked
 * again before it said, and not at all if it refused the request as it is.
 *
 * @param attempt The number of the one that failed, from 1
 * @throws what `when` throws
 */
export function delayAfter(
  error: unknown,
  attempt: number,
  rule: Rule | undefined,
  random: () => number,
): number | undefined {
  if (!rule || attempt >= rule.attempts) return undefined
  if (isHeddleError(error) && !PASSING.includes(error.code)) return undefined
  const { status = 500, retryAfterMs = 0 } = isHeddleError(error, 'model_error')
    ? error.details
    : {}
  if (status >= 400 && status < 500 && !LATER.includes(status)) return undefined
  if (rule.when?.(error) === false) return undefined
  const { delay = 500, factor = 2, maxDelay = 30_000, jitter = 0.2 } = rule
  const own = Math.min(delay * factor ** (attempt - 1), maxDelay) * (1 - jitter * random())
  return Math.round(Math.max(own, retryAfterMs))
}
