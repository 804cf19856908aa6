import { bounded, boundsOf, type ScopeOptions } from './bounded.ts'
import { here } from './frame.ts'
import { openScope, type Scope } from './scope.ts'

/**
 * Runs work in a fresh scope, and closes the scope before it settles: after a failure and a timeout, too.
 *
 * @param work Called at once. After a timeout or an abort it has the grace to end; what comes of it then is dropped
 * @throws `TimeoutError` after the timeout; the reason of the caller's signal; ToolUsageError for work that is no function and a
 * timeout that is no positive, finite number; TypeError for options that aren't known
 */
export async function scoped<Value>(
  work: (scope: Scope) => Value | Promise<Value>,
  options: ScopeOptions = {},
): Promise<Value> {
  const bounds = boundsOf(work, options)
  bounds.signal?.throwIfAborted()
  const controller = new AbortController()
  const room = openScope(controller.signal, bounds.logger)
  const frame = { scope: () => room.scope, outer: here() }
  try {
    return await bounded(controller, frame, () => work(room.scope), bounds).result
  } finally {
    await room.close()
  }
}
