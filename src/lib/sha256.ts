/** Fractions of the square roots and of the cube roots of the first primes (FIPS 180-4): 32 bits of each. */
let constants: { readonly start: Uint32Array; readonly rounds: Uint32Array } | undefined

function constantsOf(): NonNullable<typeof constants> {
  const start = new Uint32Array(8)
  const rounds = new Uint32Array(64)
  const fraction = (root: number): number => Math.floor((root % 1) * 2 ** 32)
  const primes: number[] = []
  for (let n = 2; primes.length < 64; n++) {
    if (primes.some((prime) => n % prime === 0)) continue
    if (primes.length < 8) start[primes.length] = fraction(Math.sqrt(n))
    rounds[primes.length] = fraction(Math.cbrt(n))
    primes.push(n)
  }
  return { start, rounds }
}

const turned = (word: number, by: number): number => (word >>> by) | (word << (32 - by))

/**
 * What `digest` gives, at once: the first 32 hex characters of SHA-256 over the UTF-16 units of a text. For ids, which are
 * short: a digest of the platform takes its time, and every call of a tool would wait for one.
 */
export function digestAtOnce(text: string): string {
  const { start, rounds } = (constants ??= constantsOf())
  const size = text.length * 2
  const blocks = new DataView(new ArrayBuffer(((size + 72) >> 6) << 6))
  for (let i = 0; i < text.length; i++) blocks.setUint16(2 * i, text.charCodeAt(i))
  blocks.setUint8(size, 0x80)
  blocks.setUint32(blocks.byteLength - 8, Math.floor(size / 2 ** 29))
  blocks.setUint32(blocks.byteLength - 4, size << 3)
  const sum = start.slice()
  const words = new Int32Array(64)
  for (let at = 0; at < blocks.byteLength; at += 64) {
    let [a, b, c, d, e, f, g, h] = sum as unknown as [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ]
    for (let i = 0; i < 64; i++) {
      if (i < 16) words[i] = blocks.getInt32(at + 4 * i)
      else {
        const [two, fifteen] = [words[i - 2]!, words[i - 15]!]
        const low = turned(fifteen, 7) ^ turned(fifteen, 18) ^ (fifteen >>> 3)
        const high = turned(two, 17) ^ turned(two, 19) ^ (two >>> 10)
        words[i] = words[i - 16]! + low + words[i - 7]! + high
      }
      const mixed = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)
      const one = h + mixed + ((e & f) ^ (~e & g)) + rounds[i]! + words[i]!
      const other = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))
      h = g
      g = f
      f = e
      e = (d + one) | 0
      d = c
      c = b
      b = a
      a = (one + other) | 0
    }
    for (const [i, word] of [a, b, c, d, e, f, g, h].entries()) sum[i]! += word
  }
  return Array.from(sum.subarray(0, 4), (word) => word.toString(16).padStart(8, '0')).join('')
}
