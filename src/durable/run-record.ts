import { quietly } from '../lib/quietly.ts'
import { tidy } from '../lib/tidy.ts'
import { usageOf, type Figures, type TokenUsage } from '../usage.ts'
import { iso } from './pause.ts'
import type { ErrorInfo, Metadata, Run, Status } from './records.ts'
import { readRow } from './row.ts'

/** A run as it began. Written once. */
export interface RunStart {
  readonly id: string
  readonly status: 'starting' | 'resuming'
  readonly continues?: string | undefined
  readonly root: string
  readonly user?: string | undefined
  readonly metadata: Metadata
  readonly time: number
  /** The first `seq` of its events. */
  readonly seq: number
  /** Which model serves it, if that is known as it begins. */
  readonly llm?: Served | undefined
  /** What the run before it had used, which may have died before it could say so itself. */
  readonly before?: Figures | undefined
}

/** A model that has served a run. */
export type Served = { readonly provider: string; readonly model: string }

/** A run as it ended. Written once. */
export interface RunEnd {
  readonly status: Status
  readonly error?: ErrorInfo | undefined
  readonly usage: TokenUsage
  readonly time: number
  /** The newest checkpoint, and the next `seq` after the events of the run. */
  readonly checkpoint: string
  readonly seq: number
  /** Ids of what was open then. */
  readonly open?: readonly string[] | undefined
}

/** Reads a run's beginning back, or throws `Unreadable`. */
export const readStart = (text: string): RunStart => readRow(text, 'the record of a run')

/** Reads a run's end back, or throws `Unreadable`. */
export const readEnd = (text: string): RunEnd => readRow(text, 'the end of a run')

/** Reads back which model has served a run, or throws `Unreadable`. */
export const readServed = (text: string): Served => readRow(text, 'the audit of a run')

/**
 * A run as its readers see it.
 *
 * @param now Where it stands if it has no end; `undefined`: another run has gone on with the thread
 * @param used What it had used when it was seen last, if it has no end
 * @param models Those that have served it beside the one that was known as it began, in the order in which they were first asked
 */
export const runRecord = (
  thread: string,
  start: RunStart,
  end: RunEnd | undefined,
  now: Status | undefined,
  used: Figures | undefined,
  models: readonly Served[],
): Run =>
  tidy<Run & Partial<Pick<RunStart, 'time' | 'seq' | 'llm' | 'before'>>>({
    ...start,
    metadata: audited(start, models),
    llm: undefined,
    time: undefined,
    seq: undefined,
    before: undefined,
    thread,
    status: end?.status ?? now ?? 'error',
    error: end ? end.error : now ? undefined : LOST,
    usage: end?.usage ?? usageOf(used),
    startedAt: iso(start.time),
    endedAt: end && iso(end.time),
  })

/** The metadata of a run and, as `llm`, the model that served it first, with the `others`. */
function audited({ metadata, llm }: RunStart, models: readonly Served[]): Metadata {
  const [first, ...others] = llm ? [llm, ...models] : models
  if (!first) return metadata
  return { ...metadata, llm: others.length > 0 ? { ...first, others } : first }
}

/** Why a run has no end: another went on with its thread. */
const LOST: ErrorInfo = {
  name: 'LeaseLost',
  message: 'Its process died, or stood still past its lease',
  code: 'lease_lost',
}

/** What is recorded of a failure: no stack, no own fields. Getters may throw, and so may what makes a text. */
export function errorInfo(error: unknown, depth = 0): ErrorInfo {
  const text = (value: unknown): string => quietly(() => String(value)) ?? 'unknown'
  if (Object(error) !== error || typeof error === 'function')
    return { name: 'Error', message: text(error) }
  const get = (key: string): unknown => quietly(() => (error as Record<string, unknown>)[key])
  const code = get('code')
  // The words of a model's provider may hold secrets.
  const cause = depth < 8 && code !== 'model_error' ? get('cause') : undefined
  return tidy<ErrorInfo>({
    name: text(get('name') ?? 'Error'),
    message: text(get('message') ?? ''),
    code: typeof code === 'string' ? code : undefined,
    cause: cause === undefined || cause === null ? undefined : errorInfo(cause, depth + 1),
  })
}
