// What only a process of its own shows: timers of scopes keep none alive, and no failure is swallowed.
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

it('a failure of work in a context is still told when nobody awaits it, where nothing carries contexts', async () => {
  const program = ['scripts/run.mjs', 'test/scope/programs/unheard.ts']
  const { stdout } = await promisify(execFile)(process.execPath, program)
  expect(stdout).toBe('Error: nobody awaits this\n')
})
