import { ApprovalDenied, isHeddleError } from '../errors.ts'
import { tidy } from '../lib/tidy.ts'
import type { Ending } from './tool.ts'

/** The errors that denials were, for who waits for the value of a call: a hook's own is thrown on as it is. */
const thrown: WeakMap<object, unknown> = /* @__PURE__ */ new WeakMap()

/** A denial, if an error is one. */
export function denial(error: unknown): Ending | undefined {
  if (!isHeddleError(error, 'approval_denied')) return undefined
  const { reason } = error.details
  const ending = tidy<Ending & { status: 'denied' }>({ status: 'denied', reason })
  thrown.set(ending, error)
  return ending
}

/** How a call ended, with what it is about. */
export function told<About>(about: About, ending: Ending): About & Ending {
  const result = { ...about, ...ending }
  if (thrown.has(ending)) thrown.set(result, thrown.get(ending))
  return result
}

/**
 * What a call gives to who waits for its value.
 *
 * @throws the error of a call that failed, the same object; ApprovalDenied for one that was denied
 */
export function valueOf(ending: Ending, tool: string): unknown {
  if (ending.status === 'success') return ending.value
  if (ending.status === 'error') throw ending.error
  if (thrown.has(ending)) throw thrown.get(ending)
  const { reason } = ending
  const why = reason === undefined ? 'it was denied' : `it was denied: ${reason}`
  throw new ApprovalDenied(`Cannot call tool "${tool}": ${why}`, tidy({ tool, reason }))
}
