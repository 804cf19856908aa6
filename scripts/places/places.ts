import type { Place, Report } from '../../test/runtime/report.ts'
import { command } from './command.ts'
import { chromium, firefox, webkit } from './page.ts'
import { workerd } from './workerd.ts'

/** By place: how to run `test/runtime` there. */
export const places: Readonly<Record<Place, () => Promise<Report>>> = {
  node: () => command('node', 'scripts/run.mjs', 'test/runtime/node.ts'),
  'happy-dom': () => command('node', 'scripts/run.mjs', 'test/runtime/happy-dom.ts'),
  workerd,
  // Without -A: heddle asks Deno for no permission.
  deno: () =>
    command(
      'node_modules/.bin/deno',
      'run',
      '--no-prompt',
      '--no-lock',
      '--quiet',
      '--config',
      'test/runtime/deno.json',
      'test/runtime/deno.ts',
    ),
  bun: () => command('node_modules/.bin/bun', 'run', 'test/runtime/bun.ts'),
  chromium,
  firefox,
  webkit,
}
