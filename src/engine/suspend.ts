import type { OpenPause } from '../durable/head.ts'
import { dueKey, inboxKey, pauseKey } from '../durable/keys.ts'
import { interruption, pauseText, timer, type PauseRecord } from '../durable/pause.ts'
import type { Interruption, Timer } from '../durable/records.ts'
import { digest } from '../lib/digest.ts'
import type { Key, Put } from '../store/store.ts'
import type { Level } from './level.ts'
import { stepsOf } from './run.ts'
import type { Ask } from './calls.ts'

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
  const { claim, app } = run
  const { head } = claim
  const now = app.owner.clock.now()
  const puts: Put[] = []
  const deletes: Key[] = []
  const steps = stepsOf(level)
  await level.step?.saving
  if (!run.durable && level.stale) head.checkpoint = level.save()
  const executions = steps.flatMap((step) => [...step.executions])
  const asks = executions.flatMap(({ asked }) => asked?.asks ?? [])
  const ids = await Promise.all(asks.map(idOf))
  level.assertAlive()
  const results = steps.flatMap((step) => step.unsaved())
  for (const execution of results) puts.push(claim.entry(execution.entry()))
  for (const { asked } of executions)
    for (const entry of asked?.notes ?? []) puts.push(claim.entry(entry))
  // A task that finished without asking again what it had asked has no use for an answer.
  const finished = new Set(
    executions.flatMap(({ status, task }) => (status === 'done' ? task.id : [])),
  )
  const current = new Set(level.next.map(({ task }) => task.id))
  run.dropOpen(
    head.open.filter(
      ({ chain }) => !current.has(chain[0] as string) || chain.some((task) => finished.has(task)),
    ),
    'cancelled',
    puts,
    deletes,
  )
  const fresh = asks.map((ask, i) => recordOf(ask, ids[i] as string, now, ++head.last))
  for (const [i, record] of fresh.entries()) {
    const { execution, place, kind, key, due } = asks[i] as Ask
    const open: OpenPause = {
      id: record.id,
      kind,
      chain: execution.step.level.chain(execution.task.id),
      place,
      n: record.n,
      ...(due !== undefined && { due }),
      ...(key !== undefined && { key }),
    }
    head.open.push(open)
    puts.push({ key: pauseKey(claim.root, record.id), value: pauseText(record) })
    const hint = JSON.stringify([head.tenant, head.thread])
    if (due !== undefined) puts.push({ key: dueKey(claim.at, due, record.id), value: hint })
    if (kind === 'question')
      puts.push({
        key: inboxKey(claim.at, record.n, record.id),
        value: hint,
      })
  }
  head.seq =
    level.seq +
    results.filter((execution) => execution.step.level === level && !execution.saved).length +
    fresh.length
  const records = new Map([...run.records, ...fresh.map((record) => [record.id, record] as const)])
  const open = head.open.map(({ id }) => records.get(id) as PauseRecord)
  const pauses = shown(head.thread, open, now)
  await run.end(pauses.interruptions.length > 0 ? 'interrupted' : 'waiting', { puts, deletes })
  for (const execution of results) execution.step.told(execution)
  tellPauses(level, asks, fresh, now)
  return pauses
}

/** The same for the same question on the same branch, another for every other. */
async function idOf({ execution, place, kind }: Ask): Promise<string> {
  const { level } = execution.step
  const name = await digest(JSON.stringify([level.checkpoint, execution.task.id, place]))
  return (kind === 'question' ? 'int_' : 'tmr_') + name
}

function recordOf(
  { execution, place, kind, payload, key, due, schema }: Ask,
  id: string,
  time: number,
  n: number,
): PauseRecord {
  const { level } = execution.step
  const { run } = level
  return {
    id,
    kind,
    n,
    run: run.id,
    checkpoint: level.checkpoint,
    ns: level.ns,
    node: execution.node.name,
    place,
    ...(key !== undefined && { key }),
    payload,
    ...(schema && { schema }),
    ...(run.user !== undefined && { user: run.user }),
    time,
    ...(due !== undefined && { due }),
  }
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

/** Tells of new pauses, as the node of this graph that runs into them. */
function tellPauses(
  level: Level,
  asks: readonly Ask[],
  records: readonly PauseRecord[],
  now: number,
): void {
  const { thread } = level.run.claim.head
  for (const [i, record] of records.entries()) {
    let { execution } = asks[i] as Ask
    for (let up = execution.step.level.parent; up; up = up.step.level.parent) execution = up
    const node = execution.node.name
    if (record.kind === 'question')
      level.tell('interrupt', () => ({
        node,
        interruption: interruption(thread, record, undefined, now, false),
      }))
    else {
      level.tell('wait', () => {
        const shownTimer = timer(thread, record)
        return {
          node,
          wakeAt: shownTimer.wakeAt,
          ...('payload' in shownTimer && { payload: shownTimer.payload }),
          timer: shownTimer,
        }
      })
    }
  }
}
