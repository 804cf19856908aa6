import { nanoid } from 'nanoid'

const DIGITS = 10
const TOP = 36 ** DIGITS - 1

/** A number as ten base-36 digits, so that text sorts as numbers do (up to the year 117,000 in milliseconds). */
export const ascending = (n: number): string => n.toString(36).padStart(DIGITS, '0')

/** The same, biggest number first. */
export const descending = (n: number): string => ascending(TOP - n)

/** Four characters from a source of randomness. */
export const letters = (random: () => number): string =>
  Math.floor(random() * 36 ** 4)
    .toString(36)
    .padStart(4, '0')

/** A prefix and a nanoid. */
export const newId = (prefix: string): string => prefix + nanoid()
