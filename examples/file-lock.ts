import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { StorageBlocked } from 'heddle'

/**
 * Makes this process the only one that uses a file. Every process announces itself under a name of its own and then
 * looks at the others: of two that come at once, at least one sees the other and steps back. What a dead process left
 * is swept away.
 *
 * @param file The file to guard; locks are files beside it
 * @returns Gives the file up; safe to call twice
 * @throws StorageBlocked when a living process has it
 */
export async function lockFile(file: string): Promise<() => void> {
  const prefix = `${basename(file)}.lock.`
  const own = `${prefix}${process.pid}.${bornAt(process.pid) ?? 0}.${randomBytes(4).toString('hex')}`
  const unlock = (): void => rmSync(join(dirname(file), own), { force: true })
  for (let attempt = 1; ; attempt++) {
    writeFileSync(join(dirname(file), own), '')
    const owner = otherOwner(dirname(file), prefix, own)
    if (owner === undefined) return unlock
    unlock()
    if (attempt === 20)
      throw new StorageBlocked(`Cannot open "${file}": process ${owner} has it open`, {
        store: 'file',
      })
    await delay(10 + Math.random() * 40) // two that stepped back must not meet again
  }
}

function otherOwner(directory: string, prefix: string, own: string): number | undefined {
  for (const name of readdirSync(directory)) {
    if (!name.startsWith(prefix) || name === own) continue
    const [pid, born] = name.slice(prefix.length).split('.').map(Number)
    if (isAlive(pid!, born!)) return pid!
    rmSync(join(directory, name), { force: true })
  }
  return undefined
}

function isAlive(pid: number, born: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  // The number may have gone to another process since; where the system tells, the time of birth decides.
  const now = bornAt(pid)
  return now === undefined ? process.platform !== 'linux' : born === 0 || born === now
}

/** When a process began, in ticks since boot; on Linux only, and only if it still runs. */
function bornAt(pid: number): number | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : Number(fields[19])
  } catch {
    return undefined
  }
}
