import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { StorageClosed, type Entry, type Key, type Store } from 'heddle'
import { lockFile } from './file-lock.ts'
import { openLog } from './file-log.ts'

interface Row extends Entry {
  readonly expires?: number
}

/** What one commit did: rows it wrote, then rows it removed, by key or by prefix. */
interface Line {
  readonly n: number
  readonly rows?: readonly Row[]
  readonly deletes?: readonly Key[]
  readonly clear?: Key
}

const MEGABYTE = 1 << 20

/**
 * Keeps threads in one append-only file, for one process at a time on one machine (Node 20.19 and newer). A commit is
 * one checksummed line: a process that dies while writing leaves a torn last line, which the next one cuts off.
 * Commits marked `durable` reach the disk before they settle. Writing blocks the process: made for programs in a
 * terminal, not for a busy server.
 *
 * @param path The file; its directory is made if it isn't there
 * @param options.compactAt Bytes from which the file is rewritten without what is superseded. @default 1 MiB
 * @throws StorageBlocked when a living process has the file, CorruptCheckpoint when it is damaged before its end
 */
export async function fileStore(
  path: string,
  { compactAt = MEGABYTE }: { readonly compactAt?: number } = {},
): Promise<Store> {
  const file = resolve(path)
  mkdirSync(dirname(file), { recursive: true })
  const unlock = await lockFile(file)
  try {
    return openStore(file, compactAt, unlock)
  } catch (error) {
    unlock()
    throw error
  }
}

function openStore(file: string, compactAt: number, unlock: () => void): Store {
  const { log, lines } = openLog<Line>(file)
  const rows = new Map<Key, Row>()
  for (const line of lines) apply(rows, line)
  for (const { key, expires = Infinity } of [...rows.values()])
    if (expires < Date.now()) rows.delete(key)
  let keys = [...rows.keys()].sort()
  let count = lines.at(-1)?.n ?? 0
  let limit = Math.max(compactAt, 2 * log.size)
  let closed = false
  // A line that a power cut took before its flush must not lend its revision to another.
  const origin = randomBytes(4).toString('hex')

  function write(line: Line, flush: boolean): void {
    log.append(line, flush)
    count = line.n
    const added = new Set(line.rows?.map(({ key }) => key).filter((key) => !rows.has(key)))
    apply(rows, line)
    for (const key of added) keys.splice(position(keys, key), 0, key)
    if (keys.length !== rows.size) keys = keys.filter((key) => rows.has(key))
    if (log.size < limit) return
    log.replace(snapshot())
    limit = Math.max(compactAt, 2 * log.size)
  }

  function* snapshot(): Iterable<Line> {
    for (const row of rows.values()) yield { n: count, rows: [row] }
    yield { n: count }
  }

  function assertOpen(): void {
    if (!closed && !log.broken) return
    throw new StorageClosed(
      `Cannot use "${file}": ${closed ? 'its store is closed' : 'an earlier write failed'}`,
      { store: 'file' },
    )
  }

  return {
    name: 'file',
    caps: {
      atomic: true,
      consistency: 'strong',
      maxValueBytes: 16 * MEGABYTE,
      maxBatchRows: 100_000,
      maxBatchBytes: 128 * MEGABYTE,
    },
    async get(wanted) {
      assertOpen()
      return wanted.map((key) => entry(rows.get(key)))
    },
    async list({ prefix, after = '', limit: most }) {
      assertOpen()
      const start = position(keys, after < prefix ? prefix : `${after}\0`)
      const page = keys.slice(start, start + most)
      return page.filter((key) => key.startsWith(prefix)).map((key) => entry(rows.get(key)!))
    },
    async commit({ checks = [], puts = [], deletes = [], durable = false }) {
      assertOpen()
      const long = puts.find(({ value }) => Buffer.byteLength(value) > this.caps.maxValueBytes)
      if (long)
        throw new RangeError(
          `Cannot write "${long.key}": its value is longer than ${this.caps.maxValueBytes} bytes`,
        )
      if (checks.some(({ key, revision }) => rows.get(key)?.revision !== revision)) return undefined
      const revision = `${(count + 1).toString(36)}-${origin}`
      write({ n: count + 1, rows: puts.map((put) => ({ ...put, revision })), deletes }, durable)
      return revision
    },
    async clear(prefix) {
      assertOpen()
      write({ n: count + 1, clear: prefix }, false)
    },
    async close() {
      if (closed) return
      closed = true
      log.close()
      unlock()
    },
  }
}

function apply(rows: Map<Key, Row>, { rows: written = [], deletes = [], clear }: Line): void {
  for (const row of written) rows.set(row.key, row)
  for (const key of deletes) rows.delete(key)
  if (clear !== undefined)
    for (const key of [...rows.keys()]) if (key.startsWith(clear)) rows.delete(key)
}

/** Where a key stands, or would stand, in a sorted list. */
function position(keys: readonly Key[], key: Key): number {
  let [low, high] = [0, keys.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (keys[middle]! < key) low = middle + 1
    else high = middle
  }
  return low
}

/** What a reader gets: none of the store's own objects. */
function entry(row: Row): Entry
function entry(row: Row | undefined): Entry | undefined
function entry(row: Row | undefined): Entry | undefined {
  return row && { key: row.key, value: row.value, revision: row.revision }
}
