import { writeFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'

/** Writes `{ passed, failed, skipped }` to the file that `scripts/test.ts` names in HEDDLE_COUNTS. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const file = process.env['HEDDLE_COUNTS']
    if (file === undefined) return
    const counts = { passed: 0, failed: unhandled.length, skipped: 0 }
    for (const module of modules) {
      counts.failed += module.errors().length
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        counts[state === 'passed' || state === 'failed' ? state : 'skipped']++
      }
    }
    writeFileSync(file, JSON.stringify(counts))
  }
}
