import { checkpointText, readCheckpoint } from '../durable/checkpoint.ts'
import type { Claim } from '../durable/claim.ts'
import type { Entry } from '../durable/journal.ts'
import { checkpointKey, spaceKey, spaceOf, trailKey } from '../durable/keys.ts'
import { readRow } from '../durable/row.ts'
import { sharedRefs, State } from '../durable/state.ts'
import type { Key, Put } from '../store/store.ts'
import type { Execution } from './execution.ts'
import type { Level } from './level.ts'
import type { Run } from './run.ts'

/** Where a child graph stood: the task that runs it, the call, and its checkpoint. */
type Position = readonly [task: string, place: string, checkpoint: string]

/** Says in the journal of a task that it has paused before. */
const PAUSED = 'p:'

/** What is written when tasks pause. */
export interface Trail {
  readonly puts: Put[]
  readonly notes: Entry[]
}

/**
 * Where the child graphs of tasks stand that pause for the first time. What they did so far depends on no answer, so that
 * another branch may go on from there.
 */
export async function trailsOf(level: Level): Promise<Trail> {
  const { run } = level
  const { head, root } = run.claim
  const trail: Trail = { puts: [], notes: [] }
  for (const execution of level.step?.executions ?? []) {
    const { id } = execution.task
    const known = [...(run.journal.of(id)?.places.values() ?? [])]
    const again =
      known.some(({ place, pause }) => place === PAUSED || pause !== undefined) ||
      head.open.some(({ chain }) => chain[0] === id)
    if (execution.status !== 'paused' || again) continue
    const positions = [...positionsIn(run, execution)]
    if (positions.length === 0) continue
    trail.puts.push({ key: await trailKey(root, id), value: JSON.stringify(positions) })
    trail.notes.push({ kind: 'past', task: id, place: PAUSED, value: null })
  }
  return trail
}

/** The children of a task, those that hold others first. */
function* positionsIn(run: Run, { task, asked }: Execution): Generator<Position> {
  for (const { kind, place, value } of run.journal.of(task.id)?.places.values() ?? [])
    if (kind === 'child') yield [task.id, place, value as string]
  for (const { step } of asked?.children ?? [])
    for (const execution of step?.executions ?? []) yield* positionsIn(run, execution)
}

/**
 * Lets the tasks of a branch go on with their child graphs where the tasks they stand for paused first: each child gets
 * a namespace of its own, and the journal says where it starts.
 *
 * @param from The thread that the tasks were of
 * @param tasks The tasks of the branch, by those they stand for
 * @param by The run that the children's checkpoints name
 */
export async function followTrails(
  run: Run,
  from: Claim,
  tasks: ReadonlyMap<string, string>,
  by: string,
  puts: Put[],
): Promise<void> {
  const { claim } = run
  const standIns = new Map(tasks)
  const keys: Key[] = await Promise.all([...tasks.keys()].map((task) => trailKey(from.root, task)))
  for (const found of await from.get(keys)) {
    const positions = found
      ? readRow<readonly Position[]>(found.value, 'where its children stood')
      : []
    for (const [task, place, checkpoint] of positions) {
      const standIn = standIns.get(task)
      const key = checkpointKey(from.root, await spaceOf(task, place), checkpoint)
      const [entry] = standIn === undefined ? [] : await from.get([key])
      // One that was pruned begins anew, and those inside it too.
      if (standIn === undefined || !entry) continue
      const row = readCheckpoint(entry.value, checkpoint)
      const id = claim.id()
      const space = await spaceOf(standIn, place)
      const [, seq] = row.seq
      const next = row.next.map((one) => ({ ...one, id: `${id}.${one.key}` }))
      for (const [i, one] of row.next.entries()) standIns.set(one.id, next[i]!.id)
      const state =
        from === claim
          ? sharedRefs(row.state)
          : (await State.load(undefined, from.root, row.state, from, false))
              .apart()
              .write(claim.root, id, puts)
      const told = { seq: [seq, seq], ran: undefined, log: undefined } as const
      const made = { source: 'fork', parent: undefined, run: by } as const
      const copy = checkpointText({ ...row, id, next, state, ...told, ...made })
      puts.push(
        { key: checkpointKey(claim.root, space, id), value: copy },
        { key: await spaceKey(claim.root, row.ns, id), value: space },
      )
      const position: Entry = { kind: 'child', task: standIn, place, value: id }
      puts.push(...claim.entry(position))
      run.journal.add(position)
    }
  }
}
