import { className, isPart, isRecord } from '../durable/codec-tags.ts'
import { encode, type Cell } from '../durable/codec.ts'
import type { SchemaError } from '../errors.ts'
import type { Value as Held } from '../durable/list.ts'
import type { Plan, PlanField } from '../graph/plan.ts'
import type { SchemaResult } from '../schema.ts'
import type { Level } from './level.ts'
import { operations, type Stamp } from './operations.ts'
import { refusal, type Origin, type Refused } from './refusal.ts'

/** An update that was accepted: a cell per field, or the list of cells that a list gets. */
export type Update = [field: number, value: Cell | Cell[]][]

/** A refusal of one thing that no schema says. */
const wrong = (message: string, at: Refused): SchemaError => refusal([{ message }], at)

/** Whether a value is to be awaited. */
export const isPromise = <Value>(value: Value | PromiseLike<Value>): value is PromiseLike<Value> =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as { then?: unknown }).then === 'function'

/** The value a schema made of another, or `SchemaError`. */
export function checked(result: SchemaResult<unknown>, from: Origin, field: string): unknown {
  if (!result.issues) return result.value
  throw refusal(result.issues, { ...from, field })
}

/** The position of a field, or `SchemaError` for a name that is none. */
export function fieldAt(plan: Plan, name: string, from: Origin): number {
  const at = plan.index.get(name)
  if (at !== undefined) return at
  const known = [...plan.index.keys()].map((field) => `"${field}"`)
  throw wrong(`There is no such field; there are ${known.join(', ')}`, { ...from, field: name })
}

/** Refuses what isn't a plain object: what else has members of its own would be taken for an empty one. */
export function assertFields(
  value: unknown,
  from: Origin,
): asserts value is Readonly<Record<string, unknown>> {
  if (isPart(value) && isRecord(value)) return
  const got = isPart(value) ? className(value) : value === null ? 'null' : typeof value
  throw wrong(`Expected an object of fields, got ${got}`, from)
}

/**
 * Validates an update and turns it into cells, for the state of a level as it is now. A promise comes back only if a schema
 * made one.
 *
 * @param node Whose it is; an input's otherwise
 */
export function take(level: Level, update: unknown, node?: string): Update | Promise<Update> {
  if (node !== undefined && (update === undefined || update === null)) return []
  const { plan, state, run } = level
  const from: Origin = { graph: plan.name, ...(node !== undefined && { node }) }
  const cells = (at: number, field: PlanField, value: unknown): Cell | Cell[] =>
    cellsOf(field, value, from, run.app, state.values[at])
  assertFields(update, from)
  const taken: Update = []
  let waits: Promise<unknown>[] | undefined
  for (const name of Object.keys(update)) {
    const i = fieldAt(plan, name, from)
    const field = plan.fields[i] as PlanField
    const value = update[name]
    const at = taken.length
    if (field.kind === 'custom') {
      taken.push([i, encode(value, node, name)])
      continue
    }
    const result = field.validate(value)
    if (isPromise(result)) {
      taken.push([i, null])
      const later = result.then(
        (late) => void (taken[at] = [i, cells(i, field, checked(late, from, name))]),
      )
      // One that is refused at once would leave the others without anybody to hear of them.
      later.catch(() => {})
      ;(waits ??= []).push(later)
    } else taken.push([i, cells(i, field, checked(result, from, name))])
  }
  return waits ? Promise.all(waits).then(() => taken) : taken
}

/**
 * The cells of a validated value: of a list, one for each item.
 *
 * @param stamp What new messages get their ids from
 * @param now The messages that an update of them is for
 */
export function cellsOf(
  field: PlanField,
  value: unknown,
  from: Origin,
  stamp: Stamp,
  now?: Held,
): Cell | Cell[] {
  const { kind } = field
  if (kind !== 'list' && kind !== 'messages') return encode(value, from.node, field.name)
  if (!Array.isArray(value))
    throw wrong('Expected a list to append', { ...from, field: field.name })
  if (kind === 'messages') return operations(field, value, from, stamp, now)
  return value.map((item, n) => encode(item, from.node, `${field.name}[${n}]`))
}
