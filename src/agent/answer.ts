import { errorInfo } from '../durable/run-record.ts'
import { isHeddleError, type ErrorCode } from '../errors.ts'
import { tidy } from '../lib/tidy.ts'
import type { NewMessage } from '../model/message.ts'
import type { CallResult } from '../tool/tool.ts'
import type { AgentEvent } from './event.ts'
import { named } from './history.ts'

/** What a model reads of a result. */
export function textOf(result: CallResult): string {
  if (result.status === 'denied')
    return result.reason === undefined ? 'Denied' : `Denied: ${result.reason}`
  if (result.status === 'success') return valueText(result.value)
  // Its message alone: causes, stacks and members of an error may hold anything.
  const { name, message } = errorInfo(result.error)
  return `Failed: ${message || name}`
}

/** A value as text: JSON, with what JSON has no words for in plain ones. */
function valueText(value: unknown): string {
  if (value === undefined) return 'Done'
  return typeof value === 'string' ? value : JSON.stringify(value, plain)
}

function plain(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}`
  if (typeof value === 'number' && !Number.isFinite(value)) return `${value}`
  if (value instanceof Map) return [...value]
  if (value instanceof Set) return [...value]
  if (value instanceof Error) return `${value.name}: ${value.message}`
  return ArrayBuffer.isView(value) ? `${value.byteLength} bytes` : value
}

/** The message that answers a call. */
export function answerOf(result: CallResult): NewMessage {
  const { id: call, tool, status } = result
  const value = result.status === 'success' ? result.value : undefined
  const text = textOf(result)
  return tidy<NewMessage>({ ...named(call), role: 'tool', call, tool, status, text, value })
}

/** The event that tells of a result: what the tool returned, or what the model reads of a failure or a denial. */
export function resultEvent(result: CallResult): AgentEvent {
  const { id: call, tool, status, replayed } = result
  const value = result.status === 'success' ? result.value : textOf(result)
  return tidy<AgentEvent>({ kind: 'tool_result', call, tool, status, value, replayed })
}

const FATAL: readonly ErrorCode[] = [
  'budget_exceeded',
  'run_limit_exceeded',
  'guardrail_blocked',
  'no_model',
]

/** The error of a result that isn't the model's to deal with: a limit, a budget, a guardrail, an agent without a model. */
export function fatal(result: CallResult): { readonly error: unknown } | undefined {
  if (result.status !== 'error') return undefined
  const { error } = result
  return isHeddleError(error) && FATAL.includes(error.code) ? { error } : undefined
}
