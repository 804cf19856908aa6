import { decode, encode, type Cell } from '../durable/codec.ts'
import type { Calls, Work } from './calls.ts'

/** Runs work once for a node execution: its stored result comes back on every re-entry, a failure isn't stored. */
export function once(calls: Calls, key: string, work: () => unknown): Promise<unknown> {
  if (typeof key !== 'string' || typeof work !== 'function')
    throw new TypeError('Cannot call once: it takes a key and a function')
  const place = `o:${key}`
  const { run } = calls.execution.step.level
  const known = run.journal.of(calls.id)?.places.get(place)
  if (known) return Promise.resolve(decode(known.value))
  const running = calls.works.get(place)
  if (running) return running.then(decode)
  const cell = perform(calls, place, work)
  calls.works.set(place, cell)
  return cell.then(decode)
}

async function perform(calls: Calls, place: string, work: () => unknown): Promise<Cell> {
  const { execution } = calls
  const { step, attempt } = execution
  const alive = calls.life()
  const self: Work = { waits: false, outer: calls.current }
  execution.busy++
  try {
    calls.inside = self
    let result: unknown
    try {
      result = work()
    } finally {
      calls.inside = undefined
    }
    const value = encode(await result, execution.node.name, 'once')
    // After a stop nothing more is written; the promise stays open like the node that is given up.
    if (!alive()) return await new Promise<never>(() => {})
    calls.storing.add(place)
    await step.level.run.note({ kind: 'once', task: calls.id, place, value })
    return value
  } finally {
    const current = execution.attempt === attempt
    if (calls.storing.delete(place) || current) calls.works.delete(place)
    if (current && !self.waits && --execution.busy === 0) execution.quiet()
  }
}
