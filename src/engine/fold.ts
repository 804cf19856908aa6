import { decode, encode, type Cell } from '../durable/codec.ts'
import { copyOf } from '../durable/list.ts'
import type { State } from '../durable/state.ts'
import { WriteConflict } from '../errors.ts'
import type { Plan, PlanField } from '../graph/plan.ts'
import type { SchemaResult } from '../schema.ts'
import type { Level } from './level.ts'
import { place } from './stored.ts'
import { assertFields, cellsOf, checked, fieldAt, isPromise, type Update } from './take.ts'

/** One node's part in a step. */
export interface Contribution {
  readonly node: { readonly name: string }
  readonly update: Update
}

/**
 * Folds the updates of a step into the state, each once, in the order given. A promise comes back only if the schema of
 * a field with a reducer made one.
 *
 * @param over Whether nobody waits for it any more: the state is left alone from then on
 * @throws WriteConflict if two nodes set a field that has no reducer
 */
export function fold(
  plan: Plan,
  state: State,
  from: readonly Contribution[],
  over: () => unknown = () => false,
): void | Promise<void> {
  if (from.length > 1) checkConflicts(plan, from)
  return foldFrom(plan, state, from, over, 0, 0)
}

/** Goes on at part `m` of contribution `n`. */
function foldFrom(
  plan: Plan,
  state: State,
  from: readonly Contribution[],
  over: () => unknown,
  n: number,
  m: number,
): void | Promise<void> {
  for (; n < from.length; n++, m = 0) {
    const { node, update } = from[n] as Contribution
    for (; m < update.length; m++) {
      const [i, value] = update[m] as Update[number]
      const field = plan.fields[i] as PlanField
      if (field.kind === 'plain') state.set(i, value as Cell)
      else if (field.kind === 'list' || field.kind === 'messages') state.append(i, value as Cell[])
      else {
        const origin = { graph: plan.name, node: node.name }
        const folded = field.reduce?.(copyOf(state.values[i]), decode(value as Cell))
        const result = field.kind === 'custom' ? field.validate(folded) : { value: folded }
        const keep = (late: SchemaResult<unknown>): void =>
          state.set(i, encode(checked(late, origin, field.name), node.name, field.name))
        if (isPromise(result)) {
          return result.then((late) => {
            if (over()) return
            keep(late)
            return foldFrom(plan, state, from, over, n, m + 1)
          })
        }
        keep(result)
      }
    }
  }
}

function checkConflicts(plan: Plan, from: readonly Contribution[]): void {
  const writers = new Map<number, string>()
  for (const { node, update } of from) {
    for (const [i] of update) {
      const { name, kind } = plan.fields[i] as PlanField
      if (kind !== 'plain') continue
      const nodes = [writers.get(i), node.name] as [string, string]
      if (writers.has(i)) {
        throw new WriteConflict(
          `Cannot fold field "${name}" of graph "${plan.name}": nodes "${nodes.join('" and "')}" both set it in one step and it has no reducer`,
          { field: name, nodes },
        )
      }
      writers.set(i, node.name)
    }
  }
}

/**
 * Fills a new state: every field is validated, so that defaults come in.
 *
 * @param node Whose call of a child graph this is, for values that can't be stored
 * @throws SchemaError naming the field that is wrong, missing or unknown
 */
export async function fill(level: Level, input: unknown, node?: string): Promise<void> {
  const { plan, state, run } = level
  const origin = { graph: plan.name }
  const from = node === undefined ? origin : { ...origin, node }
  assertFields(input, origin)
  for (const name of Object.keys(input)) fieldAt(plan, name, origin)
  for (const [i, field] of plan.fields.entries()) {
    const named = Object.hasOwn(input, field.name)
    const given = named ? input[field.name] : undefined
    const result = given === undefined ? field.absent() : field.validate(given)
    const value = checked(isPromise(result) ? await result : result, origin, field.name)
    if (value === undefined && !named) continue
    place(state, i, cellsOf(field, value, from, run.app))
  }
}
