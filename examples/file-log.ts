import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import { CorruptCheckpoint, StorageQuota } from 'heddle'

/** A file of checksummed lines of JSON that a dying process can't spoil. */
export interface FileLog {
  readonly size: number
  /** Set once nobody knows what the disk holds any more; nothing must be written from then on. */
  readonly broken: boolean
  /** Adds a line whole or throws with the file as it was; `flush` also brings it to the disk. */
  append(line: unknown, flush: boolean): void
  /** Puts these lines in the place of all others, at once. Where that fails the log stays as it is. */
  replace(lines: Iterable<unknown>): void
  close(): void
}

/**
 * Opens a log, cutting off a last line that was never finished.
 *
 * @param file Where it is kept; made if it isn't there
 * @returns The log, and the lines it holds
 * @throws CorruptCheckpoint when a line is damaged and others follow it
 */
export function openLog<Line>(file: string): {
  readonly log: FileLog
  readonly lines: readonly Line[]
} {
  let fd = openSync(file, 'a+')
  const { lines, end } = parse<Line>(file, readFileSync(file))
  let size = end
  let broken = false
  ftruncateSync(fd, size)
  flushDirectory(file)

  const log: FileLog = {
    get size() {
      return size
    },
    get broken() {
      return broken
    },
    append(line, flush) {
      const bytes = encode(line)
      try {
        write(fd, bytes)
        if (flush) fsyncSync(fd)
      } catch (error) {
        takeBack(error)
        if (!isFull(error)) throw error
        throw new StorageQuota(
          `Cannot write to "${file}": the disk is full`,
          { freed: 0, needed: bytes.length },
          { cause: error },
        )
      }
      size += bytes.length
    },
    replace(fresh) {
      const path = `${file}.new`
      rmSync(path, { force: true })
      const next = openSync(path, 'a+')
      let written = 0
      try {
        for (const line of fresh) written += write(next, encode(line))
        fsyncSync(next)
        renameSync(path, file)
      } catch {
        closeSync(next)
        rmSync(path, { force: true })
        return
      }
      closeSync(fd)
      fd = next
      size = written
      flushDirectory(file)
    },
    close: () => closeSync(fd),
  }

  /** Removes what a failed write left. After a failed flush the system may have dropped earlier lines too. */
  function takeBack(error: unknown): void {
    try {
      ftruncateSync(fd, size)
      broken = !isFull(error)
    } catch {
      broken = true
    }
  }

  return { log, lines }
}

/** A line is `<checksum> <JSON>` and ends where JSON can't hold a line break. */
function encode(line: unknown): Buffer {
  const text = JSON.stringify(line)
  return Buffer.from(`${checksum(text)} ${text}\n`)
}

function parse<Line>(
  file: string,
  bytes: Buffer,
): { readonly lines: readonly Line[]; readonly end: number } {
  const lines: Line[] = []
  for (let start = 0; ;) {
    const stop = bytes.indexOf('\n', start)
    const line = stop < 0 ? undefined : decode<Line>(bytes.toString('utf8', start, stop))
    if (line === undefined) {
      if (stop >= 0 && stop + 1 < bytes.length) throw damaged(file, start)
      return { lines, end: start }
    }
    lines.push(line)
    start = stop + 1
  }
}

function decode<Line>(text: string): Line | undefined {
  const json = text.slice(9)
  return text.slice(0, 8) === checksum(json) ? (JSON.parse(json) as Line) : undefined
}

function damaged(file: string, at: number): CorruptCheckpoint {
  const why = `the line at byte ${at} is damaged and others follow it`
  return new CorruptCheckpoint(`Cannot open "${file}": ${why}`, { thread: '', why })
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0')
}

function write(fd: number, bytes: Buffer): number {
  for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done)
  return bytes.length
}

/** A new name is safe from a power cut once its directory is flushed. Windows can't, and needn't. */
function flushDirectory(file: string): void {
  if (process.platform === 'win32') return
  const fd = openSync(dirname(file), 'r')
  fsyncSync(fd)
  closeSync(fd)
}

function isFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '')
}
