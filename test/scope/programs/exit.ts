// A process that has used scopes with timeouts of 30 s and more, and has nothing else to do.
import { LoopRunner, scoped, scopeLocal } from '../../../src/index.ts'

const timeout = 30_000
const never = (): Promise<never> => new Promise(() => {})
const local = scopeLocal(() => ({}), { close: () => {} })

const ways: Readonly<Record<string, () => unknown>> = {
  'scoped work that ended': () => scoped(async () => local.get(), { timeout }),
  'scoped work that failed': () =>
    scoped(() => Promise.reject(new Error('fails')), { timeout }).catch(() => undefined),
  'scoped work that never ends': () => void scoped(never, { timeout, graceMs: timeout }),
  'scoped work that was aborted and is deaf': () =>
    void scoped(never, { timeout, graceMs: timeout, signal: abortedSoon() }).catch(() => undefined),
  async 'a runner that is warm'() {
    await new LoopRunner().run(() => local.get(), { timeout })
  },
  async 'a runner that is being closed'() {
    const runner = new LoopRunner()
    void runner.run(never, { timeout })
    void runner.close({ timeout })
    await Promise.resolve()
  },
}

function abortedSoon(): AbortSignal {
  const controller = new AbortController()
  queueMicrotask(() => controller.abort())
  return controller.signal
}

await ways[process.argv[2]!]!()
const began = performance.now()
process.on('exit', () => {
  console.log(JSON.stringify({ ms: performance.now() - began }))
})
