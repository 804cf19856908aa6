import { decode, encode, type Cell } from '../durable/codec.ts'
import { errorInfo } from '../durable/run-record.ts'
import {
  HeddleError,
  isHeddleError,
  ModelError,
  type ErrorCode,
  type ErrorDetails,
} from '../errors.ts'
import type { Ending } from '../tool/tool.ts'

/**
 * What is recorded of how a call ended. An error that can't be stored whole keeps its name and message; what a model's
 * provider said stays out, as it may hold secrets.
 */
export function cellOf(ending: Ending): Cell {
  if (ending.status === 'error' && isHeddleError(ending.error, 'model_error')) {
    const { message, details } = ending.error
    ending = { ...ending, error: new ModelError(message, details) }
  }
  try {
    return encode(ending)
  } catch (cause) {
    if (ending.status !== 'error') throw cause
    const { name, message } = errorInfo(ending.error)
    const error = Object.defineProperty(new Error(message), 'name', {
      value: name,
      configurable: true,
      writable: true,
    })
    return encode({ ...ending, error })
  }
}

/** How a call ended, from its record. Ours are ours again. */
export function again(cell: Cell): Ending {
  const ending = decode(cell) as Ending
  if (ending.status !== 'error') return ending
  const { code, details, message, cause } = Object(ending.error) as Partial<HeddleError>
  const ours =
    typeof code === 'string' && typeof details === 'object' && ending.error instanceof Error
  if (!ours) return ending
  const options = cause === undefined ? undefined : { cause }
  const error = new HeddleError(
    code as ErrorCode,
    String(message),
    details as ErrorDetails[ErrorCode],
    options,
  )
  return { ...ending, error }
}
