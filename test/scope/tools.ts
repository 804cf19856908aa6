// What the suites of scopes share. No test runner: they run in every place.
import type { Logger } from 'heddle'
import type { ManualClock } from 'heddle/testing'

/** A logger that keeps the errors it was told. */
export function listening(): { readonly logger: Logger; readonly errors: unknown[] } {
  const errors: unknown[] = []
  const error = (_: string, data: object = {}): void =>
    void errors.push((data as { readonly error?: unknown }).error)
  return { logger: { debug() {}, warn() {}, error }, errors }
}

/** How a promise is settled at this moment: `undefined` while it isn't. */
export function watch<Value>(promise: Promise<Value>): {
  outcome(): { readonly value: Value } | { readonly error: unknown } | undefined
} {
  let outcome: { readonly value: Value } | { readonly error: unknown } | undefined
  promise.then(
    (value) => (outcome = { value }),
    (error: unknown) => (outcome = { error }),
  )
  return { outcome: () => outcome }
}

/** The error that a promise rejects with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  let value: unknown
  try {
    value = await promise
  } catch (error) {
    return error
  }
  throw new Error(`expected a rejection, got ${String(value)}`)
}

/** Waits as well-behaved work does: until its signal aborts. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
}

/** Lets what is due in promises happen. */
export const turn = (clock: ManualClock): Promise<void> => clock.advance(0)
