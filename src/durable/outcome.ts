import { LeaseLost, isHeddleError } from '../errors.ts'
import type { Batch, Check, Entry, Put, Revision, Store } from '../store/store.ts'

/** A commit of a thread's head, with all that goes with it. */
export interface HeadBatch extends Batch {
  readonly checks: readonly [Check]
  readonly puts: Put[]
}

/** What was thrown, whatever it was. */
export interface Failure {
  readonly error: unknown
}

/** Says that another owner has a thread, or that nobody has it any more. */
export const leaseLost = (thread: string, why: string): LeaseLost =>
  new LeaseLost(`Cannot write to thread "${thread}": ${why}`, { thread })

/**
 * What became of a commit that did not say it landed: it landed all the same, is tried once more, or was lost to another
 * owner.
 *
 * @param text The head as it was to be written: no two have the same
 * @throws LeaseLost, or what the store threw when it can't tell
 */
export async function outcome(
  store: Store,
  batch: HeadBatch,
  text: string,
  thread: string,
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
  if (found?.value === text) return found.revision
  if (tried || found?.revision !== revision) throw leaseLost(thread, 'another owner has it')
  return (await store.commit(batch)) ?? outcome(store, batch, text, thread, failure, true)
}
