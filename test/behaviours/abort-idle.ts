// What nodes of the tests about leaving, aborting and timing out do: wait, hear the signal or not.
import { failure } from './harness.ts'

const { setTimeout: start, clearTimeout: stop } = globalThis

/** A logger for tests in which something goes wrong on purpose. */
/** Waits as a well-behaved node does: an abort ends it at once, and nothing is left behind. */
export function idle(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error)
    const onAbort = (): void => {
      stop(timer)
      reject(signal.reason as Error)
    }
    const timer = start(() => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    signal.addEventListener('abort', onAbort, { once: true })
  })
}

/** Looks until it is so; the test's own time limit ends it. */
export async function until(so: () => unknown): Promise<void> {
  while (!(await so())) await new Promise((resolve) => start(resolve, 2))
}

/** How long a promise takes, and the error it rejects with. */
export async function timedFailure(
  promise: Promise<unknown>,
): Promise<{ readonly error: unknown; readonly ms: number }> {
  const began = performance.now()
  const error: unknown = await failure(promise)
  return { error, ms: performance.now() - began }
}
