import type { Place, Report } from '../../test/runtime/report.ts'
import { command } from './command.ts'
import { deno } from './deno.ts'
import { chromium, firefox, webkit } from './page.ts'
import { workerd } from './workerd.ts'

/** By place: how to run `test/runtime` there. */
export const places: Readonly<Record<Place, () => Promise<Report>>> = {
  node: () => command('node', 'scripts/run.mjs', 'test/runtime/node.ts'),
  'happy-dom': () => command('node', 'scripts/run.mjs', 'test/runtime/happy-dom.ts'),
  workerd,
  deno,
  bun: () => command('node_modules/.bin/bun', 'run', 'test/runtime/bun.ts'),
  chromium,
  firefox,
  webkit,
}
