/** Whether a text takes more bytes in UTF-8 than so many. Hardly ever counted: no unit takes more than three. */
export const isOver = (text: string, most: number): boolean =>
  text.length * 3 > most && (text.length > most || bytesOf(text) > most)

/** How many bytes a text takes in UTF-8. */
export const bytesOf = (text: string): number => new TextEncoder().encode(text).length

/**
 * Cuts a text into pieces, none of them inside a character.
 *
 * @param most How many bytes a piece may take, at least four
 */
export function cut(text: string, most: number): string[] {
  const encoder = new TextEncoder()
  const room = new Uint8Array(Math.min(most, text.length * 3))
  const pieces: string[] = []
  for (let at = 0, end = 0; at < text.length; at = end) {
    // Half a character at the end of the slice finds no room: everything before it would take a byte a unit.
    end = at + encoder.encodeInto(text.slice(at, at + most), room).read
    pieces.push(text.slice(at, end))
  }
  return pieces
}
