import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'

/** A command that must succeed. */
export interface Check {
  readonly name: string
  readonly command: string
  /** It writes how many cases passed to the file named by HEDDLE_COUNTS; any other counts as one. */
  readonly counts?: true
  /** The check that must have passed before. */
  readonly needs?: string
}

export interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

const TIMEOUT = 18 * 60_000

/** Runs a check, quietly: its output is shown when it fails. */
export async function runCheck(
  { name, command, counts: counting }: Check,
  scratch: string,
): Promise<Counts> {
  const start = Date.now()
  const file = resolve(scratch, `${name}.json`)
  const { code, output } = await run(command, file)
  const counts =
    counting && existsSync(file)
      ? (JSON.parse(readFileSync(file, 'utf8')) as Counts)
      : one(code === 0)
  // A runner that fails without a failed case (a crash, a typo in its options) is a failure of its own.
  const all = code !== 0 && counts.failed === 0 ? add(counts, one(false)) : counts
  const ok = all.failed === 0 && all.skipped === 0 && all.passed > 0
  const seconds = ((Date.now() - start) / 1000).toFixed(1)
  const summary = counting
    ? `: ${all.passed} passed, ${all.failed} failed, ${all.skipped} skipped`
    : ''
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${name}${summary} (${seconds} s)`)
  if (!ok) console.log(`${output.trim().replaceAll(/^/gm, '     | ')}\n`)
  return ok || all.failed > 0 || all.skipped > 0 ? all : one(false)
}

export function add(a: Counts, b: Counts): Counts {
  return {
    passed: a.passed + b.passed,
    failed: a.failed + b.failed,
    skipped: a.skipped + b.skipped,
  }
}

function one(passed: boolean): Counts {
  return { passed: passed ? 1 : 0, failed: passed ? 0 : 1, skipped: 0 }
}

function run(command: string, countsFile: string): Promise<{ code: number; output: string }> {
  const [file = '', ...args] = command.split(' ')
  const PATH = `${resolve('node_modules/.bin')}:${process.env['PATH']}`
  const env = {
    ...process.env,
    PATH,
    HEDDLE_COUNTS: countsFile,
    NO_COLOR: '1',
    WRANGLER_SEND_METRICS: 'false',
  }
  // A group of its own, so that what it started ends with it.
  const child = spawn(file, args, { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => (output += String(chunk)))
  const end = (): void => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  }
  const timer = setTimeout(() => {
    output += `\nNot done after ${TIMEOUT / 60_000} minutes`
    end()
  }, TIMEOUT)
  const interrupted = (): void => {
    end()
    process.exit(130)
  }
  process.once('SIGINT', interrupted)
  return new Promise((done) => {
    const settle = (code: number): void => {
      clearTimeout(timer)
      process.off('SIGINT', interrupted)
      done({ code, output })
    }
    child.on('error', (error) => {
      output += String(error)
      settle(1)
    })
    child.on('close', (code) => settle(code ?? 1))
  })
}
