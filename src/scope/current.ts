import { ToolUsageError } from '../errors.ts'
import type { RunContext } from '../graph/context.ts'
import { quietly } from '../lib/quietly.ts'
import type { CallContext } from '../tool/executor.ts'
import { carries, enter, here } from './frame.ts'
import { readable } from './scope.ts'

/** Contexts whose work is under way where nothing carries them: a signal for each, which tells its request. */
const pending = /* @__PURE__ */ new Set<AbortSignal>()

/**
 * Runs work with a context that `currentContext` finds: across awaits where the platform has AsyncLocalStorage, else in the
 * synchronous part only.
 *
 * @param ctx That of a node or a tool, or what a caller gives to an executor
 */
export function withContext<Value>(ctx: RunContext | CallContext, work: () => Value): Value {
  const value = enter({ ctx, scope: () => ctx.scope, outer: here() }, work)
  if (carries() || !(value instanceof Promise)) return value
  // Workers make none outside of requests, where nothing is under way.
  const one = quietly(() => new AbortController().signal)
  if (!one) return value
  pending.add(one)
  const settled = (): void => void pending.delete(one)
  if (Object.getPrototypeOf(value) === Promise.prototype) return value.finally(settled) as Value
  // It may be more than a promise: it comes back as it is.
  value.then(settled, settled)
  return value
}

/**
 * The context of the code that runs, or `undefined` when none is open. Pass `ctx` on instead wherever you can.
 *
 * @throws ToolUsageError after an await where the platform has no AsyncLocalStorage, while a context is open: whose it is can't
 * be known
 */
export function currentContext(): RunContext | CallContext | undefined {
  for (let frame = here(); frame; frame = frame.outer) if (frame.ctx) return frame.ctx
  // On Workers those of other requests are not ours.
  for (const one of pending)
    if (readable(one))
      throw new ToolUsageError(
        'Cannot tell the current context: this platform loses it at the first await. Pass ctx on instead',
        {},
      )
  return undefined
}
