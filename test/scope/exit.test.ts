// Timers of scopes keep no process alive.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

it.each([
  'scoped work that ended',
  'scoped work that failed',
  'scoped work that never ends',
  'scoped work that was aborted and is deaf',
  'a runner that is warm',
  'a runner that is being closed',
])('a process with a timeout of 30 s exits within a second of its last line: %s', async (way) => {
  const program = ['scripts/run.mjs', 'test/scope/programs/exit.ts', way]
  // Killed before any of its timeouts, it prints nothing.
  const { stdout } = await promisify(execFile)(process.execPath, program, { timeout: 25_000 })
  const { ms } = JSON.parse(stdout) as { readonly ms: number }
  expect(ms).toBeLessThan(1000)
})
