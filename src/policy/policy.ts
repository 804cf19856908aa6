import { check, type Rule } from '../lib/check.ts'
import { ToolUsageError, type HeddleError } from '../errors.ts'
import type { LLMInvocation, NodeInvocation, ToolInvocation } from '../hook/hook.ts'
import { INSIDE } from '../hook/mark.ts'
import { consoleLogger } from '../lib/logger.ts'
import type { Inside } from '../tool/inside.ts'

/** What every policy takes. */
export interface PolicyOptions {
  /** Reports through `onEvent` and the logger what it would have done, and does nothing. @default false */
  readonly shadow?: boolean
}

/** What a policy of ours may be asked about. */
export type Invocation = ToolInvocation | LLMInvocation | NodeInvocation

/** Which policy speaks, and whether it only says what it would do. */
export interface Speaker {
  readonly name: string
  readonly shadow: boolean
}

/** What a policy may reach of a call; nothing if neither an app nor an executor makes it. */
export const inside = ({ ctx }: Invocation): Inside | undefined =>
  (ctx as { readonly [INSIDE]?: Inside } | undefined)?.[INSIDE]

/**
 * The same, where it has to be there: what can't be checked must not pass.
 *
 * @throws ToolUsageError
 */
export function insideOf(inv: Invocation, policy: string): Inside {
  const found = inside(inv)
  if (found) return found
  throw new ToolUsageError(
    `Cannot ${deed(inv)}: policy "${policy}" can't tell what was used, as neither an app nor an executor makes the call`,
    {},
  )
}

/** What is about to happen, in words. */
export function deed(inv: Invocation): string {
  if ('call' in inv) return `call tool "${inv.call.tool}"`
  return 'node' in inv ? `enter node "${inv.node}"` : `ask model "${inv.provider}/${inv.model}"`
}

/** What becomes of a call by a policy: `outcome` is the error's code, or what else it is. */
export interface Ruling {
  readonly outcome: string
  /** What the policy did, or would have done. */
  readonly did: 'stopped' | 'changed' | 'failed'
  /** Figures and names. What users gave and models wrote stays out of the log. */
  readonly details?: object | undefined
  /** What hooks are told beside them. */
  readonly told?: object | undefined
}

/** Logs what a policy ruled, at warning; in shadow mode every `onEvent` is told of it as well. */
export function announce({ name, shadow }: Speaker, inv: Invocation, ruling: Ruling): void {
  const { outcome, did, details, told } = ruling
  const found = inside(inv)
  const about = { policy: name, outcome, ...namesOf(inv), ...details }
  const verb = shadow ? `would have ${did}` : did
  const logger = found?.host.logger ?? consoleLogger
  logger.warn(`Policy "${name}" ${verb} a ${kindOf(inv)}`, about)
  if (shadow) found?.report({ kind: 'policy', shadow: true, ...about, ...told })
}

/** Stops a call with the outcome of a policy; in shadow mode it only says so. */
export function stop(
  speaker: Speaker,
  inv: Invocation,
  error: HeddleError,
  { details = error.details, told }: Pick<Ruling, 'details' | 'told'> = {},
): void {
  announce(speaker, inv, { outcome: error.code, did: 'stopped', details, told })
  if (!speaker.shadow) throw error
}

const kindOf = (inv: Invocation): string =>
  'call' in inv ? 'call of a tool' : 'node' in inv ? 'node' : 'request to a model'

function namesOf(inv: Invocation): object {
  if ('call' in inv) return { tool: inv.call.tool, call: inv.call.id }
  return 'node' in inv ? { node: inv.node } : { provider: inv.provider, model: inv.model }
}

/** Rules for the options of any policy. */
export const shadowRule: Rule = [(value) => typeof value === 'boolean', 'true or false']

/**
 * Refuses limits that make no sense, misspelt ones included, and none at all: a policy that lets everything pass is a slip.
 *
 * @throws TypeError or RangeError naming the limit
 */
export function checkLimits(
  what: string,
  limits: object,
  rules: { readonly [limit: string]: Rule },
  settings: { readonly [setting: string]: Rule } = {},
): void {
  const cannot = `Cannot make ${what}`
  check(cannot, { ...rules, ...settings, shadow: shadowRule }, limits)
  const given = limits as { readonly [limit: string]: unknown }
  if (Object.keys(rules).every((limit) => given[limit] === undefined))
    throw new TypeError(`${cannot}: it has none of ${Object.keys(rules).join(', ')}`)
}
