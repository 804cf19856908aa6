import { isCount, isMaybe, isText } from './row.ts'

/**
 * Where a value stands that is kept as a log of updates: `[generation, updates, base]`. A row holds one update; every 32
 * rows are written as one, 32 of those as one more, as a counter carries. So bytes stay within the levels times what was
 * written, and the names of the rows that make up the latest value follow from these three figures alone. The first
 * `base` updates came as one row when the generation began and are never written again. `shared`: another branch or
 * owner may add to the generation too, so that who goes on from here begins one of its own.
 */
export type LogRef = readonly [generation: string, updates: number, base: number, shared?: 1]

const FAN = 32

/** Whether something stored is a reference to a log. */
export const isLogRef = (ref: readonly unknown[]): boolean =>
  Array.isArray(ref) &&
  isText(ref[0]) &&
  isCount(ref[1]) &&
  isCount(ref[2]) &&
  ref[2] <= ref[1] &&
  isMaybe(ref[3], (shared) => shared === 1)

/** How many of the last updates the row written for update number `n` (counted after the base) holds: 1, 32, 1,024… */
export function carry(n: number): number {
  let size = 1
  while (n > 0 && n % (size * FAN) === 0) size *= FAN
  return size
}

/** The rows that make up a log, oldest and biggest first, as `[at, count]`. */
export function rowsOf([, updates, base]: LogRef): [at: number, count: number][] {
  const rows: [number, number][] = base > 0 ? [[0, base]] : []
  let size = 1
  while (size * FAN <= updates - base) size *= FAN
  for (let at = base; at < updates;) {
    while (size > updates - at) size /= FAN
    rows.push([at, size])
    at += size
  }
  return rows
}
