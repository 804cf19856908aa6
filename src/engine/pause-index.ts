import type { Claim } from '../durable/claim.ts'
import type { OpenPause } from '../durable/head.ts'
import { dueKey, inboxKey } from '../durable/keys.ts'
import { hint } from '../durable/owner.ts'
import type { Key, Put } from '../store/store.ts'

/** The index rows of an open pause. */
export function indexRows({ at }: Claim, { id, kind, n, due }: OpenPause): Key[] {
  return [
    ...(kind === 'question' ? [inboxKey(at, n, id)] : []),
    ...(due === undefined ? [] : [dueKey(at, due, id)]),
  ]
}

/** The same rows, as they are written. */
export const indexPuts = (claim: Claim, open: OpenPause): Put[] =>
  indexRows(claim, open).map((key) => ({ key, value: hint(claim.head) }))
