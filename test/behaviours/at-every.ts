// A fault at operation 1, 2, 3, … of a scenario, until it has no operation of that number.
import { expect } from 'vitest'
import type { Fault } from 'heddle/testing'

export const FAULTS: Readonly<Record<string, (at: number) => Fault>> = {
  'a crash before': (at) => ({ at, crash: 'before' }),
  'a crash after': (at) => ({ at, crash: 'after' }),
  'a lost reply of': (at) => ({ at, lose: 'reply' }),
  'an error at': (at) => ({ at, error: new Error('out of order') }),
}

/**
 * Tells a scenario once for each of its operations.
 *
 * @param tell Gives how many operations it had: one that the fault cut short has as many as the fault's number
 */
export async function atEvery(
  fault: (at: number) => Fault,
  tell: (faults: readonly Fault[]) => Promise<number>,
): Promise<void> {
  let at = 1
  while ((await tell([fault(at)])) >= at) at++
  expect(at, 'operations').toBeGreaterThan(3)
}
