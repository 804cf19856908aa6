import { later } from '../lib/clock.ts'
import type { Claim } from './claim.ts'
import { dueKey, stopKey } from './keys.ts'
import { cancelled } from './outcome.ts'
import { hint, type Change, type Owner } from './owner.ts'

/** Moves the end of a lease, or drops it, with its row among what is due. */
export function moveLease(
  { head, at }: Pick<Claim, 'head' | 'at'>,
  { puts, deletes }: Required<Omit<Change, 'durable'>>,
  until?: number,
): void {
  if (head.owner !== '' && head.until !== until) deletes.push(dueKey(at, head.until, 'lease'))
  if (until === undefined) return
  head.until = until
  puts.push({ key: dueKey(at, until, 'lease'), value: hint(head) })
}

/**
 * Renews a claim's lease whenever half of it has passed, also while a node takes its time, and looks whether the run is
 * to be stopped. One timer a run: a step does nothing for it.
 *
 * @param stop Hears, once, why the run can't go on: another owner, a store that fails, a cancel
 * @returns Ends it
 */
export function keepLease(
  claim: Claim,
  { store, clock, leaseMs }: Owner,
  stop: (reason: unknown) => void,
): () => void {
  const { head, at } = claim
  let over = false
  let cancel: (() => void) | undefined

  function arm(): void {
    // What is being let go needs no lease.
    if (over || head.owner === '') return
    const { until } = head
    // At most half of it, whatever the clock says: it may have been set back, and others' were not.
    const left = Math.min(until - clock.now(), leaseMs) - leaseMs / 2
    cancel = later(clock, Math.max(1, left), () => void look(until))
  }

  async function look(until: number): Promise<void> {
    try {
      if (head.owner === '') return
      // Unless a commit has done it.
      if (until === head.until)
        await claim.renew(Math.max(clock.now() + leaseMs, until + Math.ceil(leaseMs / 2)))
      await heed()
      arm()
    } catch (error) {
      if (!over) stop(error)
    }
  }

  /** What can't be read is read the next time. */
  async function heed(): Promise<void> {
    const [row] = await store.get([stopKey(at.place)]).catch(() => [])
    if (!row?.value) return
    const [run, reason] = JSON.parse(row.value) as [run: string, reason: string | null]
    if (run === head.run) throw cancelled(head.thread, reason ?? undefined)
  }

  arm()
  return () => {
    over = true
    cancel?.()
  }
}
