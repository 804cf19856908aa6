import { approvalIssues } from '../engine/approval.ts'
import { issueText } from '../lib/issue.ts'
import { ApprovalDenied } from '../errors.ts'
import type { ToolInvocation } from '../hook/hook.ts'
import { tidy } from '../lib/tidy.ts'
import { answerSchema, type ApprovalAnswer, type ApprovalRequest } from './approval.ts'
import { INSIDE } from '../hook/mark.ts'
import type { ApprovalRule, CallInside, Decision } from './inside.ts'

/**
 * Lets a call go on if it needs no approval, or has it. One decision holds for a call, whichever rule came to it first: what
 * is on record of this very call, what stands for its tool in this thread, the rule's own `decide`, a person. Edited
 * arguments go into `instead`.
 *
 * @throws ApprovalDenied; the error of a predicate or a `decide` that threw, so that the call doesn't run
 */
export async function approve(inv: ToolInvocation, rule: ApprovalRule): Promise<void> {
  const inside = callInside(inv)
  if (!inside.decision) {
    const recorded = rule.last && inside.asked
    if (!recorded && !(await needsIt(inv, inside, rule))) return
    inside.decision = await decide(inv, inside, rule)
    const { answer } = inside.decision
    if (answer.approve && answer.args !== undefined) inside.instead = { value: answer.args }
  }
  const { answer } = inside.decision
  if (answer.approve) return
  const tool = inv.spec.name
  const { reason } = answer
  const why = reason === undefined ? 'it was denied' : `it was denied: ${reason}`
  throw new ApprovalDenied(`Cannot run tool "${tool}": ${why}`, tidy({ tool, reason }))
}

/** What would come of a call if a rule counted: for a policy that only reports. */
export async function wouldApprove(
  inv: ToolInvocation,
  rule: ApprovalRule,
): Promise<'ask' | 'approve' | 'deny' | undefined> {
  const inside = callInside(inv)
  const { decision, asked } = inside
  if (!decision && !(await needsIt(inv, inside, rule))) return undefined
  const known = decision ?? (asked ? undefined : stands(inv, inside))
  const answer = known?.answer ?? (await byRule(await requestOf(inv, inside), inv, inside, rule))
  return answer === undefined ? 'ask' : answer.approve ? 'approve' : 'deny'
}

/** Whether a call needs an approval. The predicate sees what goes in, which may not be what the model wrote. */
async function needsIt(
  inv: ToolInvocation,
  inside: CallInside,
  { when }: ApprovalRule,
): Promise<boolean> {
  if (!isReadable(inv, inside)) return true
  const { instead } = inside
  const call = instead && Object.freeze({ ...inv.call, args: instead.value })
  return (await when(call ? Object.freeze({ ...inv, call }) : inv)) !== false
}

/** What is decided of a call. What nobody was asked for is recorded. */
async function decide(
  inv: ToolInvocation,
  inside: CallInside,
  rule: ApprovalRule,
): Promise<Decision> {
  const { spec, ctx } = inv
  const request = await requestOf(inv, inside)
  if (!inside.asked) {
    const standing = stands(inv, inside)
    if (standing) {
      inside.record(request, standing)
      return standing
    }
    const answer = await byRule(request, inv, inside, rule)
    if (answer) {
      const decision = { answer, by: rule.by, at: ctx.now() }
      inside.record(request, decision)
      return remembered(decision, inv, inside)
    }
  }
  const decision = await inside.ask(request, answerSchema(spec.input), rule.expires)
  if (decision) return remembered(decision, inv, inside)
  return { answer: { approve: false, reason: 'expired' }, at: ctx.now() }
}

/** A decision that stands for the tool. No approval stands for arguments that nobody could read. */
function stands(inv: ToolInvocation, inside: CallInside): Decision | undefined {
  const standing = inside.standing(inv.spec.name)
  return standing && (!standing.answer.approve || isReadable(inv, inside)) ? standing : undefined
}

/** What a rule decides by itself, which it doesn't of arguments that it can't read. */
async function byRule(
  request: ApprovalRequest,
  inv: ToolInvocation,
  inside: CallInside,
  rule: ApprovalRule,
): Promise<ApprovalAnswer | undefined> {
  if (!rule.decide || !isReadable(inv, inside)) return undefined
  const answer = await rule.decide(request, inv.ctx)
  const issues = answer === undefined ? undefined : approvalIssues(answer)
  if (issues) throw new TypeError(`Cannot take what "${rule.by}" decides: ${issueText(issues)}`)
  return answer
}

/** Lets a decision stand that is to. What a person edited was meant for its own call. */
function remembered(decision: Decision, { spec }: ToolInvocation, inside: CallInside): Decision {
  const { answer } = decision
  if (!answer.remember) return decision
  const { args: _, ...rest } = { args: undefined, ...answer }
  inside.stand(spec.name, { ...decision, answer: rest })
  return decision
}

/** What a person is shown. */
async function requestOf(
  { call, spec }: ToolInvocation,
  inside: CallInside,
): Promise<ApprovalRequest> {
  const { name: tool, description, parameters } = spec
  const args = inside.instead ? inside.instead.value : 'args' in call ? call.args : call.raw
  const id = await inside.approvalId()
  const about = { description: description || undefined, parameters }
  return tidy<ApprovalRequest>({ id, call: call.id, tool, args, ...about })
}

const isReadable = ({ call }: ToolInvocation, { instead }: CallInside): boolean =>
  instead !== undefined || 'args' in call

const callInside = ({ ctx }: ToolInvocation): CallInside =>
  (ctx as unknown as { readonly [INSIDE]: CallInside })[INSIDE]
