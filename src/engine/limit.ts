import { later } from '../lib/clock.ts'
import type { Execution } from './execution.ts'

/** Starts the time of a node for what runs in it now, if it is limited; returns how to call it off. */
export function timeLimit(
  execution: Execution,
  late: (error: unknown) => void,
): (() => void) | undefined {
  const { attempt, node, step } = execution
  const { name, timeout } = node
  if (timeout === undefined) return undefined
  return later(step.level.run.app.owner.clock, timeout, () => {
    // A node that waits is not late; one that waits and still has work under way is.
    if (!execution.alive(attempt) || (execution.pausing && execution.busy === 0)) return
    execution.pausing = false
    late(new DOMException(`Node "${name}" took longer than ${timeout} ms`, 'TimeoutError'))
  })
}
