import { iso } from '../durable/pause.ts'
import { errorType } from '../hook/name.ts'
import type { MonitorEvent, PresenceState } from './monitor.ts'
import type { Run } from './run.ts'

type Told = MonitorEvent extends infer Each
  ? Each extends MonitorEvent
    ? Omit<Each, 'run' | 'thread' | 'at'>
    : never
  : never

/** Tells the monitor of an app. One that throws changes nothing. */
export function tell({ id, app, claim }: Run, event: Told): void {
  const { monitor, owner, logger } = app
  if (!monitor) return
  try {
    const at = iso(owner.clock.now())
    monitor.emit({ run: id, thread: claim.head.thread, at, ...event } as MonitorEvent)
  } catch (error) {
    logger.warn('A monitor failed', { event: event.kind, error: errorType(error) })
  }
}

/** Shows what a run seems to be doing. */
export function show({ id, app, claim }: Run, state: PresenceState): void {
  const { presence, plan, logger } = app
  if (!presence) return
  try {
    presence.set(state, { run: id, thread: claim.head.thread, agent: plan.name })
  } catch (error) {
    logger.warn('A presence failed', { state, error: errorType(error) })
  }
}
