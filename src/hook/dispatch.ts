import { ToolUsageError } from '../errors.ts'
import { consoleLogger } from '../lib/logger.ts'
import { quietly } from '../lib/quietly.ts'
import type { Inside } from '../tool/inside.ts'
import { METHODS } from './check.ts'
import type { Hook, ShortCircuit } from './hook.ts'
import { INSIDE } from './mark.ts'
import { errorType, hookName } from './name.ts'
import { isControlFlow, isPolicyOutcome } from './outcome.ts'

type Before = 'beforeTool' | 'beforeLlm' | 'beforeNode'
type After = 'afterTool' | 'afterLlm' | 'afterNode'
type OnError = 'onToolError' | 'onLlmError' | 'onNodeError'

/** What hooks of any method are called as. */
type Methods = { readonly [method: string]: ((inv: object, more?: unknown) => unknown) | undefined }

const SHORT: symbol = /* @__PURE__ */ Symbol.for('heddle.short_circuit')

/**
 * Ends a call with a value: returned by a `before*` hook instead of the call, by an `on*Error` hook instead of the error.
 *
 * @param value What the call gives. The hooks after it see it like any other; it is never cached
 */
export const shortCircuit = (value: unknown): ShortCircuit => ({
  '~heddle': SHORT,
  shortCircuit: value,
})

/** Whether a value was made by `shortCircuit`, by any copy of the package. */
export const isShortCircuit = (value: unknown): value is ShortCircuit =>
  typeof value === 'object' && value !== null && (value as ShortCircuit)['~heddle'] === SHORT

/**
 * Asks hooks, one after the other, whether something may happen. The first short circuit wins: hooks behind it aren't
 * asked.
 *
 * @param hooks In this order: as they were registered
 * @param inv What is about to happen; it is frozen
 * @throws what a hook throws, the same object; ToolUsageError if one gives back anything but a short circuit or nothing;
 * TypeError for a method that isn't known
 */
export async function runBefore(
  hooks: readonly Hook[],
  method: Before,
  inv: object,
): Promise<ShortCircuit | undefined> {
  known('before', method)
  return ask(hooks, method, inv)
}

/**
 * Hands what came of something through hooks. `undefined` keeps it; anything else, `null` too, replaces it for the next.
 *
 * @param hooks In this order: the reverse of how they were registered
 * @param inv What has happened; it is frozen
 * @throws what a hook throws, the same object; TypeError for a method that isn't known
 */
export async function runAfter<Value>(
  hooks: readonly Hook[],
  method: After,
  inv: object,
  value: Value,
): Promise<Value> {
  known('after', method)
  const going = watch(Object.freeze(inv))
  for (const hook of hooks) {
    if (!going()) throw signalOf(inv)?.reason
    try {
      const other = await methodsOf(hook)[method]?.(inv, value)
      if (other !== undefined) value = other as Value
    } catch (error) {
      report(hooks, hook, method, inv, error)
      throw error
    }
  }
  return value
}

/**
 * Tells hooks of an error. The first short circuit recovers from it: hooks behind it aren't told. A hook that fails in
 * here is logged, its error goes to the list `suppressed` of the primary one where that is an object that takes it, and
 * the next hook is told.
 *
 * @param hooks In this order: the reverse of how they were registered
 * @param inv What has failed; it is frozen
 * @throws TypeError for a method that isn't known
 */
export async function runOnError(
  hooks: readonly Hook[],
  method: OnError,
  inv: object,
  error: unknown,
): Promise<ShortCircuit | undefined> {
  known('Error', method)
  const going = watch(Object.freeze(inv))
  for (const hook of hooks) {
    if (!going()) break
    try {
      const verdict = await verdictOf(hooks, hook, method, inv, error)
      if (verdict) return verdict
    } catch (another) {
      if (report(hooks, hook, method, inv, another)) suppress(error, another)
    }
  }
  return undefined
}

/**
 * As `runBefore`. If a hook fails, those that were asked before it are told, last first: they may have begun something.
 * None of them can make it good. What a policy decided and control flow are no failures.
 */
