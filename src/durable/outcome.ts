import { Cancelled, LeaseLost, StoreUnsafe, isHeddleError } from '../errors.ts'
import { tidy } from '../lib/tidy.ts'
import type { Batch, Check, Entry, Key, Put, Revision, Store } from '../store/store.ts'
import { readHead, type Head } from './head.ts'
import { headKey } from './keys.ts'
import type { HeadRow } from './long-head.ts'

/** A commit of a thread's head, with all that goes with it. */
export interface HeadBatch extends Batch {
  readonly checks: readonly [Check]
  readonly puts: Put[]
}

/** What was thrown, whatever it was. */
export interface Failure {
  readonly error: unknown
}

/** Refuses to change a thread that is there on a store that can't do so safely. */
export function assertSafe({ name, unsafe }: Store, thread: string): void {
  if (unsafe === undefined) return
  throw new StoreUnsafe(`Cannot go on with thread "${thread}": store "${name}" needs ${unsafe}`, {
    store: name,
    needs: unsafe,
  })
}

/** Says that another owner has a thread, or that nobody has it any more. */
export const leaseLost = (thread: string, why: string): LeaseLost =>
  new LeaseLost(`Cannot write to thread "${thread}": ${why}`, { thread })

/** Says that somebody has stopped a run. */
export const cancelled = (thread: string, reason?: string): Cancelled =>
  new Cancelled(`Cannot finish thread "${thread}": it was cancelled`, tidy({ reason }))

/** Whether a thread is somebody else's, or nobody's, as an error says. */
export const isLost = (error: unknown): boolean =>
  isHeddleError(error, 'lease_lost') || isHeddleError(error, 'cancelled')

/** The head of a thread, and how it lies in the store. */
interface Standing {
  readonly at: { readonly place: string }
  readonly root: Key
  readonly head: Head
  readonly row: HeadRow
  readonly revision: Revision | undefined
}

/**
 * Writes a head with all that goes with it, under the check that nobody else has written it.
 *
 * @param text The head as it is to be written: no two have the same
 * @param kept How much of it a run keeps
 * @throws LeaseLost, Cancelled if a cancel or a delete has the thread, or what the store threw when it can't tell
 */
export async function writeHead(
  store: Store,
  { at, root, head, row, revision }: Standing,
  text: string,
  kept: number,
  { puts = [], deletes = [], durable }: { puts?: Put[]; deletes?: Key[]; durable?: boolean },
): Promise<Revision> {
  const most = store.caps.maxValueBytes
  const whole = row.isWhole(text, most)
  const value = whole ? text : await row.cut(head, text, kept, most, { root, puts, deletes })
  const key = headKey(at.place)
  puts.push({ key, value })
  const checks = [{ key, revision }] as const
  const batch: HeadBatch = { checks, puts, deletes, ...(durable && { durable }) }
  let written: Revision | undefined
  let failure: Failure | undefined
  try {
    written = await store.commit(batch)
  } catch (error) {
    failure = { error }
  }
  written ??= await outcome(store, batch, value, head, failure)
  if (!whole) row.landed()
  return written
}

/**
 * What became of a commit that did not say it landed: it landed all the same, is tried once more, or was lost to another
 * owner.
 *
 * @param text What its row was to say
 * @throws LeaseLost, Cancelled if a cancel or a delete has the thread: with a cause if it may have landed before; or what the store threw when it can't tell
 */
export async function outcome(
  store: Store,
  batch: HeadBatch,
  text: string,
  head: Head,
  failure: Failure | undefined,
  tried = false,
): Promise<Revision> {
  // A store that says exactly why it refused has written nothing.
  if (failure && isHeddleError(failure.error)) throw failure.error
  const [{ key, revision }] = batch.checks
  let found: Entry | undefined
  try {
    ;[found] = await store.get([key])
  } catch (error) {
    throw failure ? failure.error : error
  }
  if (found?.value === text) {
    // What goes after the head, where not all goes at once, may still be there.
    const checks = [{ key, revision: found.revision }]
    if (batch.deletes?.length)
      await store.commit({ checks, deletes: batch.deletes }).catch(() => {})
    return found.revision
  }
  if (tried || found?.revision !== revision)
    throw Object.assign(stolen(head, found), failure && { cause: failure.error })
  return (await store.commit(batch)) ?? outcome(store, batch, text, head, failure, true)
}

/** Why a thread is gone: a cancel or a delete has taken it, or another owner. */
function stolen({ thread, born, run }: Head, found: Entry | undefined): Error {
  if (found?.value === '') return leaseLost(thread, 'its head is damaged')
  const now = found && readHead(found.value)
  if (now?.born !== born || now.status === 'deleted') return cancelled(thread, 'deleted')
  // The row of a long head doesn't tell the run.
  return now.status === 'cancelled' && (now.run ?? run) === run
    ? cancelled(thread)
    : leaseLost(thread, 'another owner has it')
}
