import { check, durability, wholeFrom, type Rule } from './check.ts'

/**
 * Refuses options that make no sense, misspelt ones included.
 *
 * @throws TypeError or RangeError naming the option
 */
export function checkOptions(graph: unknown, options: object): void {
  const { name = '' } = Object(graph) as { readonly name?: unknown }
  const methods = (...names: string[]): Rule => [
    (value) => names.every((one) => typeof Object(value)[one] === 'function'),
    `an object with the methods ${names.join(', ')}`,
  ]
  const call: Rule = [(value) => typeof value === 'function', 'a function']
  const rules = {
    store: methods('get', 'list', 'commit', 'clear'),
    clock: methods('now', 'after'),
    logger: methods('debug', 'warn', 'error'),
    random: call,
    newId: call,
    stepLimit: wholeFrom(1),
    concurrency: wholeFrom(1, Infinity),
    // Decades; what comes out must be an instant that a Date can tell.
    leaseMs: wholeFrom(1, 2e12),
    graceMs: wholeFrom(0),
    durability,
  }
  check(`Cannot compile graph "${typeof name === 'string' ? name : ''}"`, rules, options)
}
