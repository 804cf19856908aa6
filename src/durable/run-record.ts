import type { TokenUsage } from '../usage.ts'
import { isError } from './head.ts'
import { iso } from './pause.ts'
import type { ErrorInfo, Metadata, Run, Status } from './records.ts'
import { isMaybe, isObject, isText, isTime, readRow } from './row.ts'

/** A run as it began. Written once. */
export interface RunStart {
  readonly id: string
  readonly status: 'starting' | 'resuming'
  readonly continues?: string
  readonly root: string
  readonly user?: string
  readonly metadata: Metadata
  readonly time: number
}

/** A run as it ended. Written once. */
export interface RunEnd {
  readonly status: Status
  readonly error?: ErrorInfo
  readonly usage: TokenUsage
  readonly time: number
}

/** Reads a run's beginning back, or throws `Unreadable`. */
export const readStart = (text: string): RunStart =>
  readRow(
    text,
    (row: Record<keyof RunStart, unknown>) =>
      isObject(row) &&
      [row.id, row.status, row.root].every(isText) &&
      isMaybe(row.continues, isText) &&
      isMaybe(row.user, isText) &&
      isObject(row.metadata) &&
      isTime(row.time),
    'the record of a run',
  )

/** Reads a run's end back, or throws `Unreadable`. */
export const readEnd = (text: string): RunEnd =>
  readRow(
    text,
    (row: Record<keyof RunEnd, unknown>) =>
      isObject(row) &&
      isText(row.status) &&
      isMaybe(row.error, isError) &&
      isObject(row.usage) &&
      isTime(row.time),
    'the end of a run',
  )

/** A run as its readers see it. */
export function runRecord(
  thread: string,
  start: RunStart,
  end: RunEnd | undefined,
  now: Status,
): Run {
  const { time, status: _, ...rest } = start
  return {
    ...rest,
    thread,
    status: end?.status ?? now,
    ...(end?.error && { error: end.error }),
    usage: end?.usage ?? {},
    startedAt: iso(time),
    ...(end && { endedAt: iso(end.time) }),
  }
}

/** What is recorded of a failure: no stack, no own fields. */
export function errorInfo(error: unknown, depth = 0): ErrorInfo {
  const text = (value: unknown): string => {
    try {
      return String(value)
    } catch {
      return 'unknown'
    }
  }
  if (typeof error !== 'object' || error === null) return { name: 'Error', message: text(error) }
  const { name, message, code, cause } = properties(error)
  return {
    name: text(name ?? 'Error'),
    message: text(message ?? ''),
    ...(typeof code === 'string' && { code }),
    ...(cause !== undefined &&
      cause !== null &&
      depth < 8 && { cause: errorInfo(cause, depth + 1) }),
  }
}

/** What can be read of an error: getters may throw. */
function properties(error: object): Record<string, unknown> {
  const read = (key: string): unknown => {
    try {
      return (error as Record<string, unknown>)[key]
    } catch {
      return undefined
    }
  }
  return { name: read('name'), message: read('message'), code: read('code'), cause: read('cause') }
}
