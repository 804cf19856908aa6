import type { Json, JsonSchema } from '../schema.ts'
import { decode, read, write, type Cell } from './codec.ts'
import type { Interruption, Timer } from './records.ts'
import { isCount, isMaybe, isObject, isText, isTexts, isTime, readRow } from './row.ts'

/** A question or a timer as it was recorded. Written once, under its id. */
export interface PauseRecord {
  readonly id: string
  readonly kind: 'question' | 'timer'
  readonly n: number
  readonly run: string
  readonly checkpoint: string
  readonly ns: readonly string[]
  readonly node: string
  readonly place: string
  readonly key?: string
  readonly payload: Cell
  readonly schema?: JsonSchema
  readonly user?: string
  readonly time: number
  /** When a timer fires or a question expires. */
  readonly due?: number
}

/** How a pause ended. Written once, beside its record. */
export interface Settlement {
  readonly status: 'answered' | 'cancelled' | 'expired' | 'woken'
  readonly answer?: Cell
  readonly time: number
  readonly by?: string
}

export const pauseText = ({ payload, ...rest }: PauseRecord): string =>
  JSON.stringify({ ...rest, payload: write(payload) })

export function readPause(text: string): PauseRecord {
  const row = readRow<Omit<PauseRecord, 'payload'> & { payload: Json }>(
    text,
    isPause,
    'the record of a pause',
  )
  return { ...row, payload: read(row.payload) }
}

const isPause = (row: Record<keyof PauseRecord, unknown>): boolean =>
  isObject(row) &&
  isText(row.id) &&
  (row.kind === 'question' || (row.kind === 'timer' && isTime(row.due))) &&
  isCount(row.n) &&
  isText(row.run) &&
  isText(row.checkpoint) &&
  isTexts(row.ns) &&
  isText(row.node) &&
  isText(row.place) &&
  isMaybe(row.key, isText) &&
  isMaybe(row.schema, isObject) &&
  isMaybe(row.user, isText) &&
  isTime(row.time) &&
  isMaybe(row.due, isTime)

export const settlementText = ({ answer, ...rest }: Settlement): string =>
  JSON.stringify({ ...rest, ...(answer !== undefined && { answer: write(answer) }) })

export function readSettlement(text: string): Settlement {
  const { answer, ...rest } = readRow<Omit<Settlement, 'answer'> & { answer?: Json }>(
    text,
    isSettlement,
    'the end of a pause',
  )
  return { ...rest, ...(answer !== undefined && { answer: read(answer) }) }
}

const isSettlement = (row: Record<keyof Settlement, unknown>): boolean =>
  isObject(row) &&
  ['answered', 'cancelled', 'expired', 'woken'].includes(row.status as string) &&
  (row.status === 'answered') === (row.answer !== undefined) &&
  isTime(row.time) &&
  isMaybe(row.by, isText)

/** An instant as records show it. */
export const iso = (ms: number): string => new Date(ms).toISOString()

/**
 * A question as its readers see it.
 *
 * @param settled How it ended, if it did
 * @param left Whether the thread went on without it
 */
export function interruption(
  thread: string,
  pause: PauseRecord,
  settled: Settlement | undefined,
  now: number,
  left: boolean,
): Interruption {
  const { id, run, checkpoint, ns, node, key, schema, user, time, due } = pause
  const over = due !== undefined && due <= now ? 'expired' : left ? 'cancelled' : 'open'
  const status =
    settled === undefined ? over : settled.status === 'woken' ? 'expired' : settled.status
  return {
    id,
    thread,
    run,
    checkpoint,
    ns,
    node,
    ...(key !== undefined && { key }),
    payload: decode(pause.payload),
    ...(schema && { schema }),
    status,
    ...(user !== undefined && { user }),
    createdAt: iso(time),
    ...(due !== undefined && { expiresAt: iso(due) }),
    ...(settled?.status === 'answered' && {
      answer: decode(settled.answer as Cell),
      answeredAt: iso(settled.time),
      ...(settled.by !== undefined && { answeredBy: settled.by }),
    }),
  }
}

/** A timer as its readers see it. */
export function timer(thread: string, { id, ns, node, due, payload }: PauseRecord): Timer {
  const shown = decode(payload)
  return {
    id,
    thread,
    ns,
    node,
    wakeAt: iso(due as number),
    ...(shown !== undefined && { payload: shown }),
  }
}
