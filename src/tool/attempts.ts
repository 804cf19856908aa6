import { isHeddleError } from '../errors.ts'
import type { Retry } from '../graph/graph.ts'
import { later } from '../lib/clock.ts'
import type { Watch } from '../lib/within.ts'
import { INSIDE, type InnerContext } from './inside.ts'
import type { ToolSettings } from './tool.ts'

/** The only failures of ours that another attempt may mend. */
const PASSING = ['model_error', 'unreachable']

/**
 * Runs work, and again when it fails and may be tried again. Each attempt has a signal of its own, which aborts when the
 * attempt has failed or is late, and with the call's.
 *
 * @param what What it is, for the message of a `TimeoutError`
 * @throws the last failure; the reason of the call's signal, also from between two attempts
 */
export async function attempts<Value>(
  work: (ctx: InnerContext, attempt: number) => Promise<Value>,
  what: string,
  ctx: InnerContext,
  { timeout: ms, retry }: ToolSettings,
  watch: Watch,
): Promise<Value> {
  const { signal, [INSIDE]: inside } = ctx
  const { clock, random } = inside.host
  const bounds = { signal, clock }
  for (let attempt = 1; ; attempt++) {
    const own = ms === undefined && !retry ? undefined : new AbortController()
    const halt = (reason: unknown): void => own?.abort(reason)
    const seen = own ? inside.withSignal(own.signal) : ctx
    try {
      return await watch.wait(() => work(seen, attempt), { ...bounds, ms, what, halt })
    } catch (error) {
      halt(error)
      if (signal.aborted || !retry || !again(error, attempt, retry)) throw error
    }
    let cancel: (() => void) | undefined
    const delay = backoff(retry, attempt, random)
    const pass = (): Promise<void> =>
      new Promise((resolve) => void (cancel = later(clock, delay, resolve)))
    await watch.wait(pass, { ...bounds, halt: () => cancel?.() })
  }
}

/** Whether a failure is worth another attempt: none of ours is, unless a provider failed. */
function again(error: unknown, attempt: number, { attempts: most, when }: Retry): boolean {
  if (attempt >= most || (isHeddleError(error) && !PASSING.includes(error.code))) return false
  return when?.(error) ?? true
}

function backoff(retry: Retry, attempt: number, random: () => number): number {
  const { delay = 500, factor = 2, maxDelay = 30_000, jitter = 0.2 } = retry
  return Math.round(Math.min(delay * factor ** (attempt - 1), maxDelay) * (1 - jitter * random()))
}