export async function runBeforeOrUndo(
  hooks: readonly Hook[],
  [before, onError]: readonly [Before, OnError],
  inv: object,
): Promise<ShortCircuit | undefined> {
  const asked: Hook[] = []
  try {
    return await ask(hooks, before, inv, asked)
  } catch (error) {
    if (!isPolicyOutcome(error) && !stops(inv, error))
      for (const one of asked) await runOnError([one], onError, inv, error)
    throw error
  }
}

async function ask(
  hooks: readonly Hook[],
  method: Before,
  inv: object,
  asked: Hook[] = [],
): Promise<ShortCircuit | undefined> {
  const going = watch(Object.freeze(inv))
  for (const hook of hooks) {
    if (!going()) throw signalOf(inv)?.reason
    try {
      const verdict = await verdictOf(hooks, hook, method, inv)
      if (verdict) return verdict
    } catch (error) {
      report(hooks, hook, method, inv, error)
      throw error
    }
    if (methodsOf(hook)[method]) asked.unshift(hook)
  }
  return undefined
}

/** Whether an error is control flow for this call: one of ours, or the reason of its own signal. */
export function stops(inv: object, error: unknown): boolean {
  if (isControlFlow(error)) return true
  const signal = signalOf(inv)
  return signal?.aborted === true && signal.reason === error
}

/** Refuses what is no method of that kind. */
function known(kind: string, method: string): void {
  if (!METHODS.includes(method) || !method.includes(kind))
    throw new TypeError(`Cannot call hooks: "${method}" is not known here`)
}

const ctxOf = (inv: object): { readonly signal?: AbortSignal; readonly [INSIDE]?: Inside } =>
  Object((inv as { readonly ctx?: unknown }).ctx) as object

const signalOf = (inv: object): AbortSignal | undefined => ctxOf(inv).signal

/** Tells from now on whether nobody has stopped what hooks are asked about: those left aren't called then. */
function watch(inv: object): () => boolean {
  const signal = signalOf(inv)
  return signal && !signal.aborted ? () => !signal.aborted : () => true
}

const methodsOf = (hook: Hook): Methods => hook as never

async function verdictOf(
  hooks: readonly Hook[],
  hook: Hook,
  method: Before | OnError,
  inv: object,
  error?: unknown,
): Promise<ShortCircuit | undefined> {
  const verdict = await methodsOf(hook)[method]?.(inv, error)
  if (verdict === undefined || isShortCircuit(verdict)) return verdict
  throw new ToolUsageError(
    `Cannot go on after ${method} of ${nameOf(hooks, hook, inv)}: it gave back something else than a shortCircuit or undefined`,
    {},
  )
}

/** Logs what a hook threw, which may be what it decided; tells whether it is an error at all. Its message stays out: it may hold secrets. */
function report(
  hooks: readonly Hook[],
  hook: Hook,
  method: string,
  inv: object,
  error: unknown,
): boolean {
  if (stops(inv, error)) return false
  const logger = ctxOf(inv)[INSIDE]?.host.logger ?? consoleLogger
  const [level, did] = isPolicyOutcome(error)
    ? (['debug', 'decided'] as const)
    : (['error', 'failed'] as const)
  const data = { method, error: errorType(error) }
  quietly(() => logger[level](`A hook ${did}: ${method} of ${nameOf(hooks, hook, inv)}`, data))
  return true
}

function nameOf(hooks: readonly Hook[], hook: Hook, inv: object): string {
  const own = ctxOf(inv)[INSIDE]?.host.hooks.indexOf(hook) ?? -1
  return hookName(hook, own < 0 ? hooks.indexOf(hook) : own)
}

/** Keeps an error that came up while another was dealt with: `suppressed`, as unseen as a `cause` is. */
export const suppress = (primary: unknown, error: unknown): void =>
  void quietly(() => {
    if (typeof primary !== 'object' || primary === null || primary === error) return
    const { suppressed = [] } = primary as { readonly suppressed?: readonly unknown[] }
    if (!Array.isArray(suppressed) || suppressed.includes(error)) return
    const value = [...(suppressed as readonly unknown[]), error]
    Reflect.defineProperty(primary, 'suppressed', { value, configurable: true, writable: true })
  })
