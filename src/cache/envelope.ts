import { decode, encode, read, write } from '../durable/codec.ts'

/** What an entry is of. */
export type CacheKind = 'tool' | 'llm' | 'node'

/** A hit: its value is wrapped, so that `undefined` and `null` are hits too. */
export interface CacheHit {
  readonly value: unknown
  /** When it was stored: an ISO time. */
  readonly storedAt: string
}

/** The text that caches hold: `{"v":1,"kind","stored_at","payload"}`, the payload as heddle's rows hold values. */
export interface Envelope {
  /**
   * @param storedAt @default the platform's time
   * @throws UnserializableValue for a value that can't be stored
   */
  encode(kind: CacheKind, value: unknown, storedAt?: Date): string
  /** A fresh copy of what a text holds. `undefined` is a miss: it is broken, foreign, of another version or of another kind. */
  decode(text: string, kind: CacheKind): CacheHit | undefined
}

/** Writes and reads the text that caches hold. */
export const envelope: Envelope = {
  encode: (kind, value, storedAt = new Date()) =>
    JSON.stringify({
      v: 1,
      kind,
      stored_at: storedAt.toISOString(),
      payload: write(encode(value)),
    }),
  decode(text, wanted) {
    try {
      const { v, kind, stored_at, payload } = JSON.parse(text) as Record<string, unknown>
      const known =
        v === 1 && kind === wanted && new Date(stored_at as string).toISOString() === stored_at
      return known ? { value: decode(read(payload)), storedAt: stored_at } : undefined
    } catch {
      return undefined
    }
  },
}
