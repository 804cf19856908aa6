// A fault at operation 1, 2, 3, … of a scenario, until it has no operation of that number.
import type { CompiledGraph } from 'heddle'
import type { Fault, ManualClock } from 'heddle/testing'
import { expect } from 'vitest'

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

/**
 * Brings thread `t` to its end, whatever it takes: each time in a new process, with `true` for an answer.
 *
 * @param state What it holds then
 */
export async function broughtToEnd(
  open: () => CompiledGraph,
  clock: ManualClock,
  state: object,
): Promise<void> {
  await clock.advance(61_000)
  for (let tries = 5; tries > 0; tries--) {
    const app = open()
    const known = await app.state('t')
    if (known?.status === 'success') return expect(known.state).toEqual(state)
    const asks = (known?.interruptions.length ?? 0) > 0
    const next = known === undefined ? { input: {} } : asks ? { answer: true } : {}
    await app.run({ thread: 't', ...next }).catch(() => clock.advance(61_000))
  }
  throw new Error('it did not end')
}
