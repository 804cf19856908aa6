import { nanoid } from 'nanoid'
import { digestAtOnce } from './sha256.ts'

const DIGITS = 10
const TOP = 36 ** DIGITS - 1

/** A number as so many base-36 digits, so that text sorts as numbers do (ten: up to the year 117,000 in milliseconds). */
export const ascending = (n: number, digits: number = DIGITS): string =>
  n.toString(36).padStart(digits, '0')

/** The same, biggest number first. */
export const descending = (n: number): string => ascending(TOP - n)

/** Four characters from a source of randomness. */
export const letters = (random: () => number): string =>
  ascending(Math.floor(random() * 36 ** 4), 4)

/** A prefix (`thr_ run_ msg_ evt_ opt_`) and a nanoid. Ids that must be the same on re-entry are made by the engine. */
export const newId = (prefix: string): string => prefix + nanoid()

/** The id of a call of a tool, or of a request to a model: the same for the same call of the same task. */
export const callId = (task: string, place: string): string =>
  `call_${digestAtOnce(JSON.stringify([task, place]))}`
