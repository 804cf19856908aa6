import type { Task } from '../durable/checkpoint.ts'
import type { OpenPause } from '../durable/head.ts'
import { pauseKey } from '../durable/keys.ts'
import { interruption, pauseText, timer, type PauseRecord } from '../durable/pause.ts'
import type { Interruption, Timer } from '../durable/records.ts'
import { digest } from '../lib/digest.ts'
import { tidy } from '../lib/tidy.ts'
import type { Key, Put } from '../store/store.ts'
import { APPROVAL, OF_TOOL } from './approval.ts'
import type { Level } from './level.ts'
import { resultEntry } from './result.ts'
import { indexPuts } from './pause-index.ts'
import { stepsOf } from './run.ts'
import type { Ask, Calls } from './calls.ts'
import type { Outcome } from './request.ts'
import type { Execution } from './execution.ts'
import type { Step } from './step.ts'
import { trailsOf } from './trail.ts'
import { conclude } from './watch.ts'

/** What holds a thread. */
export interface Pauses {
  readonly interruptions: readonly Interruption[]
  readonly timers: readonly Timer[]
}

/**
 * Leaves a thread that can't go on by itself: records what its tasks ask and wait for, keeps what had finished, and lets
 * the thread go, in one commit.
 */
export async function suspend(level: Level): Promise<Pauses> {
  const { run } = level
  const { claim } = run
  const { head, root } = claim
  const now = run.app.owner.clock.now()
  const puts: Put[] = []
  const deletes: Key[] = []
  const steps = stepsOf(level)
  await level.step?.saving
  if (!run.durable && level.stale) head.checkpoint = level.save()
  const executions = steps.flatMap((step) => [...step.executions])
  const calls = executions.flatMap(({ asked }) => asked?.all ?? [])
  const asks = calls.flatMap((one) => one.asks)
  const ids = await Promise.all(asks.map((ask) => ask.id ?? idOf(ask)))
  const trail = await trailsOf(level)
  level.assertAlive()
  const results = steps.flatMap((step) => step.unsaved())
  const notes = calls.flatMap((one) => one.notes)
  puts.push(...trail.puts)
  for (const entry of [...results.map((one) => resultEntry(one)), ...notes, ...trail.notes])
    puts.push(...claim.entry(entry))
  // A task that finished without asking again what it had asked has no use for an answer.
  const idsOf = (tasks: readonly { readonly task: Task }[]): Set<string> =>
    new Set(tasks.map(({ task }) => task.id))
  const finished = idsOf(executions.filter(({ status }) => status === 'done'))
  const current = idsOf(level.next)
  const useless = ({ chain }: OpenPause): boolean =>
    !current.has(chain[0]!) || chain.some((task) => finished.has(task))
  run.dropOpen({ puts, deletes }, head.open.filter(useless))
  const fresh = asks.map((ask, i): PauseRecord => {
    const { step, node } = ask.calls.execution
    const { kind, place, key, due, payload, schema } = ask
    const agent = agentIn(ask.calls)
    const [id, n] = [ids[i]!, ++head.last]
    const { checkpoint, ns } = step.level
    const open = { id, kind, chain: ask.calls.chain(), place, n, due, key }
    head.open.push(open)
    const told = { run: run.id, checkpoint, ns, node: node.name, user: run.user, time: now }
    const record = { id, kind, n, ...told, place, key, payload, schema, due, agent }
    puts.push({ key: pauseKey(root, id), value: pauseText(record) })
    puts.push(...indexPuts(claim, open))
    return record
  })
  const records = new Map([...run.records, ...fresh.map((record) => [record.id, record] as const)])
  const open = head.open.map(({ id }) => records.get(id)!)
  const pauses = shown(head.thread, open, now)
  level.log.hold()
  for (const execution of results) execution.step.level.log.tellEnd(execution)
  for (const [i, record] of fresh.entries()) tellPause(level, asks[i]!.calls.execution, record)
  leaveLog(steps, puts)
  level.log.count()
  await run.end(pauses.interruptions.length > 0 ? 'interrupted' : 'waiting', { puts, deletes })
  level.log.release()
  conclude(
    run,
    fresh.filter(({ kind }) => kind === 'question'),
  )
  return pauses
}

/** The agent that asks: the nearest around. */
function agentIn(calls: Calls): string | undefined {
  let at: Calls | undefined = calls
  while (at && at.agent === undefined) at = at.up ?? at.execution.step.level.parent
  return at?.agent
}

/** Stores what was told in steps that don't close now. */
export function leaveLog(steps: readonly Step[], puts: Put[]): void {
  for (const { level } of steps) level.log.write(puts)
}

/** The same for the same question on the same branch, another for every other. */
export async function idOf({
  calls,
  place,
  kind,
}: Pick<Ask, 'calls' | 'place' | 'kind'>): Promise<string> {
  // A child graph keeps its checkpoint when the thread goes on from a new one: what was asked there is over.
  const { checkpoint } = calls.execution.step.level.run.claim.head
  const name = await digest(JSON.stringify([checkpoint, calls.id, place]))
  if (place === OF_TOOL) return APPROVAL + name
  return (kind === 'question' ? 'int_' : 'tmr_') + name
}

/** Tells of a new pause, as the node of this graph that runs into it. */
function tellPause(level: Level, execution: Execution, record: PauseRecord): void {
  const { thread } = level.run.claim.head
  for (let up = execution.step.level.parent; up; up = execution.step.level.parent)
    execution = up.execution
  const node = execution.node.name
  level.log.tell(() => pauseEvent(thread, node, record), [node, record.id])
}

/** How a run ends that something holds. */
export const waitsFor = (
  common: Omit<Outcome, 'status'>,
  { interruptions, timers }: Pauses,
): Outcome =>
  interruptions.length > 0
    ? { ...common, status: 'interrupted', interruptions, timers }
    : { ...common, status: 'waiting', timers }

/** What a pause is told as, by the node of this graph that runs into it. */
export function pauseEvent(thread: string, node: string, record: PauseRecord): object {
  if (record.kind === 'question') {
    const asked = interruption(thread, record, undefined, record.time, false)
    return { kind: 'interrupt', node, interruption: asked }
  }
  const about = timer(thread, record)
  const { wakeAt, payload } = about
  return tidy({ kind: 'wait', node, wakeAt, payload, timer: about })
}

/** What is open, as readers see it. */
export function shown(thread: string, open: readonly PauseRecord[], now: number): Pauses {
  return {
    interruptions: open
      .filter(({ kind }) => kind === 'question')
      .map((record) => interruption(thread, record, undefined, now, false)),
    timers: open.filter(({ kind }) => kind === 'timer').map((record) => timer(thread, record)),
  }
}
