import { Journal } from '../durable/journal.ts'
import { NothingToResume } from '../errors.ts'
import { chosen, type Came } from './answers.ts'
import { isApproval } from './approval.ts'
import { branch } from './branch.ts'
import { dueIn, entriesOf, isPaused, readable, records } from './find.ts'
import type { Level } from './level.ts'
import type { Admission } from './open.ts'
import type { Opening } from './request.ts'
import type { Run } from './run.ts'
import { stand } from './turn.ts'

/** Goes on where a thread stopped: with answers, because of the clock, or after an error, a crash or a cancel. */
export async function resume(
  run: Run,
  level: Level,
  request: Opening,
  admission: Admission,
): Promise<void> {
  const { head } = run.claim
  const { from, wake } = request
  const leaves = from !== undefined && from !== head.checkpoint
  const came: Came[] = await chosen(run, request, leaves)
  if (!leaves) {
    for (const open of dueIn(head, wake ?? run.app.owner.clock.now()))
      if (!came.some((one) => one.open === open)) came.push({ open })
    if (came.length === 0) {
      if (head.status === 'success') throw nothing(head.thread, 'it has ended')
      if (isPaused(head) || (wake !== undefined && !run.tookOver))
        throw nothing(head.thread, 'it waits for an answer or a clock, and neither has come')
    }
  }
  await stand(run, level, { from })
  if (leaves) return branch(run, level, admission)
  await loadJournal(run)
  if (run.tookOver || level.atStart || head.status === 'error' || head.status === 'cancelled') {
    // Rows and ids from here on are new; what had finished in the step is kept.
    await rebase(run, level, admission)
    // An answer may have come and not been used up; a task that nothing has come for stays as it is.
    const called = run.journal.called()
    const own = new Set(level.next.map(({ task }) => task.id))
    const inChild = called.some((task) => !own.has(task))
    const chains = head.open.map(({ chain }) => chain)
    run.woken = new Set(
      chains.filter(([task]) => inChild || called.includes(task as string)).flat(),
    )
  }
  for (const one of came) settle(run, one, admission)
  run.woken = new Set([...run.woken, ...came.flatMap(({ open }) => open.chain)])
}

/** Stands on a new checkpoint with the same tasks. */
async function rebase(run: Run, level: Level, { puts }: Admission): Promise<void> {
  const { claim } = run
  const id = claim.id()
  if (level.atStart) await level.enter(id)
  level.write(id, 'update', puts)
  claim.head.checkpoint = id
}

/** Ends a pause with what came for it. */
function settle(run: Run, { open, answer }: Came, admission: Admission): void {
  const { id, chain, place } = open
  const task = chain.at(-1) as string
  const kind = answer !== undefined ? 'answer' : open.kind === 'timer' ? 'woken' : 'expired'
  // `null` is an answer.
  const value = answer !== undefined ? answer : (run.records.get(id)?.payload ?? null)
  const by = run.user
  const time = run.app.owner.clock.now()
  const of = isApproval(open) ? { by, at: time } : {}
  const entry = { kind, task, place, value, pause: id, ...of } as const
  admission.puts.push(...run.claim.entry(entry))
  run.journal.add(entry)
  const status = kind === 'answer' ? 'answered' : kind
  run.dropOpen(admission, [open], { status, answer, by, time })
}

/** Reads what happened in the step so far, and what was asked. */
async function loadJournal(run: Run): Promise<void> {
  const { claim } = run
  const { thread, checkpoint, open } = claim.head
  const read = async (): Promise<void> => {
    run.journal = new Journal()
    for (const entry of await entriesOf(claim)) run.journal.add(entry)
    const ids = new Set([...run.journal.pauses(), ...open.map(({ id }) => id)])
    const asked = await records(claim, [...ids])
    run.records = new Map(asked.map((record) => [record.id, record]))
  }
  await readable(thread, read, checkpoint)
}

/** A thread that can't go on. */
export const nothing = (thread: string, why: string): Error =>
  new NothingToResume(`Cannot go on with thread "${thread}": ${why}`, { thread })
