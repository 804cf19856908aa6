import { cut, isOver } from '../lib/cut.ts'
import { digest } from '../lib/digest.ts'
import type { Caps, Entry, Key, Put, Store } from '../store/store.ts'
import { Unreadable } from './codec.ts'
import { fits, takesAll } from './fit.ts'
import { headText, readHead, runText, type Head } from './head.ts'
import { carried } from './held.ts'
import { headKey, headPieceKey, rootPrefix } from './keys.ts'

/** A part of a head: its text, or the name of its pieces and how many they are. */
type Part = string | readonly [name: string, count: number]

/** The row of a head that is longer than a value may be: its parts, and what has to be known without them. */
interface Stub extends Pick<Head, 'born' | 'status' | 'until'> {
  readonly parts?: readonly Part[]
}

/**
 * How the head of a thread lies in its store: in one row, or in pieces that its row names. A piece is named after the text
 * of its part, so it is never overwritten, and what changes once a run is written once a run.
 */
export class HeadRow {
  /** Pieces that the stored head names. */
  #stored: ReadonlySet<Key>
  /** Those of the head that is being written. */
  #next: ReadonlySet<Key> = new Set()
  /** The part that a run keeps, in pieces. */
  #run: { readonly text: string; readonly cut: Promise<Pieces> } | undefined

  constructor(stored: readonly Key[] = []) {
    this.#stored = new Set(stored)
  }

  /**
   * Whether a claim surely goes into one batch with its head and the end of its lease; without atomic batches, whether its
   * head goes into one row.
   */
  goesWith(head: Head, puts: readonly Put[], deletes: readonly Key[], caps: Caps): boolean {
    if (takesAll(caps)) return true
    const redo = caps.atomic ? undefined : carried(puts, deletes)
    const value = headText(runText({ ...head, redo }), head)
    if (redo) return this.isWhole(value, caps.maxValueBytes)
    const all = { puts: [...puts, { key: '', value }], deletes: [...deletes, ...this.#stored] }
    return fits(caps, all, 4)
  }

  /** Whether a head is written as it is, and nothing else is left of the one before. */
  isWhole(text: string, most: number): boolean {
    return this.#stored.size === 0 && !isOver(text, most)
  }

  /**
   * Cuts a head, if it has to be.
   *
   * @param length How much of its text a run keeps
   * @param most How many bytes a value may take
   * @returns What its row says
   */
  async cut(
    { born, status, until }: Head,
    text: string,
    length: number,
    most: number,
    { root, puts, deletes }: { root: Key; puts: Put[]; deletes: Key[] },
  ): Promise<string> {
    const row = (...parts: Part[]): string =>
      JSON.stringify({ born, status, until, parts } satisfies Stub)
    const named: Put[] = []
    let value = text
    if (isOver(text, most)) {
      const [run, rest] = [text.slice(0, length), text.slice(length)]
      if (this.#run?.text !== run) this.#run = { text: run, cut: pieces(root, run, most) }
      const first = await this.#run.cut
      named.push(...first.puts)
      value = row(first.part, rest)
      if (isOver(value, most)) {
        const second = await pieces(root, rest, most)
        named.push(...second.puts)
        value = row(first.part, second.part)
      }
    }
    this.#next = new Set(named.map(({ key }) => key))
    puts.push(...named.filter(({ key }) => !this.#stored.has(key)))
    deletes.push(...[...this.#stored].filter((key) => !this.#next.has(key)))
    return value
  }

  /** What was cut last is stored. */
  landed(): void {
    this.#stored = this.#next
  }
}

interface Pieces {
  readonly part: Part
  readonly puts: readonly Put[]
}

async function pieces(root: Key, text: string, most: number): Promise<Pieces> {
  const name = await digest(text)
  const puts = cut(text, most).map((value, n) => ({ key: headPieceKey(root, name, n), value }))
  return { part: [name, puts.length], puts }
}

/**
 * Reads a thread's head.
 *
 * @returns Without a thread nothing. Of one that is being removed the members of a `Stub` are sure to be there, no others
 * @throws Unreadable
 */
export async function loadHead(
  store: Store,
  place: string,
): Promise<{ readonly entry: Entry; readonly head: Head; readonly row: HeadRow } | undefined> {
  let last: Entry | undefined
  for (;;) {
    const [entry] = await store.get([headKey(place)])
    if (!entry) return undefined
    const head = readHead(entry.value)
    const { parts } = head as Stub
    if (!parts) return { entry, head, row: new HeadRow() }
    const root = rootPrefix(place, head.born)
    const names = parts.map((part) =>
      typeof part === 'string'
        ? []
        : Array.from({ length: part[1] }, (_, n) => headPieceKey(root, part[0], n)),
    )
    const found = new Map((await store.get(names.flat())).map((row) => [row?.key, row?.value]))
    const texts = parts.map((part, i) =>
      typeof part === 'string' ? [part] : names[i]!.map((key) => found.get(key)),
    )
    const row = new HeadRow(names.flat())
    if (!texts.flat().includes(undefined))
      return { entry, head: readHead(texts.flat().join('')), row }
    // A delete clears the thread first. Otherwise the owner has written its next head meanwhile.
    if (head.status === 'deleted') return { entry, head, row }
    if (entry.revision === last?.revision) throw new Unreadable('a piece of its head is missing')
    last = entry
  }
}
