import { encode, type Cell } from '../durable/codec.ts'
import type { Task } from '../durable/checkpoint.ts'
import { targets, type Plan, type PlanEdge, type PlanNode, type PlanTarget } from '../graph/plan.ts'
import { checked, isPromise } from './take.ts'

/** A task and the node it runs. */
export interface Planned {
  readonly task: Task
  readonly node: PlanNode
}

/** Which predecessors of each join have arrived. */
export type Joins = Map<string, Set<string>>

/** A way out that was taken: from a node (or `start`) to what its edge or its `goto` said. */
export interface Way {
  readonly from: string
  readonly to: readonly PlanTarget[]
}

/** Where a node leads from here. A promise comes back only if the router made one. */
export function follow(
  plan: Plan,
  edge: PlanEdge,
  from: string,
  read: () => unknown,
): Way | Promise<Way> {
  if (edge.fixed) return { from, to: edge.fixed }
  const picked = edge.pick(read())
  const way = (late: unknown): Way => ({ from, to: targets(plan, late, from, edge.to) })
  return isPromise(picked) ? Promise.resolve(picked).then(way) : way(picked)
}

/**
 * Turns ways into the tasks of the next step, in declaration order and in the order of the items: each node once, a join
 * when all it waits for have arrived. An `each` without items counts as a predecessor that has finished.
 *
 * @param checkpoint Id of the checkpoint that will name the tasks
 */
export function plannedTasks(
  plan: Plan,
  joins: Joins,
  ways: readonly Way[],
  checkpoint: string,
): Planned[] | Promise<Planned[]> {
  const [only] = ways[0]?.to ?? []
  if (ways.length === 1 && ways[0]?.to.length === 1 && only && !('each' in only) && !only.after) {
    return [{ node: only, task: { key: only.name, id: `${checkpoint}.${only.name}` } }]
  }
  const found = new Map<string, Planned>()
  const counts = new Map<string, number>()
  const empty = new Set<string>()
  let waits: Promise<unknown>[] | undefined
  const add = (node: PlanNode, key: string, item?: Cell): void =>
    void found.set(key, {
      node,
      task: { key, id: `${checkpoint}.${key}`, item },
    })
  const arrive = (node: PlanNode, from: string): void => {
    if (!node.after?.includes(from)) return add(node, node.name)
    let arrived = joins.get(node.name)
    if (arrived === undefined) joins.set(node.name, (arrived = new Set()))
    arrived.add(from)
    if (arrived.size < node.after.length) return
    joins.delete(node.name)
    add(node, node.name)
  }
  for (const { from, to } of ways) {
    for (const target of to) {
      if (!('each' in target)) {
        arrive(target, from)
        continue
      }
      const { each: node, items } = target
      if (items.length === 0) empty.add(node.name)
      for (const item of items) {
        const n = counts.get(node.name) ?? 0
        counts.set(node.name, n + 1)
        const key = `${node.name}#${n}`
        const result = node.item ? node.item(item) : { value: item }
        const origin = { graph: plan.name, node: node.name }
        const place = (value: unknown): void =>
          add(node, key, encode(value, node.name, `item ${n}`))
        if (isPromise(result)) {
          add(node, key)
          const later = result.then((late) => place(checked(late, origin, `item ${n}`)))
          later.catch(() => {})
          ;(waits ??= []).push(later)
        } else place(checked(result, origin, `item ${n}`))
      }
    }
  }
  for (const name of empty) {
    if (counts.has(name) || found.has(name)) continue
    for (const join of plan.nodes.values()) if (join.after?.includes(name)) arrive(join, name)
  }
  if (waits) return Promise.all(waits).then(() => inOrder(found))
  return inOrder(found)
}

/** Map order keeps the items of one node in order; a stable sort keeps it. */
function inOrder(found: ReadonlyMap<string, Planned>): Planned[] {
  const tasks = [...found.values()]
  return tasks.length > 1 ? tasks.sort((a, b) => a.node.order - b.node.order) : tasks
}
