/** What each option of `compile` must be: methods it has to have, `function`, or a whole number from 1 on. */
const RULES: { readonly [option: string]: readonly string[] | 'function' | 'number' } = {
  store: ['get', 'list', 'commit', 'clear'],
  clock: ['now', 'after'],
  logger: ['debug', 'warn', 'error'],
  random: 'function',
  newId: 'function',
  stepLimit: 'number',
  concurrency: 'number',
  leaseMs: 'number',
}

/**
 * Refuses options that make no sense, misspelt ones included.
 *
 * @throws TypeError or RangeError naming the option
 */
export function checkOptions(graph: unknown, options: object): void {
  const name = (graph as { readonly name?: unknown } | undefined)?.name
  const cannot = `Cannot compile graph "${typeof name === 'string' ? name : ''}":`
  for (const [option, value] of Object.entries(options)) {
    const rule = Object.hasOwn(RULES, option) ? RULES[option] : undefined
    if (option === 'durability') {
      if (value !== undefined && value !== 'step' && value !== 'exit')
        throw new TypeError(`${cannot} durability is neither "step" nor "exit"`)
    } else if (rule === undefined) throw new TypeError(`${cannot} "${option}" is no option`)
    else if (value === undefined) continue
    else if (rule === 'number') {
      const endless = option === 'concurrency' && value === Infinity
      if (!endless && !(Number.isInteger(value) && value >= 1))
        throw new RangeError(
          `${cannot} ${option} is ${String(value)}, not a whole number from 1 on`,
        )
    } else if (rule === 'function') {
      if (typeof value !== 'function') throw new TypeError(`${cannot} ${option} is not a function`)
    } else {
      const lacks = rule.find((method) => typeof Object(value)[method] !== 'function')
      if (lacks) throw new TypeError(`${cannot} ${option} has no method "${lacks}"`)
    }
  }
}
