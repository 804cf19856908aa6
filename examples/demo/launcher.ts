import { readFileSync } from 'node:fs'

/**
 * Lets this process die with what started it. Who kills `npm run demo` means the demo, which npm's shell would
 * otherwise keep alive, unseen and with its files open.
 */
export function dieWithLauncher(): void {
  const shell = process.ppid
  const npm = parentOf(shell)
  const check = (): void => {
    if (process.ppid !== shell || parentOf(shell) !== npm) process.kill(process.pid, 'SIGKILL')
  }
  if (process.env['npm_lifecycle_event'] !== undefined) setInterval(check, 100).unref()
}

/** On Linux; elsewhere only the shell itself is watched. */
function parentOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')[1]
  } catch {
    return undefined
  }
}
