import { call, check, type Rule } from '../lib/check.ts'
import { isHeddleError, ToolUsageError } from '../errors.ts'
import { stops } from '../hook/dispatch.ts'
import type { Hook, ToolInvocation } from '../hook/hook.ts'
import { approve, wouldApprove } from '../tool/approve.ts'
import type { CallInside, Decide } from '../tool/inside.ts'
import { announce, deed, inside as insideOf, shadowRule, type PolicyOptions } from './policy.ts'

/** Which calls need an approval, and how it is come by. */
export interface ApprovalsOptions extends PolicyOptions {
  /**
   * Which calls to ask about. `inv.call.args` is what goes in, and hasn't been validated yet; where it was no JSON this isn't
   * called, and the call needs an approval.
   */
  readonly when: (inv: ToolInvocation) => boolean | Promise<boolean>
  /** Decides without a person; `undefined` asks one. Not called for arguments that were no JSON. */
  readonly decide?: Decide
  /** Milliseconds until an unanswered request counts as denied. @default never */
  readonly expires?: number
}

const NAME = 'approvals'
const RULES = {
  when: call,
  decide: call,
  expires: [
    (value) => value > 0 && value < Infinity,
    'a positive number of milliseconds',
    RangeError,
  ] as Rule,
  shadow: shadowRule,
}

/**
 * Asks for approvals by a rule of the app, on top of what each tool's `approve` says; `ApprovalDenied`, which a model reads
 * as the outcome of its call. One decision holds for a call, also where several rules want one. What `when` or `decide`
 * throws fails the call. Arguments that nobody can read are asked about, always.
 *
 * @throws TypeError or RangeError for options that make no sense
 */
export function approvals(spec: ApprovalsOptions): Hook {
  const cannot = 'Cannot make approvals'
  check(cannot, RULES, spec)
  const { when, decide, expires, shadow = false } = spec
  if (when === undefined) throw new TypeError(`${cannot}: when is not a function`)
  const speaker = { name: NAME, shadow }
  const rule = { by: NAME, when, decide, expires }
  const stopped = (inv: ToolInvocation, outcome: string): void =>
    announce(speaker, inv, { outcome, did: 'stopped' })

  return {
    name: NAME,
    async beforeTool(inv) {
      const inside = insideOf(inv) as CallInside | undefined
      if (!inside) {
        if (shadow) return
        throw new ToolUsageError(
          `Cannot ${deed(inv)}: policy "${NAME}" has nobody to ask, as neither an app nor an executor makes the call`,
          {},
        )
      }
      if (shadow) return look(inv)
      const { decision } = inside
      try {
        await approve(inv, rule)
      } catch (error) {
        // What it decided itself and has on record was told when it did.
        const told = decision ?? (inside.asked && inside.decision?.by === NAME)
        const denied = isHeddleError(error, 'approval_denied') && !told
        if (denied || isHeddleError(error, 'approval_pending')) stopped(inv, error.code)
        throw error
      }
    },
  }

  /** Only tells what would have come of a call. */
  async function look(inv: ToolInvocation): Promise<void> {
    try {
      const verdict = await wouldApprove(inv, rule)
      if (verdict === 'ask') stopped(inv, 'approval_pending')
      if (verdict === 'deny') stopped(inv, 'approval_denied')
    } catch (error) {
      if (stops(inv, error)) throw error
      announce(speaker, inv, {
        outcome: isHeddleError(error) ? error.code : 'error',
        did: 'failed',
      })
    }
  }
}
