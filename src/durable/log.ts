import { Unreadable } from './codec.ts'

/**
 * Where a value stands that is kept as a log of updates: `[generation, updates]`. The first row of a generation holds
 * everything and is never written again; after it a row holds one update, every 32 rows are written as one, 32 of those
 * as one more, as a counter carries. So bytes stay within the levels times what was written, and the names of the rows
 * that make up the latest value follow from these two alone. `shared`: another branch or owner may add to the generation
 * too, so that who goes on from here begins one of its own.
 */
export type LogRef = readonly [generation: string, updates: number, shared?: 1]

const FAN = 32

/** How many of the last updates the row written for update number `n` (counted after the first) holds: 1, 32, 1,024… */
export function carry(n: number): number {
  let size = 1
  while (n > 0 && n % (size * FAN) === 0) size *= FAN
  return size
}

/** The rows that make up a log, oldest first, as `[at, count]`. */
export function rowsOf([, updates]: LogRef): [at: number, count: number][] {
  if (!(updates >= 1 && updates < 36 ** 6)) throw new Unreadable('a log has no such length')
  const rows: [number, number][] = [[0, 1]]
  let size = 1
  while (size * FAN < updates) size *= FAN
  for (let at = 1; at < updates; at += size) {
    while (size > updates - at) size /= FAN
    rows.push([at, size])
  }
  return rows
}
