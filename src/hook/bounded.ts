import { isHeddleError } from '../errors.ts'
import { tidy } from '../lib/tidy.ts'
import type { Bounds, Watch } from '../lib/within.ts'
import { withContext } from '../scope/current.ts'
import { isShortCircuit, shortCircuit } from './dispatch.ts'
import type { Hook, LLMInvocation, ToolInvocation } from './hook.ts'

type Method = 'beforeTool' | 'afterTool' | 'onToolError' | 'beforeLlm' | 'afterLlm' | 'onLlmError'

/** A call of a tool or a request to a model, as far as its hooks are concerned. */
export interface Hooking {
  readonly inv: ToolInvocation | LLMInvocation
  readonly methods: readonly Method[]
  /** What is called or asked, in words. */
  readonly whose: string
  readonly watch: Watch
  readonly bounds: Bounds
  /** Copies what a hook short-circuits with. */
  copied(value: unknown): unknown
}

/**
 * A hook of one call or request: it is given up when that is aborted, or when the hook takes longer than that may. What it
 * short-circuits with is a copy.
 *
 * @param at Its place among the hooks, which names one without a name
 */
export function bounded(
  hook: Hook,
  at: number,
  { inv, methods, whose, watch, bounds, copied }: Hooking,
): Hook {
  const name = typeof hook.name === 'string' && hook.name ? hook.name : `${at + 1}`
  const what = `Hook "${name}" of ${whose}`
  const own = (method: Method): unknown => {
    if (typeof hook[method] !== 'function') return undefined
    const work = async (...given: unknown[]): Promise<unknown> => {
      const call = hook[method] as (...given: unknown[]) => unknown
      const verdict = await withContext(inv.ctx, async () => call.apply(hook, given))
      if (!isShortCircuit(verdict) || isHeddleError(verdict.shortCircuit, 'approval_denied'))
        return verdict
      return shortCircuit(copied(verdict.shortCircuit))
    }
    return (...given: unknown[]) => watch.wait(() => work(...given), { ...bounds, what })
  }
  return tidy({ name, ...Object.fromEntries(methods.map((method) => [method, own(method)])) })
}
