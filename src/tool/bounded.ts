import { isShortCircuit, shortCircuit } from '../hook/dispatch.ts'
import type { Hook } from '../hook/hook.ts'
import { isHeddleError } from '../errors.ts'
import { tidy } from '../lib/tidy.ts'
import { withContext } from '../scope/current.ts'
import { copied } from './args.ts'
import type { Going } from './perform.ts'

type Method = 'beforeTool' | 'afterTool' | 'onToolError'

/**
 * A hook of one call: it is given up when the call is aborted or the hook takes longer than the call's tool may. What it
 * short-circuits with is a copy.
 *
 * @param at Its place among the hooks, which names one without a name
 */
export function bounded(hook: Hook, at: number, { inv, watch, bounds }: Going): Hook {
  const name = typeof hook.name === 'string' && hook.name ? hook.name : `${at + 1}`
  const what = `Hook "${name}" of tool "${inv.spec.name}"`
  const own = (method: Method): unknown => {
    if (typeof hook[method] !== 'function') return undefined
    const work = async (...given: unknown[]): Promise<unknown> => {
      const call = hook[method] as (...given: unknown[]) => unknown
      const verdict = await withContext(inv.ctx, async () => call.apply(hook, given))
      if (!isShortCircuit(verdict) || isHeddleError(verdict.shortCircuit, 'approval_denied'))
        return verdict
      return shortCircuit(copied(verdict.shortCircuit, `${inv.spec.name}()`))
    }
    return (...given: unknown[]) => watch.wait(() => work(...given), { ...bounds, what })
  }
  const methods: Method[] = ['beforeTool', 'afterTool', 'onToolError']
  return tidy({ name, ...Object.fromEntries(methods.map((method) => [method, own(method)])) })
}
