import { SKIP } from '../durable/head.ts'
import type { Entry } from '../durable/journal.ts'
import { spaceKey, spaceOf } from '../durable/keys.ts'
import type { Put } from '../store/store.ts'
import type { Plan } from '../graph/plan.ts'
import { readable } from './find.ts'
import { fill } from './fold.ts'
import { drive, Level } from './level.ts'
import { load } from './load.ts'
import type { Calls } from './calls.ts'
import { placeOf } from './place.ts'
import { snapshot } from './view.ts'

/** Runs a graph inside a node, in a namespace of its own; goes on where it stands when the node is entered again. */
export function child(
  calls: Calls,
  plan: Plan,
  input: unknown,
  options: { readonly key?: string; readonly emit?: (event: unknown) => unknown } = {},
): Promise<unknown> {
  const { execution, current } = calls
  const { key, emit } = options
  const place = key === undefined ? placeOf(calls, 'c', plan.name, input) : `C:${key}`
  execution.busy++
  return new Promise((resolve, reject) => {
    const { attempt } = execution
    const alive = calls.life()
    const ended = (then: () => void): void => {
      if (execution.attempt !== attempt) return
      execution.busy--
      if (alive()) then()
      execution.quiet()
    }
    enter(calls, { plan, input, emit, alive, underWay: calls.call() }, place).then(
      (state) =>
        ended(() => (state === undefined ? void calls.pause(undefined, current) : resolve(state))),
      (error: unknown) => ended(() => reject(error)),
    )
  })
}

interface Entered {
  readonly plan: Plan
  readonly input: unknown
  readonly emit: ((event: unknown) => unknown) | undefined
  readonly alive: () => boolean
  readonly underWay: (level?: Level) => void
}

/** The child's final state, or `undefined` when it waits. */
async function enter(
  calls: Calls,
  { plan, input, emit, alive, underWay }: Entered,
  where: string | Promise<string>,
): Promise<Record<string, unknown> | undefined> {
  const { execution, id: task } = calls
  const { run } = execution.step.level
  const { attempt } = execution
  const place = await where
  const space = await spaceOf(task, place)
  const level = new Level(run, plan, { calls, alive, space, place, emit })
  // What the attempt before stores may be on its way.
  if (attempt > 1) await run.claim.settled()
  level.assertAlive()
  const known = run.journal.of(task)?.places.get(place)
  if (known) {
    const id = known.value as string
    await readable(run.claim.head.thread, () => load(level, id, run.shares), id)
    // An owner before may have told more than is stored: like the thread's own, its numbers begin where no other's do.
    const { seq } = run.claim.head
    const least = run.shares ? seq - (seq % SKIP) : 0
    level.log.seq = Math.max(level.log.seq, known.seq ?? 0, least)
  }
  if (!known) {
    await fill(level, input, execution.node.name)
    const id = run.claim.id()
    await level.enter(id)
    level.assertAlive()
    const puts: Put[] = []
    level.write(id, 'input', puts)
    puts.push({ key: await spaceKey(run.claim.root, level.ns, id), value: space })
    await run.claim.commit({ puts: [...puts, ...run.noteChild(level)] })
  }
  level.assertAlive()
  underWay(level)
  const how = await drive(level)
  if (!run.durable && level.stale) level.save()
  if (how === 'ended') {
    underWay()
    return snapshot(level.state)
  }
  await level.step?.keep()
  return undefined
}

/** The journal's entry that says where a child graph stands. */
export const childEntry = (level: Level): Entry => ({
  kind: 'child',
  task: (level.parent as Calls).id,
  place: level.place,
  value: level.checkpoint,
  seq: level.log.seq,
})
