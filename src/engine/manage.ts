import { Claim } from '../durable/claim.ts'
import { directoryKey } from '../durable/keys.ts'
import { Cancelled, ThreadBusy } from '../errors.ts'
import type { Key, Put } from '../store/store.ts'
import { erase, find } from './open.ts'
import { indexRows, Run, type App } from './run.ts'

/** Stops what runs and voids what is open; quiet on a thread that has ended or does not exist. */
export async function cancel(
  app: App,
  tenant: string,
  thread: string,
  reason?: string,
): Promise<void> {
  const { at, head, revision } = await find(app, thread, tenant)
  if (!head) return
  const running = app.active.get(at.place)
  if (running) return stopHere(running, thread, reason)
  if (head.owner === '' && head.open.length === 0) return
  const run = new Run(app, {})
  const claim = (run.claim = new Claim(app.owner, at, structuredClone(head), revision))
  const puts: Put[] = []
  const deletes: Key[] = []
  run.dropOpen(claim.head.open, 'cancelled', puts, deletes)
  if (!(await claim.take({ puts, deletes }))) throw busy(thread)
  await run.end(
    'cancelled',
    {},
    new Cancelled(
      `Cannot finish thread "${thread}": it was cancelled`,
      reason === undefined ? {} : { reason },
    ),
  )
}

async function stopHere(run: Run, thread: string, reason: string | undefined): Promise<void> {
  run.stop(
    new Cancelled(
      `Cannot finish run "${run.id}" of thread "${thread}": it was cancelled`,
      reason === undefined ? {} : { reason },
    ),
  )
  await run.finished
}

/** Removes a thread whole: its index rows first, then its own, then the head. */
export async function remove(app: App, tenant: string, thread: string): Promise<void> {
  await cancel(app, tenant, thread, 'deleted')
  const { at, head, revision } = await find(app, thread, tenant)
  if (!head) return
  const claim = new Claim(app.owner, at, structuredClone(head), revision)
  const deletes = [
    directoryKey(at, head.created),
    ...head.open.flatMap((open) => indexRows(claim, open)),
  ]
  if (!(await claim.take({ puts: [], deletes }))) throw busy(thread)
  await claim.release((gone) => {
    gone.status = 'deleted'
    return {}
  })
  const [entry] = await app.owner.store.get([`h/${at.place}`])
  await erase(app.owner.store, at, head, entry?.revision)
}

const busy = (thread: string): ThreadBusy =>
  new ThreadBusy(`Cannot change thread "${thread}": somebody else is at it`, { thread })
