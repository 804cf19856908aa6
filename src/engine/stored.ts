import type { Checkpoint } from '../durable/checkpoint.ts'
import type { Claim } from '../durable/claim.ts'
import { isPart, isRecord } from '../durable/codec-tags.ts'
import { same, type Cell } from '../durable/codec.ts'
import { copyOf, List, Messages, type Value } from '../durable/list.ts'
import { listOf, State } from '../durable/state.ts'
import { GraphChanged, SchemaError } from '../errors.ts'
import type { Plan, PlanField } from '../graph/plan.ts'
import { merge, sum } from '../graph/state.ts'
import type { Issue } from '../schema.ts'
import { checkpointAt } from './find.ts'
import type { Stamp } from './operations.ts'
import type { App } from './run.ts'
import { issueText } from '../lib/issue.ts'
import { assertFields, cellsOf, checked, fieldAt } from './take.ts'
import { snapshot } from './view.ts'

/**
 * The state of a checkpoint as today's graph has it: fields that are new get their defaults, those that are gone are left
 * out, and what an older version stored is migrated and validated. None of that is stored before the next checkpoint.
 *
 * @throws GraphChanged if a newer version stored it, SchemaError naming the field that doesn't fit, what `migrate` throws
 */
export async function stateOf(
  plan: Plan,
  { id, time, state: refs, version = 1 }: Checkpoint,
  claim: Claim,
  shared: boolean,
): Promise<State> {
  const { root, head } = claim
  const { thread } = head
  const origin = { graph: plan.name }
  // Whoever looks at it gets the same, until it is stored.
  let given = 0
  const stamp: Stamp = {
    newId: (prefix) => `${prefix}${id}.${given++}`,
    owner: { clock: { now: () => time } },
  }
  if (version > plan.version) {
    throw new GraphChanged(
      `Cannot go on with thread "${thread}": its state is of version ${version} of graph "${plan.name}", and this is version ${plan.version}`,
      { thread, missing: [] },
    )
  }
  const state = await State.load(plan.fields, root, refs, claim, shared)
  const old =
    version < plan.version && snapshot(await State.load(undefined, root, refs, claim, false))
  const made = old && (plan.migrate?.(old, version) ?? old)
  const refuse = (field: string, issues: readonly Issue[]): never => {
    throw new SchemaError(
      `Cannot go on with thread "${thread}": what is stored doesn't fit field "${field}" of graph "${plan.name}": ${issueText(issues)}`,
      { ...origin, field, issues },
    )
  }
  if (made) {
    assertFields(made, origin)
    const unknown = Object.keys(made).find(
      (name) => !plan.index.has(name) && !Object.hasOwn(old, name),
    )
    if (unknown !== undefined) refuse(unknown, [{ message: 'There is no such field' }])
  }
  for (const [i, field] of plan.fields.entries()) {
    const { name } = field
    const now = state.values[i]
    let older: unknown = made ? made[name] : undefined
    if (!made && now !== undefined) {
      if (suits(field, now)) continue
      if (field.kind !== 'messages') refuse(name, [{ message: 'Its reducer folds another type' }])
      older = copyOf(now)
    }
    const named = made ? Object.hasOwn(made, name) : older !== undefined
    const result = await (named ? field.validate(older) : field.absent())
    if (result.issues) refuse(name, result.issues)
    else if (named || result.value !== undefined)
      place(state, i, cellsOf(field, result.value, origin, stamp))
    else if (now !== undefined) state.drop(i)
  }
  return state
}

/** A checkpoint of the thread's own graph as it is told: with its state as it is stored. */
export async function stoodAt(
  { plan }: App,
  claim: Claim,
  checkpoint: string,
): Promise<Omit<Checkpoint, 'state'> & { readonly state: Record<string, unknown> }> {
  const row = await checkpointAt(claim, '-', checkpoint)
  const state = await State.load(plan.fields, claim.root, row.state, claim, false)
  return { ...row, state: snapshot(state) }
}

/** Whether a stored value is of the type that its field's reducer folds. */
function suits({ kind, reduce }: PlanField, value: Value): boolean {
  if (kind === 'list') return value instanceof List
  if (kind === 'messages') return value instanceof Messages
  if (reduce !== sum && reduce !== merge) return true
  const folded = copyOf(value)
  return reduce === sum ? typeof folded === 'number' : isPart(folded) && isRecord(folded)
}

/** Sets a field whole; nothing is stored anew of one that stays as it is. */
export function place(state: State, at: number, cells: Cell | Cell[]): void {
  const now = state.values[at]
  const kind = state.fields[at]?.kind
  if (kind !== 'list' && kind !== 'messages') {
    if (now === undefined || now instanceof List || !same(now, cells as Cell))
      state.set(at, cells as Cell)
    return
  }
  const list = listOf(kind, cells as Cell[])
  const items = list.cells()
  const there = now?.constructor === list.constructor ? (now as List).cells() : undefined
  const alike =
    there?.length === items.length && items.every((item, i) => same(item, there[i] as Cell))
  if (!alike) state.set(at, kind === 'list' ? list : new Messages(items))
}

/** Sets fields whole, past any reducer. */
export async function replace(app: App, state: State, update: unknown): Promise<void> {
  const { plan } = app
  const origin = { graph: plan.name }
  assertFields(update, origin)
  for (const name of Object.keys(update)) {
    const at = fieldAt(plan, name, origin)
    const field = plan.fields[at] as PlanField
    const value = checked(await field.validate(update[name]), origin, name)
    place(state, at, cellsOf(field, value, origin, app))
  }
}
