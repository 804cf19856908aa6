/**
 * Makes a speller that knows some words and puts others right that are a slip away from one of them.
 *
 * @param known Lower-case words, each as often as it occurs: of two that are as near, the commoner one wins
 * @returns Puts the words of a text right and leaves everything else of it alone
 */
export function speller(known: readonly string[]): (text: string) => string {
  const counts = new Map<string, number>()
  for (const word of known) counts.set(word, (counts.get(word) ?? 0) + 1)
  const words = [...counts.keys()]
    .filter((word) => word.length > 3)
    .sort((a, b) => counts.get(b)! - counts.get(a)!)

  function correct(word: string): string {
    const lower = word.toLowerCase()
    if (lower.length < 4 || isForm(lower, counts)) return word
    const slips = lower.length < 8 ? 1 : 2
    let [best, nearest] = [word, slips + 1]
    for (const candidate of words) {
      if (Math.abs(candidate.length - lower.length) > slips || !startsAlike(candidate, lower))
        continue
      const distance = slipsBetween(candidate, lower)
      if (distance < nearest && (lower.length > 4 || !isOtherWord(candidate, lower)))
        [best, nearest] = [candidate, distance]
    }
    return best
  }

  // Addresses and ids are not prose.
  return (text) =>
    text.replace(/\S+/g, (chunk) =>
      /[@/\\_\p{N}]/u.test(chunk) ? chunk : chunk.replace(/\p{L}+(?:'\p{L}+)?/gu, correct),
    )
}

/** Whether a word is known, or a plain form of a known one, and so no slip. */
function isForm(word: string, known: ReadonlyMap<string, number>): boolean {
  if (known.has(word)) return true
  const stems = [
    word.replace(/(?:s|es|d|ed|ing|ly|er)$/, ''),
    word.replace(/(?:ed|ing|ies)$/, ''),
    word.replace(/(?:ing)$/, 'e'),
    word.replace(/(.)\1(?:ed|ing)$/, '$1'),
  ]
  return stems.some((stem) => known.has(stem)) || known.has(`${word}s`)
}

/** The first letter is the last one that people get wrong, but they do swap it with the second. */
function startsAlike(a: string, b: string): boolean {
  return a[0] === b[0] || (a[0] === b[1] && a[1] === b[0])
}

/** Short words have many neighbours, so of these only a swapped or missing letter counts as a slip. */
function isOtherWord(candidate: string, word: string): boolean {
  return (
    candidate.length <= word.length && [...candidate].sort().join('') !== [...word].sort().join('')
  )
}

/** How many letters were left out, added, changed or swapped with the next. */
function slipsBetween(a: string, b: string): number {
  let [older, old]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, at) => at)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      row[j] = Math.min(old[j]! + 1, row[j - 1]! + 1, old[j - 1]! + same)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        row[j] = Math.min(row[j]!, older[j - 2]! + 1)
    }
    ;[older, old] = [old, row]
  }
  return old[b.length]!
}
