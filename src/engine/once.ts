import { decode, encode, type Cell } from '../durable/codec.ts'
import type { Work } from './calls.ts'
import type { Execution } from './execution.ts'

/** Runs work once for a node execution: its stored result comes back on every re-entry, a failure isn't stored. */
export function once(execution: Execution, key: string, work: () => unknown): Promise<unknown> {
  if (typeof key !== 'string' || typeof work !== 'function')
    throw new TypeError('Cannot call once: it takes a key and a function')
  const place = `o:${key}`
  const { run } = execution.step.level
  const known = run.journal.of(execution.task.id)?.places.get(place)
  if (known) return Promise.resolve(decode(known.value))
  const running = execution.calls.works.get(place)
  if (running) return running.then(decode)
  const cell = perform(execution, place, work)
  execution.calls.works.set(place, cell)
  return cell.then(decode)
}

async function perform(execution: Execution, place: string, work: () => unknown): Promise<Cell> {
  const { calls, step, task, attempt } = execution
  const self: Work = { waits: false }
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
    if (!execution.alive(attempt)) return await new Promise<never>(() => {})
    calls.storing.add(place)
    await step.level.run.note({ kind: 'once', task: task.id, place, value })
    return value
  } finally {
    const current = execution.attempt === attempt
    if (calls.storing.delete(place) || current) calls.works.delete(place)
    if (current && !self.waits && --execution.busy === 0) execution.quiet()
  }
}
