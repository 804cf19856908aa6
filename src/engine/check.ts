import { check, wholeFrom, type Rule } from '../lib/check.ts'

/** A rule for when a step counts as stored. */
export const durability: Rule = [
  (value) => value === 'step' || value === 'exit',
  '"step" or "exit"',
]

/**
 * Refuses a limit of a list that makes no sense.
 *
 * @throws RangeError
 */
export const checkLimit = (limit: number): void =>
  check('Cannot read', { limit: wholeFrom(0, Infinity) }, { limit })
