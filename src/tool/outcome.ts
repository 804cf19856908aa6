import { ApprovalDenied } from '../errors.ts'
import { tidy } from '../lib/tidy.ts'
import type { Ending } from './tool.ts'

/**
 * What a call gives to who waits for its value.
 *
 * @throws the error of a call that failed, the same object; ApprovalDenied for one that was denied
 */
export function valueOf(ending: Ending, tool: string): unknown {
  if (ending.status === 'success') return ending.value
  if (ending.status === 'error') throw ending.error
  const { reason } = ending
  const why = reason === undefined ? 'it was denied' : `it was denied: ${reason}`
  throw new ApprovalDenied(`Cannot call tool "${tool}": ${why}`, tidy({ tool, reason }))
}
