import { isHeddleError } from '../errors.ts'
import { bytesOf, cut, isOver } from '../lib/cut.ts'
import { over } from '../store/over.ts'
import type { Batch, Caps, Entry, Key, Put, Revision, Store } from '../store/store.ts'
import { isCuttable, isListed, isPiece, pieceKey } from './keys.ts'

/** What stands in a row whose text lies in pieces: this, and how many they are. */
const MARK = '+'
/** The longest key. */
const KEY = 256
/** What a commit takes beside its longest value: the rows of indexes that go with the head of a claim. */
const BESIDE = 3_000
/** The least that a store has to take: every commit that can't be split fits. */
const LEAST = { maxValueBytes: 1_000, maxBatchRows: 5, maxBatchBytes: 4_000 } as const

/** A put, or the key of a row that goes, and what it takes of a commit. */
interface Write {
  readonly key: Key
  readonly put?: Put
  readonly size: number
}

/** Whether a store takes a commit of any size, whole or not at all. */
export const takesAll = ({ atomic, maxBatchRows, maxBatchBytes }: Caps): boolean =>
  atomic && Math.min(maxBatchRows, maxBatchBytes) === Infinity

/**
 * Whether a commit surely fits a store as it is.
 *
 * @param more How many rows come on top of it
 */
export function fits(caps: Caps, { puts = [], deletes = [] }: Batch, more = 0): boolean {
  let rows = deletes.length + more
  let bytes = rows * KEY
  for (const { value } of puts) {
    const most = value.length * 3
    rows += most > caps.maxValueBytes ? 2 + most / caps.maxValueBytes : 1
    bytes += most + KEY
  }
  return rows <= caps.maxBatchRows && bytes <= caps.maxBatchBytes
}

/**
 * The same store, for which nothing is too long. The text of a thread's row that is longer than a value lies in pieces
 * beside it, under the thread's root. A commit that is larger than a batch writes its new rows ahead, each time under the
 * same checks, then the head with what fits, and removes the rest after it. What a crash leaves in between is named by
 * nothing.
 *
 * @throws RangeError if the store takes so little that a head doesn't fit
 */
