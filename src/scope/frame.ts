import type { RunContext } from '../graph/context.ts'
import type { CallContext } from '../tool/executor.ts'
import type { Scope } from './scope.ts'

/** What is known of the code that runs: set by scoped work and by `withContext`. */
export interface Frame {
  /** Asked when needed: the scope of a context may be made on first use. A caller's context may have none. */
  readonly scope: () => Scope | undefined
  readonly ctx?: RunContext | CallContext
  /** The runner whose work this is. */
  readonly runner?: object
  /** The work of the runner has come to its end; what it left behind is no longer inside. */
  over?: boolean
  readonly outer: Frame | undefined
}

/** What is used of the platform's AsyncLocalStorage. */
interface Storage {
  run<Result>(frame: Frame | undefined, work: () => Result): Result
  getStore(): Frame | undefined
}
interface Process {
  getBuiltinModule?(name: string): { readonly AsyncLocalStorage?: new () => Storage } | undefined
}

const stack: Frame[] = []
let storage: Storage | undefined
let looked = false

/**
 * Asks the platform for its AsyncLocalStorage, at the first use and not before. An `import()` would do on Workers that have
 * it alone, without `process`; but it comes too late for the first call, and Miniflare refuses scripts that hold one.
 */
function open(): Storage | undefined {
  if (looked) return storage
  looked = true
  const { process } = globalThis as { readonly process?: Process }
  // Put together, so that no bundler takes it for an import that a page could not follow.
  const Found = process?.getBuiltinModule?.(['async', 'hooks'].join('_'))?.AsyncLocalStorage
  if (Found) storage = new Found()
  return storage
}

/** Runs work in a frame: across awaits where the platform carries it, else in its synchronous part. */
export function enter<Result>(frame: Frame, work: () => Result): Result {
  const carried = open()
  if (carried) return carried.run(frame, work)
  stack.push(frame)
  try {
    return work()
  } finally {
    stack.pop()
  }
}

/** Starts work that is nobody's: in no frame, whoever starts it. Where nothing carries frames, none gets past its first await. */
export function apart<Result>(work: () => Result): Result {
  // Without a storage nobody has entered a frame that could be carried.
  return storage ? storage.run(undefined, work) : work()
}

/** The frame of the code that runs, as far as it is known. */
export function here(): Frame | undefined {
  return storage?.getStore() ?? stack.at(-1)
}

/** The scope of the code that runs, as far as it is known. */
export function currentScope(): Scope | undefined {
  let scope: Scope | undefined
  for (let frame = here(); frame && !scope; frame = frame.outer) scope = frame.scope()
  return scope
}

/** Whether frames get past an await. */
export function carries(): boolean {
  return open() !== undefined
}
