import type { Claim } from '../durable/claim.ts'
import { skipAhead } from '../durable/head.ts'
import { directoryKey, stopKey } from '../durable/keys.ts'
import { cancelled } from '../durable/outcome.ts'
import type { Cancelled } from '../errors.ts'
import type { Key, Put } from '../store/store.ts'
import { find, outrun, TRIES } from './find.ts'
import { PATIENCE, patience } from './place.ts'
import { Run, type App } from './run.ts'
import { show } from './watch.ts'

/** How many tries are lost to a run before it is left word. */
const OUTRUN = 3

/** Whether a run has a thread, or something open does. */
const isHeld = ({ head }: Claim): boolean => head.owner !== '' || head.open.length > 0

/** Stops what runs and voids what is open; quiet on a thread that has ended or does not exist. */
export async function cancel(
  app: App,
  tenant: string,
  thread: string,
  reason?: string,
): Promise<void> {
  const error = cancelled(thread, reason)
  const run = await seize(app, tenant, thread, error, isHeld)
  await run?.end('cancelled', {}, error)
  if (run) show(run, 'idle', run.claim.head.run)
}

/** Removes a thread whole: the claim marks it and removes its index rows; its own go next, and the head last. */
export async function remove(app: App, tenant: string, thread: string): Promise<void> {
  let held = false
  const mark = (claim: Claim, deletes: Key[]): boolean => {
    const { head, at } = claim
    held = isHeld(claim)
    head.status = 'deleted'
    deletes.push(directoryKey(at, head.created))
    return true
  }
  const run = await seize(app, tenant, thread, cancelled(thread, 'deleted'), mark)
  if (run && held) show(run, 'idle', run.claim.head.run)
  // Whoever finds it so finishes the work; after a crash that is a tick.
  if (run) await find(app, tenant, thread)
}

/**
 * Stops the thread's runs of this process, voids what is open and takes the thread, in one commit with what `change` adds.
 * A run of another process that is faster each time is left word: its owner reads it at half of its lease, and ends it.
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
  const { store, clock } = app.owner
  let most = TRIES
  let told: string | undefined
  let key: Key | undefined
  try {
    for (let tries = 1; tries <= most; tries++) {
      for (const [run, asked] of app.active) {
        if (asked.thread !== thread || (asked.tenant ?? '') !== tenant) continue
        run.stop(error)
        await run.finished
      }
      const claim = await find(app, tenant, thread)
      const puts: Put[] = []
      const deletes: Key[] = []
      if (!claim || !change(claim, deletes)) return undefined
      const { owner, run: theirs, until } = claim.head
      const run = new Run(app, {})
      run.claim = claim
      if (owner) skipAhead(claim.head, clock.now())
      run.dropOpen({ puts, deletes })
      if (await claim.take({ puts, deletes })) return run
      if (!owner || tries < OUTRUN) continue
      if (told !== theirs) {
        // It looks before its lease ends; if it is dead, nobody is faster from then on.
        if (!key) most = tries + OUTRUN + Math.max(0, Math.ceil((until - clock.now()) / PATIENCE))
        key = stopKey(claim.at.place)
        told = theirs
        const value = JSON.stringify([theirs, error.details.reason?.slice(0, 200)])
        await store.commit({ puts: [{ key, value }], durable: true })
      }
      await new Promise<void>((resolve) => patience(resolve))
    }
  } finally {
    // One that stays says nothing to anybody: it names its run.
    if (key) await store.commit({ deletes: [key] }).catch(() => {})
  }
  throw outrun(`Cannot change thread "${thread}"`, thread)
}
