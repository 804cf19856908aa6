// What Chromium's IndexedDB writes to until it begins another one: records of a header and a payload, two writes each.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const BLOCK = 32_768
const HEADER = 7

/** The logs of a profile's databases. */
export function logsIn(profile: string): readonly string[] {
  const home = join(profile, 'Default', 'IndexedDB')
  if (!existsSync(home)) return []
  return readdirSync(home, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.log'))
    .map((file) => join(home, file))
}

/** Which file a log is: the first of a new database may be named like the last of the one before it. */
export function identity(log: string): string | undefined {
  const stats = statSync(log, { bigint: true, throwIfNoEntry: false })
  return stats && `${log} ${stats.ino} ${stats.birthtimeNs}`
}

/** Leaves a log as a kill does that comes between the header of a record and its payload. */
export function cutOff(log: string): void {
  const bytes = readFileSync(log)
  let end = 0
  for (let at = 0; at + HEADER <= bytes.length;) {
    const room = BLOCK - (at % BLOCK)
    // No header begins there.
    if (room < HEADER) at += room
    else at += HEADER + bytes.readUInt16LE(at + 4)
    if (at <= bytes.length) end = at
  }
  const room = BLOCK - (end % BLOCK)
  const header = Buffer.alloc(room < HEADER ? room + HEADER : HEADER)
  header.writeUInt16LE(room > HEADER ? Math.min(room - HEADER, 100) : 100, header.length - 3)
  header.writeUInt8(1, header.length - 1)
  writeFileSync(log, Buffer.concat([bytes.subarray(0, end), header]))
}

/** Changes a byte in the first record of a log. */
export function damage(log: string): void {
  const bytes = readFileSync(log)
  bytes.writeUInt8(bytes.readUInt8(HEADER) ^ 0xff, HEADER)
  writeFileSync(log, bytes)
}
