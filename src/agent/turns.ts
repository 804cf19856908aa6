import type { Execution } from '../engine/execution.ts'
import type { Level } from '../engine/level.ts'
import { RunLimitExceeded } from '../errors.ts'

/**
 * Counts the turns of an agent in a run: an attempt that is tried again isn't another one, a run that goes on from another
 * counts anew.
 *
 * @returns Begins a turn; RunLimitExceeded once the run has had its turns
 */
export function turnsOf(agent: string, most: number): (execution: Execution) => void {
  const turns = new WeakMap<Level, Set<string>>()
  return ({ step: { level }, task }) => {
    const begun = turns.get(level) ?? new Set()
    turns.set(level, begun)
    if (!begun.has(task.id) && begun.size >= most) {
      throw new RunLimitExceeded(
        `Cannot ask the model of agent "${agent}" again: maxTurns is ${most}, and the run has had them`,
        { limit: 'maxTurns', allowed: most },
      )
    }
    begun.add(task.id)
  }
}
