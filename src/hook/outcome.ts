import { isHeddleError, type ErrorCode } from '../errors.ts'

const POLICY: readonly ErrorCode[] = [
  'budget_exceeded',
  'guardrail_blocked',
  'approval_denied',
  'approval_pending',
  'run_limit_exceeded',
]

/** Whether an error is what a policy decided, rather than something that broke. */
export const isPolicyOutcome = (error: unknown): boolean =>
  isHeddleError(error) && POLICY.includes(error.code)

/**
 * Whether an error is a pause or an abort rather than a failure: ours say so by their code, also across copies of the
 * package, and the platform's is the `AbortError` among its exceptions. A class name says nothing, nor does the name that
 * another error has given itself.
 */
export const isControlFlow = (error: unknown): boolean =>
  isHeddleError(error)
    ? error.code === 'cancelled' || error.code === 'lease_lost'
    : error instanceof DOMException && error.name === 'AbortError'
