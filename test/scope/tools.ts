// What the suites of scopes share. No test runner: they run in every place.
import type { Logger } from 'heddle'
import type { ManualClock } from 'heddle/testing'

/** A promise that is settled by hand. */
export interface Gate<Value = void> {
  readonly promise: Promise<Value>
  open(value: Value): void
  fail(error: unknown): void
}

export function gate<Value = void>(): Gate<Value> {
  let open!: (value: Value) => void
  let fail!: (error: unknown) => void
  const promise = new Promise<Value>((resolve, reject) => {
    open = resolve
    fail = reject as typeof fail
  })
  return { promise, open, fail }
}

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

/** A caller's signal that knows its listeners. */
export function heard(): {
  readonly signal: AbortSignal
  abort(reason?: unknown): void
  listeners(): number
} {
  const controller = new AbortController()
  const { signal } = controller
  const live = new Set<unknown>()
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  signal.addEventListener = (type: string, listener: never, options?: never) => {
    live.add(listener)
    add(type, listener, options)
  }
  signal.removeEventListener = (type: string, listener: never) => {
    live.delete(listener)
    remove(type, listener)
  }
  return {
    signal,
    abort: (reason) => controller.abort(reason),
    listeners: () => live.size,
  }
}

/** Waits as well-behaved work does: until its signal aborts. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
}

/** Lets what is due in promises happen. */
export const turn = (clock: ManualClock): Promise<void> => clock.advance(0)
