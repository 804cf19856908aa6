import type { PlaceEntry } from '../durable/journal.ts'
import { callId } from '../lib/ids.ts'
import { Calls } from './calls.ts'
import { meterOf, type Use } from './meter.ts'

/** What is known of a call when it begins. */
export interface Begun {
  readonly place: string
  readonly known: PlaceEntry | undefined
  readonly use: Use
  readonly id: string
}

/** Room for a call of a tool, or for a request to a model, among what its task has under way. */
export interface Room {
  /** Whether it may still do something. */
  alive(): boolean
  /** Begins it in its place, in the order of the calls. */
  begin(place: string | Promise<string>): Promise<Begun>
  /**
   * Opens what it calls itself.
   *
   * @param onWait Called when it first waits for a person or a clock; says whether it has begun to do anything
   */
  enter(begun: Begun, onWait?: () => boolean): Calls
  /** It has ended. */
  end(): void
  /** Nobody waits for it any more: it has ended, and never settles. */
  gone(): Promise<never>
}

/** Makes room for a call. From here on the task doesn't count as paused before the call has ended, or waits itself. */
export function reserve(calls: Calls, kind: 'tool' | 'model'): Room {
  const { execution, id: task, current: outer } = calls
  const { attempt } = execution
  const { run } = execution.step.level
  const underWay = calls.call()
  execution.busy++
  const end = (): void => {
    underWay()
    if (execution.attempt !== attempt) return
    execution.busy--
    execution.quiet()
  }
  return {
    alive: calls.life(),
    async begin(named) {
      const place = await named
      const known = run.journal.of(task)?.places.get(place)
      // It has its number from here, where calls come in their order, and keeps it while it waits.
      const held = (): boolean => execution.attempt === attempt && !execution.step.stopped
      const use = meterOf(run).begin(kind, held)
      // What has run is counted.
      if (known?.kind === 'call' || known?.kind === 'ran') use.end(false)
      return { place, known, use, id: callId(task, place) }
    },
    enter({ place, id }, onWait) {
      const frame = new Calls(execution, id, { up: calls, outer, place })
      frame.onWait(() => {
        const value = onWait?.() ?? null
        // Its place is known when the node is entered again, whatever it is called with by then.
        if (!run.journal.of(task)?.places.has(place))
          calls.notes.push({ kind: 'past', task, place, value })
      })
      underWay(frame)
      return frame
    },
    end,
    gone() {
      end()
      return new Promise(() => {})
    },
  }
}
