import { wholeFrom, type Rule } from '../lib/check.ts'
import { BudgetExceeded } from '../errors.ts'
import type { Hook, LLMInvocation, ToolInvocation } from '../hook/hook.ts'
import { announce, checkLimits, deed, insideOf, stop, type PolicyOptions } from './policy.ts'

/** How much may be used; at least one of the three. */
export interface BudgetLimits extends PolicyOptions {
  /** As models report them. */
  readonly tokens?: number
  /** Tool calls and requests to models together. */
  readonly calls?: number
  /** By the prices that the app was given; a `TypeError` at the first call without them, or without that of a model. */
  readonly cost?: number
  /** What is counted: a run since its input, whatever resumed runs that takes, or the thread in all. @default 'run' */
  readonly per?: 'run' | 'thread'
}

const LIMITS = ['tokens', 'calls', 'cost'] as const
const positive: Rule = [
  (value) => Number.isFinite(value) && value > 0,
  'a number above 0',
  RangeError,
]
const per: Rule = [(value) => value === 'run' || value === 'thread', '"run" or "thread"']

/**
 * Stops a run or a thread when it has used this much; `BudgetExceeded`. It is checked before each call, so one call may
 * overshoot. A figure that nobody reported doesn't count. Calls that a policy refused or a person denied don't count
 * either.
 *
 * @throws TypeError or RangeError for limits that make no sense, or none
 */
export function budget(limits: BudgetLimits): Hook {
  const rules = { tokens: wholeFrom(1), calls: wholeFrom(0), cost: positive }
  checkLimits('a budget', limits, rules, { per })
  const { per: whose = 'run', shadow = false, ...most } = limits
  const name = 'budget'
  const look = (inv: ToolInvocation | LLMInvocation): void => {
    const { host, used: all } = insideOf(inv, name)
    if (most.cost !== undefined) {
      const cannot = 'Cannot keep to a budget of cost: the app was given no'
      if (!host.prices) throw new TypeError(`${cannot} prices`)
      const key = 'request' in inv ? `${inv.provider}/${inv.model}` : undefined
      // What it costs would count as nothing.
      if (key !== undefined && !Object.hasOwn(host.prices, key)) {
        if (!shadow) throw new TypeError(`${cannot} price of "${key}"`)
        const details = { per: whose, limit: 'cost', price: key }
        announce({ name, shadow }, inv, { outcome: 'no_price', did: 'stopped', details })
      }
    }
    const { toolCalls, modelCalls, tokens, cost } = all[whose]
    const spent = { tokens, calls: toolCalls + modelCalls, cost }
    for (const limit of LIMITS) {
      const allowed = most[limit]
      const used = spent[limit]
      if (allowed === undefined || used === undefined || used < allowed) continue
      const [had, may] =
        limit === 'cost'
          ? [`cost ${used}`, `, and may cost ${allowed}`]
          : [`used ${used}`, ` of ${allowed} ${limit}`]
      const error = new BudgetExceeded(`Cannot ${deed(inv)}: the ${whose} has ${had}${may}`, {
        limit,
        used,
        allowed,
      })
      stop({ name, shadow }, inv, error, { details: { per: whose, ...error.details } })
    }
  }
  return { name, beforeTool: look, beforeLlm: look }
}
