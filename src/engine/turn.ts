import type { Checkpoint } from '../durable/checkpoint.ts'
import { Journal, turnPage } from '../durable/journal.ts'
import { numberOf } from '../durable/keys.ts'
import { ApprovalPending, ThreadPaused } from '../errors.ts'
import { isApproval } from './approval.ts'
import { entriesOf, isPaused, readable } from './find.ts'
import { fill, fold } from './fold.ts'
import type { Level } from './level.ts'
import { load } from './load.ts'
import type { Admission } from './open.ts'
import type { Opening } from './request.ts'
import type { Run } from './run.ts'
import { take } from './take.ts'
import { view } from './view.ts'

/** Starts a turn: a new thread is filled, an ended one takes the input like an update. */
export async function turn(
  run: Run,
  level: Level,
  request: Opening,
  admission: Admission,
): Promise<void> {
  const { claim } = run
  const { head } = claim
  const { plan } = run.app
  if (head.used) head.used = [[0, 0, 0], head.used[1]]
  if (isPaused(head)) {
    const ids = (kind: string): string[] =>
      head.open.flatMap((open) => (open.kind === kind ? [open.id] : []))
    const [interruptions, timers] = [ids('question'), ids('timer')]
    const why = `Cannot start a turn on thread "${head.thread}": it waits for ${[...interruptions, ...timers].join(', ')}; answer, or cancel first`
    const { thread } = head
    if (head.open.some(isApproval)) throw new ApprovalPending(why, { thread, interruptions })
    throw new ThreadPaused(why, { thread, interruptions, timers })
  }
  if (head.checkpoint) {
    const { id } = await stand(run, level, { from: request.from, anew: true })
    level.state.compact()
    if (id === head.checkpoint) await keepLeft(run, level)
    const update = await take(level, request.input)
    await fold(plan, level.state, [{ node: { name: 'input' }, update }])
  } else await fill(level, request.input)
  const id = claim.id()
  try {
    await level.enter(id)
  } catch (error) {
    // The run fails, and its record says so; it can go on from `start` when the graph is mended.
    admission.failure = { error }
    level.waitAtStart(id)
  }
  level.write(id, 'input', admission.puts)
  run.dropOpen(admission)
  turnPage(claim, id, admission.deletes)
  head.checkpoint = id
}

/** What an agent's calls had come to in the step that is dropped isn't lost: the model is to hear of it. */
async function keepLeft({ app, claim }: Run, level: Level): Promise<void> {
  const { agent, plan } = app
  const { entries, thread, checkpoint } = claim.head
  if (!agent || entries.length === 0) return
  const journal = new Journal()
  await readable(
    thread,
    async () => {
      for (const entry of await entriesOf(claim)) journal.add(entry)
    },
    checkpoint,
  )
  for (const { task, node } of level.next) {
    // A node of a graph that has changed since.
    if (!node) continue
    const left = agent.left(view(level.state), task.id, journal)
    const update = await take(level, left, node.name)
    await fold(plan, level.state, [{ node, update }])
  }
}

/**
 * Takes a level to a checkpoint, the newest if none is named; events are counted on.
 *
 * @param apart What follows is a branch of its own; from an older checkpoint it always is
 * @param anew The graph starts anew from there
 */
export async function stand(
  run: Run,
  level: Level,
  {
    from,
    apart = false,
    anew = false,
  }: {
    readonly from?: string | undefined
    readonly apart?: boolean
    readonly anew?: boolean
  },
): Promise<Checkpoint> {
  const { thread, checkpoint, seq, last } = run.claim.head
  const id = from ?? checkpoint
  const leaves = apart || id !== checkpoint
  const read = (): Promise<Checkpoint> => load(level, id, run.shares || leaves, anew)
  const row = await readable(thread, read, id, checkpoint)
  if (leaves) level.cuts = [...level.cuts, [numberOf(id), last]]
  level.log.seq = seq
  return row
}