export function fitted(store: Store): Store {
  const { caps } = store
  for (const name of Object.keys(LEAST) as (keyof typeof LEAST)[]) {
    if (!(caps[name] >= LEAST[name]))
      throw new RangeError(
        `Cannot use store "${store.name}": its ${name} is ${caps[name]}, less than ${LEAST[name]}`,
      )
  }
  const most = Math.min(caps.maxValueBytes, caps.maxBatchBytes - BESIDE)
  if (most === Infinity && caps.maxBatchRows === Infinity) return store

  const isLong = ({ key, value }: Put): boolean =>
    (isOver(value, most) || value.startsWith(MARK)) && isCuttable(key)

  function apart(put: Put): Put[] {
    if (!isLong(put)) return [put]
    const pieces = cut(put.value, most)
    const rows = pieces.map((value, n) => ({ ...put, key: pieceKey(put.key, n), value }))
    return [...rows, { ...put, value: MARK + rows.length }]
  }

  /** Puts the texts of rows together. One that lacks a piece reads as an empty text, or not at all if it is gone too. */
  async function whole<Row extends Entry | undefined>(
    rows: readonly Row[],
  ): Promise<readonly (Row | undefined)[]> {
    const keys = rows.flatMap((row) => piecesOf(row))
    if (keys.length === 0) return rows
    const found = await store.get(keys)
    let n = 0
    return Promise.all(
      rows.map(async (row) => {
        const count = piecesOf(row).length
        if (!row || count === 0) return row
        const texts = found.slice(n, (n += count)).map((piece) => piece?.value)
        if (!texts.includes(undefined)) return { ...row, value: texts.join('') }
        return (await store.get([row.key]))[0] && { ...row, value: '' }
      }),
    )
  }

  async function commit(batch: Batch): Promise<Revision | undefined> {
    const { puts = [], deletes = [] } = batch
    const cuttable = deletes.filter(isCuttable)
    if (cuttable.length === 0 && fits(caps, batch) && !puts.some(isLong)) return store.commit(batch)
    const writes: Write[] = puts
      .flatMap(apart)
      .map((put) => ({ key: put.key, put, size: put.key.length + bytesOf(put.value) }))
    for (const key of deletes) writes.push({ key, size: key.length })
    for (let at = 0; at < cuttable.length; at += 100)
      for (const row of await store.get(cuttable.slice(at, at + 100)))
        for (const key of piecesOf(row)) writes.push({ key, size: key.length })

    const head = puts.find(({ key }) => key.startsWith('h/'))?.key
    const last: Write[] = []
    const left: Write[] = []
    const takes = room(caps)
    for (const one of writes.toReversed().sort((a, b) => rank(a) - rank(b)))
      (takes(one) ? last : left).push(one)
    // Without a new head everything is known by the old one, which goes last if it goes.
    const isAhead = ({ put }: Write): boolean => put !== undefined || head === undefined
    const send = (part: readonly Write[], more: Batch = batch): Promise<Revision | undefined> =>
      store.commit({
        ...more,
        puts: part.flatMap(({ put }) => put ?? []),
        deletes: part.flatMap(({ put, key }) => (put ? [] : key)),
      })
    for (const part of split(caps, left.filter(isAhead).toReversed())) {
      // What is written ahead can be written twice.
      const again = (error: unknown): Promise<Revision | undefined> => {
        if (isHeddleError(error)) throw error
        return send(part)
      }
      if ((await send(part).catch(again)) === undefined) return undefined
    }
    const revision = await send(last)
    if (revision === undefined || head === undefined) return revision
    const after = { ...batch, checks: [{ key: head, revision }] }
    const rest = left.filter((one) => !isAhead(one))
    for (const part of split(caps, rest)) await send(part, after)
    return revision
  }

  return over(store, {
    caps: { ...caps, maxValueBytes: most },
    get: async (keys) => whole(await store.get(keys)),
    async list(range) {
      const rows = await store.list(range)
      // Who asks for pieces gets them as they are.
      if (isPiece(range.prefix)) return rows
      return (await whole(rows.filter(({ key }) => !isPiece(key)))).flatMap((row) => row ?? [])
    },
    commit,
  })
}

/** The names of the pieces that a row as it is stored stands for. */
function piecesOf(row: Entry | undefined): Key[] {
  const count = row && isCuttable(row.key) && /^\+(\d{1,5})$/.exec(row.value)
  return count ? Array.from({ length: Number(count[1]) }, (_, n) => pieceKey(row.key, n)) : []
}

/** What matters most in the commit of a head: history and indexes are listed, whatever a head says of them. */
function rank({ key, put }: Write): number {
  if (key.startsWith('h/')) return 0
  if (!key.startsWith('t/')) return put ? 2 : 3
  return put ? (isListed(key) ? 1 : 4) : 5
}

/** Fills a commit: tells of one write after the other whether it still fits. What fits none is left to the store to refuse. */
function room({ maxBatchRows, maxBatchBytes }: Caps): (one: Write) => boolean {
  let rows = 0
  let bytes = 0
  return ({ size }) => {
    if (rows > 0 && (rows >= maxBatchRows || bytes + size > maxBatchBytes)) return false
    rows++
    bytes += size
    return true
  }
}

/** Parts that fit a commit each, in order: a row that says that there are pieces comes after them. */
function split(caps: Caps, writes: readonly Write[]): Write[][] {
  const parts: Write[][] = []
  let takes = (_: Write): boolean => false
  for (const one of writes) {
    if (!takes(one)) {
      parts.push([])
      takes = room(caps)
      takes(one)
    }
    parts.at(-1)?.push(one)
  }
  return parts
}
