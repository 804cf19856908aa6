import fc from 'fast-check'
import { expect, it } from 'vitest'
import { bytesOf, cut, isOver } from '../../src/lib/cut.ts'

/** Well-formed text of characters of one to four bytes. */
const texts = fc.string({
  unit: fc.constantFrom('a', '"', 'é', '漢', '\uffff', '😀', '\u{10ffff}'),
  maxLength: 60,
})

it('pieces are as long as they may be, whole characters, and the text together', () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 4, max: 30 }), (text, most) => {
      const pieces = cut(text, most)
      expect(pieces.join('')).toBe(text)
      for (const [n, piece] of pieces.entries()) {
        expect(bytesOf(piece)).toBeLessThanOrEqual(most)
        expect(piece).not.toMatch(/\p{Surrogate}/u)
        expect(piece).not.toBe('')
        // The next character would not have fitted.
        const next = String.fromCodePoint(pieces[n + 1]?.codePointAt(0) ?? 0x10_ffff)
        expect(bytesOf(piece + next) > most || n === pieces.length - 1).toBe(true)
      }
    }),
    { numRuns: 2_000 },
  )
})

it('what is over a limit is so to the byte', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const bytes = new TextEncoder().encode(text).length
      expect(isOver(text, bytes)).toBe(false)
      expect(isOver(text, bytes - 1)).toBe(true)
    }),
    { numRuns: 2_000 },
  )
  expect(isOver('x'.repeat(1_000_000), Infinity)).toBe(false)
})

it('an empty text has no pieces', () => expect(cut('', 10)).toEqual([]))
