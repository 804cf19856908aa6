import { Unreadable } from './codec.ts'

/**
 * Reads the text of a row. It has passed its checksum, so what it says has the shape that was written; whatever else
 * goes wrong is told as damage.
 *
 * @param make Turns what was parsed into what was stored
 * @throws Unreadable
 */
export function readRow<Stored, Row = Stored>(
  text: string,
  what: string,
  make = (row: Stored): Row => row as never,
): Row {
  try {
    const row = JSON.parse(text) as Stored
    if (Object(row) === row) return make(row)
  } catch (error) {
    if (error instanceof Unreadable) throw error
  }
  // What a parser says may hold a piece of what is stored.
  throw new Unreadable(`${what} is damaged`)
}
