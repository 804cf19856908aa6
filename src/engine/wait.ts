import { decode, encode } from '../durable/codec.ts'
import type { PlaceEntry } from '../durable/journal.ts'
import type { PauseOptions } from '../graph/context.ts'
import { instantFrom } from '../lib/instant.ts'
import type { Calls } from './calls.ts'

/** The last instant that a Date can tell. */
export const LAST = 8.64e15

/** Waits for an instant; the first call records it, later ones of the same place ignore what they are given. */
export function wait(
  calls: Calls,
  wakeAt: string | Date,
  payload?: unknown,
  options?: PauseOptions,
): Promise<unknown> {
  return until(calls, 'w', options, payload, () => instantFrom(wakeAt))
}

/** Waits for some milliseconds from the first time on. */
export function sleep(calls: Calls, ms: number, options?: PauseOptions): Promise<void> {
  const { execution } = calls
  const due = (): number => {
    const now = execution.step.level.run.app.owner.clock.now()
    if (typeof ms !== 'number' || !(ms >= 0 && now + ms <= LAST))
      throw new RangeError(
        `Cannot sleep in node "${execution.node.name}": ${String(ms)} is no number of milliseconds`,
      )
    return Math.ceil(now + ms)
  }
  return until(calls, 's', options, undefined, due).then(() => undefined)
}

function until(
  calls: Calls,
  kind: string,
  options: PauseOptions | undefined,
  payload: unknown,
  due: () => number,
): Promise<unknown> {
  const { execution } = calls
  const { run } = execution.step.level
  const key = options?.key
  const group = key === undefined ? `${kind}:` : `${kind.toUpperCase()}${key.length}:${key}:`
  const place = group + calls.count(group)
  const known = run.journal.of(calls.id)?.places.get(place)
  if (known) return Promise.resolve(decode(known.value))
  if (run.openOf(calls.id).some((open) => open.place === place)) return calls.pause()
  const at = due()
  const cell = encode(payload, execution.node.name, 'payload')
  if (at > run.app.owner.clock.now()) {
    return calls.pause({
      calls,
      place,
      kind: 'timer',
      payload: cell,
      due: at,
      key,
    })
  }
  const past: PlaceEntry = { kind: 'past', task: calls.id, place, value: cell }
  run.journal.add(past)
  calls.notes.push(past)
  return Promise.resolve(decode(cell))
}
