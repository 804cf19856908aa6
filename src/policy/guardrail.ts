import { call, check } from '../lib/check.ts'
import { GuardrailBlocked, isHeddleError, ToolUsageError } from '../errors.ts'
import { stops } from '../hook/dispatch.ts'
import type { Hook, LLMInvocation, ToolInvocation } from '../hook/hook.ts'
import type { InputInside } from '../tool/inside.ts'
import { announce, deed, inside, shadowRule, stop, type PolicyOptions } from './policy.ts'

type Invocation = ToolInvocation | LLMInvocation

/** What a guardrail says of a text or a value: let it pass, stop the call, or use another. */
export type GuardrailVerdict = void | { readonly block: string } | { readonly replace: unknown }

/** What a guardrail looks at. */
export interface GuardrailSpec extends PolicyOptions {
  /** Names it in errors, logs and reports. */
  readonly name: string
  /** @default both */
  readonly on?: 'llm' | 'tool'
  /**
   * Looks at a call of a tool before its arguments are validated, or at a request to a model. `replace` gives other
   * arguments, which are validated like the first, or another request.
   */
  readonly input?: (inv: Invocation) => GuardrailVerdict | Promise<GuardrailVerdict>
  /** Looks at what a tool returned, or at a model's reply. `replace` gives another. */
  readonly output?: (
    inv: Invocation,
    value: unknown,
  ) => GuardrailVerdict | Promise<GuardrailVerdict>
}

type Made = { readonly replace: unknown } | undefined

/**
 * Checks what goes into models and tools and what comes out; `GuardrailBlocked`. What it throws fails the call, and so
 * does a verdict that is none (`ToolUsageError`): nothing passes that wasn't checked.
 *
 * @throws TypeError for a spec that makes no sense
 */
export function guardrail(spec: GuardrailSpec): Hook {
  const { name } = spec ?? {}
  check(
    typeof name === 'string' ? `Cannot make guardrail "${name}"` : 'Cannot make a guardrail',
    {
      name: [(value) => typeof value === 'string' && value !== '', 'a non-empty string'],
      on: [(value) => value === 'llm' || value === 'tool', '"llm" or "tool"'],
      input: call,
      output: call,
      shadow: shadowRule,
    },
    spec,
  )
  if (name === undefined) throw new TypeError('Cannot make a guardrail: it has no name')
  const { on, input, output, shadow = false } = spec
  if (!input && !output)
    throw new TypeError(`Cannot make guardrail "${name}": it has neither input nor output`)
  const speaker = { name, shadow }

  /** What is to be used instead, if anything. */
  async function ask(
    inv: Invocation,
    cannot: string,
    judge: () => GuardrailVerdict | Promise<GuardrailVerdict>,
  ): Promise<Made> {
    let verdict: Exclude<GuardrailVerdict, void> | undefined
    try {
      verdict = read(`${cannot}: guardrail "${name}"`, await judge())
    } catch (error) {
      if (!shadow || stops(inv, error)) throw error
      // It would have failed the call; in shadow mode nothing does.
      const outcome = isHeddleError(error) ? error.code : 'error'
      announce(speaker, inv, { outcome, did: 'failed' })
      return undefined
    }
    if (!verdict) return undefined
    if ('block' in verdict) {
      const reason = verdict.block
      const error = new GuardrailBlocked(`${cannot}: guardrail "${name}" says ${reason}`, {
        guardrail: name,
        reason,
      })
      // What it says may tell of what it has seen.
      stop(speaker, inv, error, { details: {}, told: { reason } })
      return undefined
    }
    if (!shadow) return verdict
    announce(speaker, inv, { outcome: 'replaced', did: 'changed' })
    return undefined
  }

  const before = async (inv: Invocation): Promise<void> => {
    const cannot = `Cannot ${deed(inv)}`
    const made = await ask(inv, cannot, () => input?.(withInput(inv)))
    if (!made) return
    const place = inside(inv) as InputInside | undefined
    if (!place)
      throw new ToolUsageError(
        `${cannot}: guardrail "${name}" gives another input, which only an app or an executor takes`,
        {},
      )
    place.instead = { value: made.replace }
  }
  const after = async (inv: Invocation, value: unknown): Promise<unknown> => {
    const whose = 'call' in inv ? `tool "${inv.call.tool}"` : `model "${inv.model}"`
    const judge = () => output?.(withInput(inv), value)
    return (await ask(inv, `Cannot use what ${whose} gave`, judge))?.replace
  }
  return {
    name,
    ...(input && on !== 'llm' && { beforeTool: before }),
    ...(input && on !== 'tool' && { beforeLlm: before }),
    ...(output && on !== 'llm' && { afterTool: after }),
    ...(output && on !== 'tool' && { afterLlm: after as NonNullable<Hook['afterLlm']> }),
  }
}

/** What really goes in: an earlier guardrail, or a person who edited arguments, may have replaced it. */
function withInput(inv: Invocation): Invocation {
  const { instead } = (inside(inv) ?? {}) as Partial<InputInside>
  if (!instead) return inv
  const { value } = instead
  return Object.freeze(
    'call' in inv
      ? { ...inv, call: Object.freeze({ ...inv.call, args: value }) }
      : { ...inv, request: value as LLMInvocation['request'] },
  )
}

/** Reads a verdict: nothing, or one that says exactly one thing. */
function read(whose: string, verdict: unknown): Exclude<GuardrailVerdict, void> | undefined {
  if (verdict === undefined) return undefined
  if (typeof verdict === 'object' && verdict !== null) {
    const [[kind, value] = [], ...more] = Object.entries(verdict)
    if (more.length === 0 && kind === 'block' && typeof value === 'string') return { block: value }
    if (more.length === 0 && kind === 'replace' && value !== undefined) return { replace: value }
  }
  throw new ToolUsageError(
    `${whose} gave a verdict that is neither undefined, { block: text } nor { replace: value }`,
    {},
  )
}
