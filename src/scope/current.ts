import { ToolUsageError } from '../errors.ts'
import type { RunContext } from '../graph/context.ts'
import { carries, enter, here } from './frame.ts'
import { readable } from './scope.ts'

/** Contexts whose work is under way where nothing carries them, by the signal that tells their request. */
const pending = /* @__PURE__ */ new Set<{ readonly signal: AbortSignal }>()

/**
 * Runs work with a context that `currentContext` finds: across awaits where the platform has AsyncLocalStorage, else in the
 * synchronous part only.
 */
export function withContext<Value>(ctx: RunContext, work: () => Value): Value {
  const value = enter({ ctx, scope: () => ctx.scope, outer: here() }, work)
  if (carries() || !(value instanceof Promise)) return value
  const one = { signal: ctx.signal }
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
export function currentContext(): RunContext | undefined {
  for (let frame = here(); frame; frame = frame.outer) if (frame.ctx) return frame.ctx
  // On Workers those of other requests are not ours.
  for (const { signal } of pending)
    if (readable(signal))
      throw new ToolUsageError(
        'Cannot tell the current context: this platform loses it at the first await. Pass ctx on instead',
        {},
      )
  return undefined
}
