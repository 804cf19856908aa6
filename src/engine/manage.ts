import { directoryKey } from '../durable/keys.ts'
import { Cancelled, ThreadBusy } from '../errors.ts'
import { tidy } from '../lib/tidy.ts'
import type { Key, Put } from '../store/store.ts'
import { find } from './find.ts'
import { indexRows, Run, type App } from './run.ts'

/** Stops what runs and voids what is open; quiet on a thread that has ended or does not exist. */
export async function cancel(
  app: App,
  tenant: string,
  thread: string,
  reason?: string,
): Promise<void> {
  const claim = await find(app, tenant, thread)
  if (!claim) return
  const { head, at } = claim
  const running = app.active.get(at.place)
  const error = new Cancelled(
    `Cannot finish thread "${thread}": it was cancelled`,
    tidy({ reason }),
  )
  if (running) {
    running.stop(error)
    return running.finished
  }
  if (head.owner === '' && head.open.length === 0) return
  const run = new Run(app, {})
  run.claim = claim
  const change: { puts: Put[]; deletes: Key[] } = { puts: [], deletes: [] }
  run.dropOpen(change)
  if (!(await claim.take(change))) throw busy(thread)
  await run.end('cancelled', {}, error)
}

/** Removes a thread whole: its index rows first, then its own, then the head. */
export async function remove(app: App, tenant: string, thread: string): Promise<void> {
  await cancel(app, tenant, thread, 'deleted')
  const claim = await find(app, tenant, thread)
  if (!claim) return
  const { head, at } = claim
  const rows = head.open.flatMap((open) => indexRows(claim, open))
  const deletes = [directoryKey(at, head.created), ...rows]
  if (!(await claim.take({ puts: [], deletes }))) throw busy(thread)
  await claim.release(() => {
    head.status = 'deleted'
    return {}
  })
  // Whoever finds it so finishes the work.
  await find(app, tenant, thread)
}

const busy = (thread: string): ThreadBusy =>
  new ThreadBusy(`Cannot change thread "${thread}": somebody else is at it`, { thread })
