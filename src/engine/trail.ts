import { checkpointText, readCheckpoint, type Checkpoint } from '../durable/checkpoint.ts'
import type { Claim } from '../durable/claim.ts'
import type { Entry } from '../durable/journal.ts'
import { checkpointKey, spaceKey, spaceOf, trailKey } from '../durable/keys.ts'
import { readRow } from '../durable/row.ts'
import { sharedRefs } from '../durable/refs.ts'
import { State } from '../durable/state.ts'
import { callId } from '../lib/ids.ts'
import type { Put } from '../store/store.ts'
import type { Execution } from './execution.ts'
import type { Level } from './level.ts'
import type { Run } from './run.ts'

/** Where a child graph stood: the task that runs it, the call, and its checkpoint; or a tool that holds some, and its id. */
type Position = readonly [task: string, place: string, checkpoint: string]

const PAUSED = 'p:'
const TOOL = '>'

const isTool = ([, , stood]: Position): boolean => stood.startsWith(TOOL)

/** Says in the journal of a task that it has paused before. */
const pausedBefore = (task: string): Entry => ({ kind: 'past', task, place: PAUSED, value: null })

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
    if (!positions.every(isTool))
      trail.puts.push({ key: await trailKey(root, id), value: JSON.stringify(positions) })
    // What a tool is answered stands under its call: only this says of the task that it has paused.
    if (positions.length > 0) trail.notes.push(pausedBefore(id))
  }
  return trail
}

/** The children of a task and of the tools it calls, those that hold others first. */
function* positionsIn(run: Run, { task, asked }: Execution): Generator<Position> {
  yield* childrenOf(run, task.id)
  for (const { id, up, place } of asked?.all.slice(1) ?? []) {
    yield [up?.id as string, place as string, TOOL + id]
    yield* childrenOf(run, id)
  }
  for (const { step } of asked?.children ?? [])
    for (const execution of step?.executions ?? []) yield* positionsIn(run, execution)
}

function* childrenOf(run: Run, task: string): Generator<Position> {
  for (const { kind, place, value } of run.journal.of(task)?.places.values() ?? [])
    if (kind === 'child') yield [task, place, value as string]
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
  const note = (entry: Entry): void => {
    puts.push(...claim.entry(entry))
    run.journal.add(entry)
  }
  for (const [paused, resumed] of tasks) {
    const [trail] = await from.get([await trailKey(from.root, paused)])
    const positions = trail && readRow<readonly Position[]>(trail.value, 'where its children stood')
    const copies: Position[] = []
    for (const position of positions ?? []) {
      const [task, place, checkpoint] = position
      const standIn = standIns.get(task)
      if (standIn !== undefined && isTool(position)) {
        const id = place.startsWith('.') ? standIn + place : callId(standIn, place)
        standIns.set(checkpoint.slice(TOOL.length), id)
        copies.push([standIn, place, TOOL + id])
        continue
      }
      const key = checkpointKey(from.root, await spaceOf(task, place), checkpoint)
      const [entry] = standIn === undefined ? [] : await from.get([key])
      // One that was pruned begins anew, and those inside it too.
      if (standIn === undefined || !entry) continue
      const row = readCheckpoint(entry.value, checkpoint)
      const id = claim.id()
      for (const one of row.next) standIns.set(one.id, `${id}.${one.key}`)
      await copyChild(row, from, claim, { id, by, space: await spaceOf(standIn, place) }, puts)
      copies.push([standIn, place, id])
      note({ kind: 'child', task: standIn, place, value: id })
    }
    if (copies.every(isTool)) continue
    // A branch of this branch goes on from there too.
    puts.push({ key: await trailKey(claim.root, resumed), value: JSON.stringify(copies) })
    note(pausedBefore(resumed))
  }
}

/** Writes a child graph's checkpoint as the first of another namespace. */
async function copyChild(
  row: Checkpoint,
  from: Claim,
  { root }: Claim,
  { id, by, space }: { readonly id: string; readonly by: string; readonly space: string },
  puts: Put[],
): Promise<void> {
  const here = from.root === root
  const stored = here || (await State.load(undefined, from.root, row.state, from, false))
  const state = stored === true ? sharedRefs(row.state) : stored.apart().write(root, id, puts)
  const next = row.next.map((one) => ({ ...one, id: `${id}.${one.key}` }))
  const told = { seq: [row.seq[1], row.seq[1]], ran: undefined, log: undefined } as const
  const made = { source: 'fork', parent: undefined, run: by } as const
  const copy = checkpointText({ ...row, id, next, state, ...told, ...made })
  puts.push(
    { key: checkpointKey(root, space, id), value: copy },
    { key: await spaceKey(root, row.ns, id), value: space },
  )
}
