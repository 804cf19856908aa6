import { LAST } from '../lib/clock.ts'

/** What a value has to be: a kind, `?` after it if it may be absent; a list of one shape, or a tuple; or an object's members. */
export type Shape = Kind | `${Kind}?` | readonly Shape[] | { readonly [member: string]: Shape }

type Kind = keyof typeof kinds

const isLike = (pattern: RegExp, value: unknown): boolean =>
  typeof value === 'string' && pattern.test(value)
const isWhole = (value: unknown): boolean => Number.isSafeInteger(value)
/** Of a decision that stands. */
const DECISION: Shape = {
  tool: 'text',
  n: 'count',
  approve: 'flag',
  reason: 'text?',
  by: 'text?',
  at: 'time',
}
/** Amounts that may be missing, after so many that are whole. */
const isTally = (value: unknown, whole = 3): boolean =>
  Array.isArray(value) &&
  value.length >= whole &&
  value.every(
    (one, at) => (at < whole ? isWhole(one) : one === null || Number.isFinite(one)) && one >= 0,
  )

const kinds = {
  text: (value: unknown) => typeof value === 'string',
  id: (value: unknown) => isLike(/^[0-9a-z]{14}$/, value),
  /** A status of a thread that nobody runs. */
  standing: (value: unknown) =>
    isLike(/^(starting|success|interrupted|waiting|error|cancelled)$/, value),
  count: (value: unknown) => isWhole(value) && (value as number) >= 0,
  /** Milliseconds that a key can be made of. */
  time: (value: unknown) => isWhole(value) && Math.abs(value as number) <= LAST,
  list: Array.isArray,
  /** Two lists of what was counted: three whole numbers, and amounts that may be missing. */
  used: (value: unknown) =>
    Array.isArray(value) && value.length === 2 && value.every((one) => isTally(one)),
  figures: (value: unknown) => isTally(value, 0),
  flag: (value: unknown) => typeof value === 'boolean',
  decisions: (value: unknown): boolean => has([DECISION], value),
  object: (value: unknown) => Object(value) === value && !Array.isArray(value),
} satisfies Record<string, (value: unknown) => boolean>

/** Whether a value that came from elsewhere has a shape. What else it has doesn't matter. */
export function has(shape: Shape, value: unknown): boolean {
  if (typeof shape === 'string') {
    const [kind] = shape.split('?') as [Kind]
    return (kind !== shape && value === undefined) || kinds[kind](value)
  }
  if (Array.isArray(shape)) {
    if (!Array.isArray(value)) return false
    const [item] = shape as Shape[]
    if (shape.length === 1) return value.every((one) => has(item as Shape, one))
    return (shape as Shape[]).every((one, i) => has(one, value[i]))
  }
  return (
    kinds.object(value) &&
    Object.entries(shape as Record<string, Shape>).every(([name, member]) =>
      has(member, (value as Record<string, unknown>)[name]),
    )
  )
}
