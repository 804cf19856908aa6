import { checkHooks } from '../hook/check.ts'
import { anything, call, check, methods, wholeFrom, type Rule } from '../lib/check.ts'
import type { Prices } from '../usage.ts'
import { durability } from './check.ts'
import { isObject } from './request.ts'

const amount: Rule = [
  (value) => Number.isFinite(value) && value >= 0,
  'a number from 0 on',
  RangeError,
]
const PRICE = { input: amount, output: amount, cacheRead: amount, cacheWrite: amount }

/**
 * Refuses options that make no sense, misspelt ones included.
 *
 * @returns What can't be done, for refusals to come
 * @throws TypeError or RangeError naming the option
 */
export function checkOptions(
  graph: unknown,
  options: { readonly hooks?: unknown; readonly prices?: Prices },
): string {
  const { name = '' } = Object(graph) as { readonly name?: unknown }
  const rules = {
    store: methods('get', 'list', 'commit', 'clear'),
    clock: methods('now', 'after'),
    logger: methods('debug', 'warn', 'error'),
    cache: methods('get', 'set', 'delete'),
    scope: methods('defer'),
    prices: [isObject, 'an object'] satisfies Rule,
    monitor: methods('emit'),
    presence: methods('set'),
    hooks: anything,
    tools: anything,
    random: call,
    newId: call,
    stepLimit: wholeFrom(1),
    concurrency: wholeFrom(1, Infinity),
    // Decades; what comes out must be an instant that a Date can tell.
    leaseMs: wholeFrom(1, 2e12),
    graceMs: wholeFrom(0),
    durability,
  }
  const cannot = `Cannot compile graph "${typeof name === 'string' ? name : ''}"`
  check(cannot, rules, options)
  for (const [model, price] of Object.entries(options.prices ?? {}))
    check(`${cannot} with the price of "${model}"`, PRICE, {
      ...price,
      ...{ input: price?.input ?? NaN, output: price?.output ?? NaN },
    })
  if (options.hooks !== undefined) checkHooks(cannot, options.hooks)
  return cannot
}
