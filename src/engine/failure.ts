import { pauseKey } from '../durable/keys.ts'
import { isHeddleError } from '../errors.ts'
import type { Key, Put } from '../store/store.ts'
import { resultEntry } from './result.ts'
import { indexPuts } from './pause-index.ts'
import { stepsOf, type Run } from './run.ts'
import { leaveLog } from './suspend.ts'
import { conclude, show } from './watch.ts'

/**
 * Records why a run failed. What had finished by then is kept; a question whose answer didn't fit is open again. If that
 * can't be recorded either, the thread is free when the lease ends.
 */
export async function fail(run: Run, error: unknown): Promise<void> {
  const { claim, level, reopened, app } = run
  level?.step?.stop(error)
  await level?.step?.saving
  for (const { leavings } of level ? stepsOf(level) : []) if (leavings?.ready) await leavings.ready
  await claim.settled()
  // Its record is written by whoever has the thread by now.
  if (claim.lost)
    return show(run, isHeddleError(claim.failure?.error, 'cancelled') ? 'idle' : 'error')
  // It is numbered after what was never stored.
  if (claim.failure) run.drop()
  if (claim.failure) level?.news?.splice(0)
  claim.recover()
  const { head } = claim
  const puts: Put[] = []
  const deletes: Key[] = []
  level?.log.hold()
  for (const step of level ? stepsOf(level) : []) {
    for (const execution of step.unsaved()) {
      puts.push(...claim.entry(resultEntry(execution)))
      step.level.log.tellEnd(execution)
    }
    if (!run.durable && step.level.parent && step.level.stale) step.level.save()
  }
  if (!run.durable && level?.stale) head.checkpoint = level.save()
  for (const open of reopened) {
    const { id, place, chain } = open
    const task = chain.at(-1) as string
    head.open.push(open)
    puts.push(...claim.entry({ kind: 'reopened', task, place, value: null }))
    puts.push(...indexPuts(claim, open))
    deletes.push(`${pauseKey(claim.root, id)}.a`)
  }
  if (level) {
    leaveLog(stepsOf(level), puts)
    if (reopened.length === 0) for (const step of stepsOf(level)) step.leavings?.fold(puts)
    head.seq = Math.max(head.seq, level.log.seq)
  }
  const status = run.stopped?.status ?? 'error'
  const ending = run.end(reopened.length > 0 ? 'interrupted' : status, { puts, deletes }, error)
  try {
    await ending.then(
      () => level?.log.release(),
      () => {
        // Perhaps for what it took along: the failure alone is little.
        claim.recover()
        level?.news?.splice(0)
        if (level) head.seq = Math.max(head.seq, level.log.seq)
        return run.end(status, {}, error)
      },
    )
    conclude(run)
  } catch (failure) {
    const about = { thread: head.thread, error: failure }
    app.logger.warn(
      'A failed run could not be recorded: its thread is free when the lease ends',
      about,
    )
    show(run, status === 'cancelled' ? 'idle' : 'error')
  }
}
