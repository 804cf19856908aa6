import { encode, same, type Cell } from '../durable/codec.ts'
import { membersOf, Messages, type Value } from '../durable/list.ts'
import { iso } from '../durable/pause.ts'
import type { PlanField } from '../graph/plan.ts'
import type { Message } from '../model/message.ts'
import { refusal, type Origin } from './refusal.ts'

/** Where messages get their ids and times from. */
export interface Stamp {
  readonly newId: (prefix: string) => string
  readonly owner: { readonly clock: { now(): number } }
}

/**
 * The cells of messages and removals: each message with an id and a time, those that are there already left out. One that
 * replaces another keeps its time unless it brings its own.
 *
 * @param now What they are for
 * @throws SchemaError if a message is to be removed that isn't there, UnserializableValue
 */
export function operations(
  { name }: Pick<PlanField, 'name'>,
  items: readonly Partial<Message & { readonly remove: string }>[],
  from: Origin,
  { newId, owner }: Stamp,
  now?: Value,
): Cell[] {
  const there = new Map<string, Cell | undefined>()
  const known = now instanceof Messages ? now.there : there
  return items.flatMap((item, n): Cell[] => {
    const { remove, id = remove ?? newId('msg_') } = item
    const before = there.has(id) ? there.get(id) : known.get(id)
    if (remove !== undefined && before === undefined) {
      const issue = { message: `There is no message "${id}"`, path: [n, 'remove'] }
      throw refusal([issue], { ...from, field: name })
    }
    const createdAt = (before && membersOf<Message>(before).createdAt) ?? iso(owner.clock.now())
    const value = remove === undefined ? { id, createdAt, ...item } : item
    const cell = encode(value, from.node, `${name}[${n}]`)
    if (before !== undefined && same(before, cell)) return []
    there.set(id, remove === undefined ? cell : undefined)
    return [cell]
  })
}
