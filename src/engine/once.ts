import { decode, encode } from '../durable/codec.ts'
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

async function perform(
  execution: Execution,
  place: string,
  work: () => unknown,
): Promise<ReturnType<typeof encode>> {
  const { run } = execution.step.level
  const { attempt } = execution
  execution.busy++
  try {
    const value = encode(await work(), execution.node.name, 'once')
    // After a stop nothing more is written; the promise stays open like the node that is given up.
    if (!execution.alive(attempt)) return await new Promise<never>(() => {})
    await run.note({ kind: 'once', task: execution.task.id, place, value })
    return value
  } finally {
    if (execution.attempt === attempt) {
      execution.calls.works.delete(place)
      if (--execution.busy === 0) execution.quiet()
    }
  }
}
