import { SchemaError } from '../errors.ts'
import type { Context } from '../graph/context.ts'
import { goto, type Goto } from '../graph/graph.ts'
import { anything, check } from '../lib/check.ts'
import { tidy } from '../lib/tidy.ts'
import type { Issue } from '../schema.ts'
import { isReasons, isScore, type GateEvent } from './gate-event.ts'

/** What an evaluation finds. */
export interface GateResult {
  readonly passed: boolean
  readonly score?: number
  readonly reasons?: readonly string[]
  /** What the node that tries again should do better. */
  readonly feedback?: string
}

/** What a gate keeps in its field: its last result. */
export interface GateRecord extends GateResult {
  /** How many results there were since the gate last passed or escalated, this one included. */
  readonly attempts: number
}

/**
 * Makes a node that lets work on, sends it back with feedback, or hands it to a person after some failures. It emits a
 * `GateEvent` before and after each evaluation, so the graph's `events` must have them. An evaluation is stored with
 * `ctx.once`: a crash after it neither repeats nor counts it again. One that throws fails the node, and is no attempt.
 *
 * @param spec What to evaluate, where its result is kept, and the nodes that the run goes on with
 * @throws {TypeError | RangeError} A name, the field or `evaluate` is missing, or `maxAttempts` isn't a whole number from 1; a
 * member isn't known
 * @returns A node; it throws `SchemaError` for a result without a true or false `passed`, or a field with something else in it
 */
export function gate<
  State,
  const Pass extends string,
  const Fail extends string,
  const Escalate extends string,
  Event = GateEvent,
>(spec: {
  /** Names the gate in events and errors. */
  readonly name: string
  readonly evaluate: (state: State, ctx: Context<Event>) => GateResult | Promise<GateResult>
  /** The field that keeps the `GateRecord`; no reducer, and `null` or `undefined` before the first. */
  readonly field: string
  /** The node after a pass. */
  readonly pass: Pass
  /** The node that tries again. */
  readonly fail: Fail
  /** The node after the last failure, where a person may be asked. If it sends the work back, attempts count from 1. */
  readonly escalate: Escalate
  /** @default 3 */
  readonly maxAttempts?: number
}): (state: State, ctx: Context<Event | GateEvent>) => Promise<Goto<Pass | Fail | Escalate, {}>> {
  const texts = ['name', 'field', 'pass', 'fail', 'escalate'] as const
  const known = [...texts, 'evaluate', 'maxAttempts'].map((member) => [member, anything] as const)
  check('Cannot declare a gate', Object.fromEntries(known), spec)
  const { name, evaluate, field, pass, fail, escalate, maxAttempts = 3 } = spec
  for (const what of texts) {
    const text: unknown = spec[what]
    if (typeof text !== 'string' || text === '')
      throw new TypeError(`Cannot declare a gate: its ${what} is not a non-empty string`)
  }
  if (typeof evaluate !== 'function')
    throw new TypeError(`Cannot declare gate "${name}": evaluate is not a function`)
  if (!Number.isSafeInteger(maxAttempts) || maxAttempts < 1) {
    throw new RangeError(
      `Cannot declare gate "${name}": maxAttempts is ${maxAttempts}, not a whole number from 1`,
    )
  }
  return async (state, ctx) => {
    const refuse = (issues: readonly Issue[], what: string): never => {
      throw new SchemaError(`Cannot go on from gate "${name}": ${what}`, {
        node: ctx.node,
        field,
        issues,
      })
    }
    const before = (state as { readonly [field: string]: unknown })[field] ?? undefined
    if (before !== undefined && !isRecord(before)) {
      const message = 'It is neither empty nor what a gate keeps'
      refuse([{ message, path: [field] }], `field "${field}" holds something else than its result`)
    }
    const { passed = true, attempts = 0 } = (before ?? {}) as Partial<GateRecord>
    // What has passed or was handed to a person is over: after that it is a first attempt again.
    const attempt = passed || attempts >= maxAttempts ? 1 : attempts + 1
    const tell = (phase: GateEvent['phase'], { score, reasons = [] }: Partial<GateResult>) =>
      ctx.emit(tidy<GateEvent>({ gate: name, phase, attempt, score, reasons }))
    await tell('started', {})
    const result = await ctx.once(`gate:${name}`, async () => {
      const found = await evaluate(state, ctx)
      const issues = issuesOf(found)
      // Not stored: whoever goes on evaluates again.
      if (issues.length > 0) refuse(issues, 'what evaluate returned is no result')
      const { score, reasons, feedback } = found
      return tidy<GateResult>({ passed: found.passed, score, reasons, feedback })
    })
    const last = attempt === maxAttempts
    await tell(result.passed ? 'passed' : last ? 'escalated' : 'failed', result)
    const target = result.passed ? pass : last ? escalate : fail
    return goto<Pass | Fail | Escalate, {}>(target, { [field]: { ...result, attempts: attempt } })
  }
}

const isRecord = (value: unknown): boolean =>
  issuesOf(value).length === 0 && Number.isSafeInteger((value as GateRecord).attempts)

function issuesOf(result: unknown): readonly Issue[] {
  if (typeof result !== 'object' || result === null) return [{ message: 'Expected an object' }]
  const { passed, score, reasons, feedback } = result as Partial<GateResult>
  const wrong: Issue[] = []
  const hold = (fine: boolean, member: keyof GateResult, message: string): void => {
    if (!fine) wrong.push({ message, path: [member] })
  }
  hold(typeof passed === 'boolean', 'passed', 'Expected true or false')
  hold(isScore(score), 'score', 'Expected a finite number')
  hold(reasons === undefined || isReasons(reasons), 'reasons', 'Expected a list of texts')
  hold(feedback === undefined || typeof feedback === 'string', 'feedback', 'Expected a text')
  return wrong
}
