import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

it('a process that ran tools with a timeout of 30 s ends within a second', async () => {
  const program = ['scripts/run.mjs', 'test/tool/programs/exits.ts']
  const cwd = join(import.meta.dirname, '../..')
  const { stdout } = await promisify(execFile)(process.execPath, program, { cwd })
  expect(stdout).toBe('done error error success done at once')
})
