import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Report } from '../../test/runtime/report.ts'
import { merged } from '../../test/runtime/several.ts'
import { command } from './command.ts'

/** The command that runs a file in Deno. It is allowed nothing but what is said here: heddle asks for no permission. */
export const denoRun = (...permissions: readonly string[]): readonly [string, ...string[]] => [
  'node_modules/.bin/deno',
  'run',
  '--no-prompt',
  '--no-lock',
  '--quiet',
  '--unstable-kv',
  '--config',
  'test/runtime/deno.json',
  ...permissions,
]

/** Runs in Deno: on stores in memory without any permission, then on a database in a file, with a network of one. */
export async function deno(): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'heddle-deno-'))
  const file = join(folder, 'kv.sqlite3')
  const touching = [
    `--allow-read=${folder}`,
    `--allow-write=${folder}`,
    // For endpoints of models, which the tests serve themselves.
    '--allow-net=127.0.0.1',
  ]
  try {
    return merged([
      await command(...denoRun(), 'test/runtime/deno.ts'),
      await command(...denoRun(...touching), 'test/runtime/deno.ts', file),
    ])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
