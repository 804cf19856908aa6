import type { Checkpoint } from '../durable/checkpoint.ts'
import type { Claim } from '../durable/claim.ts'
import { turnPage } from '../durable/journal.ts'
import { readable } from './find.ts'
import type { Level } from './level.ts'
import type { Admission } from './open.ts'
import type { Run } from './run.ts'
import { followTrails } from './trail.ts'

/** How a branch is made by a fork, which runs nothing. */
export interface ForkOf {
  /** The checkpoint that it is made from, and its thread. */
  readonly at: Checkpoint
  readonly from: Claim
  /** The state is another than there, so that child graphs begin anew. */
  readonly edited: boolean
}

/**
 * Stands on a new checkpoint with the same tasks under new ids, as the first of a branch: what was open is left behind,
 * and child graphs go on where they first paused.
 */
export async function branch(
  run: Run,
  level: Level,
  { puts, deletes }: Admission,
  fork?: ForkOf,
): Promise<void> {
  const { claim } = run
  const id = claim.id()
  const tasks = new Map<string, string>()
  level.next = level.next.map(({ node, task }) => {
    const standIn = `${id}.${task.key}`
    tasks.set(task.id, standIn)
    return { node, task: { ...task, id: standIn } }
  })
  if (level.atStart) await (fork ? level.waitAtStart(id) : level.enter(id))
  run.dropOpen({ puts, deletes })
  turnPage(claim, id, deletes)
  const by = fork?.at.run ?? run.id
  const { from = claim, edited = false } = fork ?? {}
  const follow = (): Promise<void> => followTrails(run, from, tasks, by, puts)
  if (!edited) await readable(from.head.thread, follow)
  level.write(id, 'fork', puts, { seq: [level.log.seq, level.log.seq], run: by })
  claim.head.checkpoint = id
}
