// npm test: everything that has to hold, in one command and one closing line.
import { mkdirSync, rmSync } from 'node:fs'
import { ensureBrowsers } from './browsers.ts'
import { add, runCheck, type Check, type Counts } from './check.ts'

// A lane is one check after the other; lanes of a stage run side by side. Tests that watch a clock get the machine
// for themselves.
const stages: readonly (readonly (readonly Check[])[])[] = [
  [
    [
      { name: 'typecheck', command: 'node scripts/run.mjs scripts/typecheck.ts' },
      { name: 'lint', command: 'oxlint --deny-warnings' },
      { name: 'format', command: 'oxfmt --check' },
    ],
    [
      { name: 'build', command: 'tsup --silent' },
      { name: 'package', command: 'node scripts/package.mjs', needs: 'build' },
      { name: 'publint', command: 'publint --strict', needs: 'build' },
      { name: 'attw', command: 'attw --pack . --profile esm-only', needs: 'build' },
      { name: 'size', command: 'node scripts/run.mjs bench/size.ts' },
      { name: 'demo', command: 'node scripts/run.mjs examples/demo/main.ts' },
    ],
  ],
  [[{ name: 'vitest', command: 'vitest run', counts: true }]],
  [[{ name: 'cross', command: 'node scripts/run.mjs scripts/cross.ts', counts: true }]],
]

const start = Date.now()
const scratch = `node_modules/.cache/heddle/test-${process.pid}`
mkdirSync(scratch, { recursive: true })
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))

try {
  ensureBrowsers()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  console.log('0 passed, 1 failed, 0 skipped')
  process.exit(1)
}
let total: Counts = { passed: 0, failed: 0, skipped: 0 }
const broken = new Set<string>()
for (const stage of stages) await Promise.all(stage.map(runLane))
if (broken.size > 0) console.log(`\nFailed: ${[...broken].join(', ')}`)
console.log(`\nDone in ${Math.round((Date.now() - start) / 1000)} s`)
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`)
process.exitCode = broken.size > 0 || total.failed > 0 || total.skipped > 0 ? 1 : 0

async function runLane(checks: readonly Check[]): Promise<void> {
  for (const check of checks) {
    // What can't be checked because its build failed isn't a pass: it fails with it.
    const counts =
      check.needs !== undefined && broken.has(check.needs)
        ? blocked(check)
        : await runCheck(check, scratch)
    total = add(total, counts)
    if (counts.failed > 0 || counts.skipped > 0) broken.add(check.name)
  }
}

function blocked({ name, needs }: Check): Counts {
  console.log(`FAIL ${name}: it needs ${needs}, which failed`)
  return { passed: 0, failed: 1, skipped: 0 }
}
