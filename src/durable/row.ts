import { Unreadable } from './codec.ts'

/**
 * Reads the text of a row.
 *
 * @param is Whether what the text says has the shape of such a row
 * @throws Unreadable
 */
export function readRow<Row>(text: string, is: (row: never) => unknown, what = 'a row'): Row {
  let row: unknown
  try {
    row = JSON.parse(text)
  } catch (cause) {
    // What a parser says may hold a piece of what is stored.
    throw new Unreadable(`${what} is damaged`, { cause: (cause as Error).name })
  }
  if (!is(row as never)) throw new Unreadable(`${what} has another shape`)
  return row as Row
}

export const isText = (value: unknown): value is string => typeof value === 'string'

export const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0

/** An instant that a Date can hold. */
export const isTime = (value: unknown): value is number =>
  typeof value === 'number' && Math.abs(value) <= 8.64e15

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const isTexts = (value: unknown): value is readonly string[] => isList(value, isText)

export function isList(value: unknown, is: (item: never) => unknown): boolean {
  return Array.isArray(value) && value.every((item) => is(item as never))
}

/** Whether a member is absent, or what it should be. */
export const isMaybe = (value: unknown, is: (value: never) => unknown): boolean =>
  value === undefined || Boolean(is(value as never))
