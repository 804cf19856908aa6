import type { Claim } from '../durable/claim.ts'
import { skipAhead } from '../durable/head.ts'
import { directoryKey } from '../durable/keys.ts'
import { Cancelled, ThreadBusy } from '../errors.ts'
import { tidy } from '../lib/tidy.ts'
import type { Key, Put } from '../store/store.ts'
import { find } from './find.ts'
import { Run, type App } from './run.ts'

/** How often a thread is read again that somebody else changes at the same time. */
const TRIES = 20

/** Stops what runs and voids what is open; quiet on a thread that has ended or does not exist. */
export async function cancel(
  app: App,
  tenant: string,
  thread: string,
  reason?: string,
): Promise<void> {
  const error = cancelled(thread, reason)
  const holds = ({ head }: Claim): boolean => head.owner !== '' || head.open.length > 0
  const run = await seize(app, tenant, thread, error, holds)
  await run?.end('cancelled', {}, error)
}

/** Removes a thread whole: the claim marks it and removes its index rows; its own go next, and the head last. */
export async function remove(app: App, tenant: string, thread: string): Promise<void> {
  const mark = ({ head, at }: Claim, deletes: Key[]): boolean => {
    head.status = 'deleted'
    deletes.push(directoryKey(at, head.created))
    return true
  }
  const run = await seize(app, tenant, thread, cancelled(thread, 'deleted'), mark)
  // Whoever finds it so finishes the work; after a crash that is a tick.
  if (run) await find(app, tenant, thread)
}

/**
 * Stops the thread's runs of this process, voids what is open and takes the thread, in one commit with what `change` adds.
 *
 * @param change False if there is nothing to do
 */
async function seize(
  app: App,
  tenant: string,
  thread: string,
  error: Cancelled,
  change: (claim: Claim, deletes: Key[]) => boolean,
): Promise<Run | undefined> {
  for (let left = TRIES; left > 0; left--) {
    for (const [run, asked] of app.active) {
      if (asked.thread !== thread || (asked.tenant ?? '') !== tenant) continue
      run.stop(error)
      await run.finished
    }
    const claim = await find(app, tenant, thread)
    const puts: Put[] = []
    const deletes: Key[] = []
    if (!claim || !change(claim, deletes)) return undefined
    const run = new Run(app, {})
    run.claim = claim
    if (claim.head.owner) skipAhead(claim.head)
    run.dropOpen({ puts, deletes })
    if (await claim.take({ puts, deletes })) return run
  }
  throw new ThreadBusy(`Cannot change thread "${thread}": somebody else is at it`, { thread })
}

const cancelled = (thread: string, reason?: string): Cancelled =>
  new Cancelled(`Cannot finish thread "${thread}": it was cancelled`, tidy({ reason }))
