import { wholeFrom } from '../lib/check.ts'
import { RunLimitExceeded } from '../errors.ts'
import type { Hook } from '../hook/hook.ts'
import { checkLimits, deed, insideOf, stop, type Invocation, type PolicyOptions } from './policy.ts'

/** How far one run may go, since its input and whatever resumed runs that takes; at least one of the three. */
export interface RunLimits extends PolicyOptions {
  readonly toolCalls?: number
  readonly modelCalls?: number
  /** Milliseconds of running, waits not counted. Looked at before each node, tool and request: it ends nothing under way. */
  readonly time?: number
}

/**
 * Caps one run; `RunLimitExceeded`. Calls that a policy refused or a person denied don't count.
 *
 * @throws TypeError or RangeError for limits that make no sense, or none
 */
export function runLimits(limits: RunLimits): Hook {
  const rules = { toolCalls: wholeFrom(0), modelCalls: wholeFrom(0), time: wholeFrom(1) }
  checkLimits('run limits', limits, rules)
  const { shadow = false, ...most } = limits
  const name = 'run limits'
  const look =
    (...names: readonly (keyof typeof most)[]) =>
    (inv: Invocation): void => {
      const { toolCalls, modelCalls, ms } = insideOf(inv, name).used.run
      const used = { toolCalls, modelCalls, time: ms }
      for (const limit of names) {
        const allowed = most[limit]
        if (allowed === undefined || used[limit] < allowed) continue
        const unit = { toolCalls: 'tool calls', modelCalls: 'requests', time: 'ms' }[limit]
        const error = new RunLimitExceeded(
          `Cannot ${deed(inv)}: the run has had ${used[limit]} of ${allowed} ${unit}`,
          { limit, allowed },
        )
        stop({ name, shadow }, inv, error)
      }
    }
  return {
    name,
    beforeTool: look('toolCalls', 'time'),
    beforeLlm: look('modelCalls', 'time'),
    ...(most.time !== undefined && { beforeNode: look('time') }),
  }
}
