import { nodeOf, type Checkpoint } from '../durable/checkpoint.ts'
import { GraphChanged } from '../errors.ts'
import type { Plan, PlanNode } from '../graph/plan.ts'
import { checkpointAt } from './find.ts'
import type { Level } from './level.ts'
import { stateOf } from './stored.ts'

/**
 * Takes a level to what a checkpoint says, as today's graph reads it.
 *
 * @param shared Its rows belong to another branch or owner
 * @param anew The graph starts anew from there, so that what was to run next doesn't matter
 * @throws GraphChanged, SchemaError, what `migrate` throws
 */
export async function load(
  level: Level,
  id: string,
  shared: boolean,
  anew = false,
): Promise<Checkpoint> {
  const { plan } = level
  const { claim } = level.run
  const row = await checkpointAt(claim, level.space, id)
  if (!anew) assertKnown(plan, row, claim.head.thread)
  level.state = await stateOf(plan, row, claim, shared)
  level.next = row.next.flatMap((task) => {
    const node = plan.nodes.get(nodeOf(task.key))
    return node ? [{ task, node: node as PlanNode }] : []
  })
  level.atStart = row.next[0]?.key === 'start'
  level.joins = new Map(row.joins?.map(([node, arrived]) => [node, new Set(arrived)]))
  level.stepNo = row.step + 1
  level.checkpoint = row.id
  level.cuts = row.cuts ?? []
  level.stale = false
  level.log.seq = row.seq[1]
  return row
}

/** Refuses a checkpoint whose tasks have no node any more, or whose joins wait for others now: they would never run. */
function assertKnown(
  { name, nodes }: Plan,
  { next, joins = [] }: Checkpoint,
  thread: string,
): void {
  const gone = next
    .map(({ key }) => nodeOf(key))
    .filter((node) => !nodes.has(node) && node !== 'start')
  const other = joins.flatMap(([node, , after = []]) =>
    alike(nodes.get(node)?.after ?? [], after) ? [] : node,
  )
  const missing = [...new Set([...gone, ...other])]
  if (missing.length === 0) return
  const what =
    gone.length > 0
      ? `has no ${[...new Set(gone)].map((node) => `node "${node}"`).join(' and no ')} any more`
      : `has other nodes before "${other.join('" and "')}", which waits for the rest of them`
  throw new GraphChanged(`Cannot go on with thread "${thread}": graph "${name}" ${what}`, {
    thread,
    missing,
  })
}

const alike = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((one) => b.includes(one))
