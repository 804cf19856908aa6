import type { Issue, Schema } from '../schema.ts'

/** What a quality gate emits. */
export interface GateEvent {
  readonly gate: string
  /** `escalated` instead of `failed` after the last attempt. */
  readonly phase: 'started' | 'passed' | 'failed' | 'escalated'
  /** From 1. */
  readonly attempt: number
  readonly score?: number
  readonly reasons: readonly string[]
}

const phases: readonly unknown[] = ['started', 'passed', 'failed', 'escalated']

const members: { readonly [Member in keyof GateEvent]-?: (value: unknown) => boolean } = {
  gate: (value) => typeof value === 'string',
  phase: (value) => phases.includes(value),
  attempt: (value) => Number.isSafeInteger(value) && (value as number) > 0,
  score: isScore,
  reasons: isReasons,
}

/** Schema of a `GateEvent`, for the `events` of a graph with a gate. */
export const gateEvent: Schema<GateEvent, GateEvent> = {
  '~standard': {
    version: 1,
    vendor: 'heddle',
    validate(value) {
      if (typeof value !== 'object' || value === null)
        return { issues: [{ message: 'Expected an object' }] }
      const issues: Issue[] = Object.entries(members)
        .filter(([name, fits]) => !fits((value as Record<string, unknown>)[name]))
        .map(([name]) => ({ message: 'Not of a gate event', path: [name] }))
      return issues.length > 0 ? { issues } : { value: value as GateEvent }
    },
  },
}

/** Whether a value is a score, or none. */
export function isScore(value: unknown): boolean {
  return value === undefined || Number.isFinite(value)
}

/** Whether a value is a list of reasons. */
export function isReasons(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}
