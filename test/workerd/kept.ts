// What a Worker keeps at module level past its request: refused with our error, not the platform's.
import {
  closeScope,
  currentContext,
  LoopRunner,
  scoped,
  scopeLocal,
  withContext,
  type Scope,
} from '../../src/index.ts'

/** What came of a request. */
export type Answer =
  | { readonly value: unknown }
  | { readonly name: string; readonly message: string }

let made = 0
/** A client that works in its own request only, as those of the platform do. */
const clients = scopeLocal(() => {
  const { signal } = new AbortController()
  return { n: ++made, ask: () => signal.aborted }
})
let runner = new LoopRunner()
let scope: Scope | undefined
let client: { ask(): boolean } | undefined

const requests: Readonly<Record<string, () => unknown>> = {
  '/runner/new': () => void (runner = new LoopRunner()),
  '/runner/run': () => runner.run((own) => clients.get(own).ask()),
  '/runner/close': () => runner.close(),
  '/scope/keep': () =>
    new Promise((resolve) => {
      void scoped((own) => {
        scope = own
        resolve(clients.get(own).ask())
        return new Promise(() => {})
      })
    }),
  '/scope/get': () => clients.get(scope),
  '/scope/defer': () => scope!.defer(() => {}),
  '/scope/close': () => closeScope(scope!),
  '/scope/own': () => scoped((own) => clients.get(own).ask()),
  '/scope/ended': () => scoped((own) => void (scope = own)),
  '/client/keep': () => scoped((own) => (client = clients.get(own)).ask()),
  '/client/ask': () => client!.ask(),
  '/context/open': () => {
    void withContext({ run: 'kept' }, () => new Promise(() => {}))
    return 'open'
  },
  '/context/mine': () =>
    withContext({ run: 'mine' }, async () => {
      await Promise.resolve()
      return currentContext()?.run
    }),
  '/context': () => currentContext() === undefined,
}

/** Answers one request. */
export async function answer(path: string): Promise<Answer> {
  try {
    return { value: await requests[path]!() }
  } catch (error) {
    const { name, message } = error as Error
    return { name, message }
  }
}
