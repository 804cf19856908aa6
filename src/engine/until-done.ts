import { isHeddleError } from '../errors.ts'
import { later, LONGEST } from '../lib/clock.ts'
import { find } from './find.ts'
import { revived } from './follow.ts'
import { attend, execute, join } from './live.ts'
import type { Opening, Outcome } from './request.ts'
import { Run, type App } from './run.ts'

/** What a run may meet that was not alone with its thread: somebody else woke it, or has it. */
const OVERTAKEN = ['thread_busy', 'nothing_to_resume', 'resume_conflict']

/** How often the clock is looked at: it may have been set, or the machine may have slept. */
const LOOK_MS = 600_000

/** Runs, and sleeps through the waits, until nothing but questions is open. The process stays for it. */
export async function runUntilDone(app: App, request: Opening): Promise<Outcome> {
  const hold = setInterval(() => {}, LONGEST)
  try {
    const asks = 'input' in request || 'answer' in request || 'answers' in request
    let outcome = await execute(new Run(app, request), request).catch((error: unknown) => {
      // Whoever asks for nothing new may come to a thread that waits, or that another has.
      if (asks) throw error
      return meet(app, again(request), error)
    })
    while (outcome.status !== 'success' && outcome.timers.length > 0) {
      const due = Math.min(...outcome.timers.map(({ wakeAt }) => Date.parse(wakeAt)))
      await asleep(app, due, request.signal)
      outcome = await goOn(app, request)
    }
    return outcome
  } finally {
    clearInterval(hold)
  }
}

/** Continues a thread whose time has come; if somebody else does, waits for them. */
async function goOn(app: App, request: Opening): Promise<Outcome> {
  const plain = again(request)
  const { clock } = app.owner
  try {
    // By the clock, as a tick would: what was cancelled or has failed meanwhile doesn't go on.
    return await execute(new Run(app, plain as never), { ...plain, wake: clock.now() })
  } catch (error) {
    return meet(app, plain, error)
  }
}

/** The same request, asking for nothing new. */
function again({ tenant = '', ...rest }: Opening): Opening {
  const { thread, signal, timeout, user, durability } = rest
  const { hooks, model, deep, monitor, presence } = rest
  const local = { hooks, model, deep, monitor, presence }
  return { thread, tenant, signal, timeout, user, durability, ...local } as Opening
}

/** What becomes of a thread that could not be had, or had nothing to do: whoever has it, or had it last, decides. */
async function meet(app: App, request: Opening, error: unknown): Promise<Outcome> {
  if (!OVERTAKEN.some((code) => isHeddleError(error, code as never))) throw error
  const claim = await find(app, request.tenant ?? '', request.thread)
  if (!claim) throw error
  const { owner, status, open, run: theirs, error: failure } = claim.head
  if (owner === '' && status !== 'success' && open.length === 0)
    throw failure ? revived(failure) : error
  const run = new Run(app, request as never)
  return attend(run, request, () => join(run, request, theirs))
}

/** Waits for an instant of the app's clock. An abort ends it with its reason. */
function asleep({ owner: { clock } }: App, until: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      cancel()
      reject(signal?.reason)
    }
    let cancel = (): void => {}
    const look = (): void => {
      const left = until - clock.now()
      if (left > 0) cancel = later(clock, Math.min(left, LOOK_MS), look)
      else {
        signal?.removeEventListener('abort', stop)
        resolve()
      }
    }
    look()
    signal?.addEventListener('abort', stop, { once: true })
    if (signal?.aborted) stop()
  })
}
