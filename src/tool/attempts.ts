import { later } from '../lib/clock.ts'
import { delayAfter } from '../lib/retry.ts'
import type { Watch } from '../lib/within.ts'
import { INSIDE } from '../hook/mark.ts'
import type { InnerContext } from './inside.ts'
import type { ToolSettings } from './tool.ts'

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
      const delay = signal.aborted ? undefined : delayAfter(error, attempt, retry, random)
      if (delay === undefined) throw error
      let cancel: (() => void) | undefined
      const pass = (): Promise<void> =>
        new Promise((resolve) => void (cancel = later(clock, delay, resolve)))
      await watch.wait(pass, { ...bounds, halt: () => cancel?.() })
    }
  }
}
