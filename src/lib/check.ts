/** What a value must be, in code and in words, and what is thrown if it isn't. */
export type Rule = readonly [
  is: (value: never) => unknown,
  what: string,
  refusal?: typeof RangeError,
]

/**
 * Refuses members that make no sense, misspelt ones included. Those that are undefined count as absent.
 *
 * @param cannot What can't be done then
 * @throws TypeError, or what the rule says, naming the member
 */
export function check(
  cannot: string,
  rules: { readonly [member: string]: Rule },
  members: object,
): void {
  if (!members) throw new TypeError(`${cannot}: what is given is ${String(members)}`)
  for (const [name, value] of Object.entries(members)) {
    const rule = Object.hasOwn(rules, name) && rules[name]
    if (!rule) throw new TypeError(`${cannot}: "${name}" is not known here`)
    const [is, what, Refusal = TypeError] = rule
    if (value !== undefined && !is(value as never))
      throw new Refusal(`${cannot}: ${name} is not ${what}`)
  }
}

/** A rule for whatever it may be. */
export const anything: Rule = [() => true, '']

/** A rule for functions. */
export const call: Rule = [(value) => typeof value === 'function', 'a function']

/** A rule for what has such methods. */
export const methods = (...names: string[]): Rule => [
  (value) => names.every((one) => typeof Object(value)[one] === 'function'),
  `an object with the methods ${names.join(', ')}`,
]

/** A rule for whole numbers. The most may be Infinity, and is good then. */
export const wholeFrom = (least: number, most: number = Number.MAX_VALUE): Rule => [
  (value) => (value === most || Number.isInteger(value)) && value >= least && value <= most,
  `a whole number from ${least} ${most < Number.MAX_VALUE ? `to ${most}` : 'on'}`,
  RangeError,
]
