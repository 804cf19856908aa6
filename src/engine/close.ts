import { turnPage } from '../durable/journal.ts'
import type { Logged } from '../durable/log-row.ts'
import type { Key, Put } from '../store/store.ts'
import { fold } from './fold.ts'
import { follow, plannedTasks, type Planned, type Way } from './route.ts'
import type { Execution } from './execution.ts'
import type { Level } from './level.ts'
import type { Step } from './step.ts'
import { ranOf } from './result.ts'
import { isPromise } from './take.ts'
import { view } from './view.ts'
import { tellNews } from './watch.ts'

/** Closes a step: folds what its tasks returned, works out what runs next, and stores both in one commit. */
export async function close(level: Level, step: Step): Promise<void> {
  const { run, plan } = level
  const id = run.durable ? run.claim.id() : `${level.checkpoint}~${level.stepNo}`
  // Nothing of the last step is stored: what breaks in here must not take it along.
  const before = run.durable ? undefined : level.mark()
  let next: readonly Planned[]
  try {
    if (step.saving) await step.saving
    const folding = fold(plan, level.state, step.executions, () => step.stopped)
    if (isPromise(folding)) await lateWork(step, folding)
    const ways = waysOf(level, step)
    const tasks = plannedTasks(
      plan,
      level.joins,
      isPromise(ways) ? await lateWork(step, ways) : ways,
      id,
    )
    next = isPromise(tasks) ? await lateWork(step, tasks) : tasks
  } catch (error) {
    // A reducer, router or schema broke after the nodes had finished: their results are kept.
    before?.()
    if (!run.stopped) await step.keep()
    throw error
  }
  const results = step.unsaved()
  level.next = next
  level.stale = true
  const told = (): object => ({
    kind: 'step',
    checkpoint: run.durable ? id : level.checkpoint,
    next: [...new Set(next.map(({ node }) => node.name))],
  })
  if (run.durable) {
    await commit(level, step, id, results, told)
    level.log.release()
  } else if (!level.parent) {
    run.forget()
    const deletes: Key[] = []
    turnPage(run.claim, id, deletes)
    void run.claim.commit({ deletes })
  }
  if (!run.durable) level.log.tell(told)
  level.stepNo++
}

/** Where the tasks of a step lead; one way for each node, however many items it had. */
function waysOf(level: Level, step: Step): Way[] | Promise<Way[]> {
  const taken = new Set<string>()
  const ways: (Way | Promise<Way>)[] = []
  for (const { node, goto } of step.executions) {
    if (goto) ways.push({ from: node.name, to: goto })
    else if (!taken.has(node.name)) {
      taken.add(node.name)
      const way = follow(level.plan, node.edge, node.name, () => view(level.state))
      // A router that throws at once would leave the others without anybody to hear of them.
      if (isPromise(way)) way.catch(() => {})
      ways.push(way)
    }
  }
  return ways.some(isPromise) ? Promise.all(ways) : (ways as Way[])
}

/** User code takes its time: what the nodes did is stored first, and an abort ends the wait. */
async function lateWork<Value>(step: Step, work: PromiseLike<Value>): Promise<Value> {
  const late = step.until(work)
  late.catch(() => {})
  if (step.level.run.durable) await step.keep()
  return late
}

/** The step's one commit: the checkpoint, what changed, and the head that names them; for the last step the end as well. */
async function commit(
  level: Level,
  step: Step,
  id: string,
  results: readonly Execution[],
  told: () => object,
): Promise<void> {
  const { run } = level
  const { claim } = run
  const { head } = claim
  const puts: Put[] = []
  const deletes: Key[] = []
  const { log, checkpoint } = level
  log.hold()
  for (const execution of results) log.tellEnd(execution)
  const events = log.take(puts)
  log.tell(told)
  level.write(id, 'step', puts, {
    seq: [log.seq - events.length - 1, log.seq],
    ran: step.executions.map((execution) => ranOf(execution, checkpoint)),
    log: isUsual(events, step.executions.length) ? undefined : events,
  })
  // Whoever died before it has brought it this far.
  head.strikes = 0
  if (level.parent) puts.push(...run.noteChild(level))
  else {
    turnPage(claim, id, deletes)
    head.checkpoint = id
    run.forget()
    run.dropOpen({ puts, deletes })
    if (level.next.length === 0) return run.end('success', { puts, deletes })
  }
  puts.push(...run.carried())
  // What comes meanwhile is for the next commit.
  const news = run.level?.news?.splice(0)
  await claim.commit({ puts, deletes })
  tellNews(run, news)
}

/** Whether every task started, in order, and then every task ended, in order. */
const isUsual = (log: readonly Logged[], tasks: number): boolean =>
  log.length === 2 * tasks &&
  log.every((one, i) => one === (i < tasks ? 2 * i : 2 * (i - tasks) + 1))
