import { tidy } from '../lib/tidy.ts'
import type { JsonSchema } from '../schema.ts'
import { decode, read, write, type Cell } from './codec.ts'
import type { Interruption, Timer } from './records.ts'
import { readRow } from './row.ts'

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
  readonly key?: string | undefined
  readonly payload: Cell
  readonly schema?: JsonSchema | undefined
  readonly user?: string | undefined
  readonly agent?: string | undefined
  readonly time: number
  /** When a timer fires or a question expires. */
  readonly due?: number | undefined
}

/** How a pause ended. Written once, beside its record. */
export interface Settlement {
  readonly status: 'answered' | 'cancelled' | 'expired' | 'woken'
  readonly answer?: Cell | undefined
  readonly time: number
  readonly by?: string | undefined
}

export const pauseText = (row: PauseRecord): string =>
  JSON.stringify({ ...row, payload: write(row.payload) })

export const readPause = (text: string): PauseRecord =>
  readRow(text, 'the record of a pause', (row: PauseRecord) => ({
    ...row,
    payload: read(row.payload),
  }))

// What is falsy is written as it is.
export const settlementText = (row: Settlement): string =>
  JSON.stringify({ ...row, answer: row.answer && write(row.answer) })

export const readSettlement = (text: string): Settlement =>
  readRow(text, 'the end of a pause', (row: Settlement) => ({
    ...row,
    answer: row.answer && read(row.answer),
  }))

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
  const { due } = pause
  const over = due !== undefined && due <= now ? 'expired' : left ? 'cancelled' : 'open'
  const status = settled?.status === 'woken' ? 'expired' : (settled?.status ?? over)
  const answered = status === 'answered' ? settled : undefined
  const shown = tidy<Omit<Interruption, 'payload' | 'answer'>>({
    id: pause.id,
    thread,
    run: pause.run,
    checkpoint: pause.checkpoint,
    ns: pause.ns,
    node: pause.node,
    key: pause.key,
    schema: pause.schema,
    status,
    user: pause.user,
    agent: pause.agent,
    createdAt: iso(pause.time),
    expiresAt: due === undefined ? due : iso(due),
    answeredAt: answered && iso(answered.time),
    answeredBy: answered?.by,
  })
  // What was said may be `undefined`.
  const payload = decode(pause.payload)
  return { ...shown, payload, ...(answered && { answer: decode(answered.answer as Cell) }) }
}

/** A timer as its readers see it. */
export const timer = (thread: string, { id, ns, node, due, payload }: PauseRecord): Timer =>
  tidy<Timer>({ id, thread, ns, node, wakeAt: iso(due as number), payload: decode(payload) })
