import type { Claim } from '../durable/claim.ts'
import { idempotencyKey } from '../durable/keys.ts'
import type { ErrorInfo } from '../durable/records.ts'
import type { RunEnd } from '../durable/run-record.ts'
import { HeddleError } from '../errors.ts'
import { Changes } from './changes.ts'
import { find, owned, readable, records } from './find.ts'
import type { Opening, Outcome } from './request.ts'
import { nothing } from './resume.ts'
import type { App, Run } from './run.ts'
import { stoodAt } from './stored.ts'
import { findRun, Reader } from './subscribe.ts'
import { shown, waitsFor } from './suspend.ts'

/** The run that a request with this key has started before. Without a key nothing is awaited for it. */
export function startedBy(run: Run, request: Opening): Promise<string | undefined> | undefined {
  return request.idempotencyKey === undefined ? undefined : run.until(lookUp(run.app, request))
}

async function lookUp(
  app: App,
  { tenant = '', thread, idempotencyKey: key = '' }: Opening,
): Promise<string | undefined> {
  const claim = await find(app, tenant, thread)
  if (!claim) return undefined
  const name = await idempotencyKey(claim.root, key)
  const [last, run] = claim.head.key ?? []
  if (last !== undefined && claim.root + last === name) return run
  const [row] = await claim.get([name])
  return row && readable(thread, () => JSON.parse(row.value) as string)
}

/**
 * Follows a run that goes on elsewhere, or has ended: tells what it told, and comes to the same outcome. If it died it is
 * recovered.
 *
 * @param run Takes its place if it has to be recovered, and has the stream
 * @param id Whom to follow
 * @param recover Goes on with the thread for a run that died
 */
export async function follow(
  run: Run,
  { tenant = '', thread }: Opening,
  id: string,
  recover: () => Promise<Outcome>,
): Promise<Outcome> {
  const { app } = run
  let reader: Reader | undefined
  let changes: Changes | undefined
  try {
    for (;;) {
      if (run.stopped) throw run.stopped.reason
      const claim = await find(app, tenant, thread)
      if (!claim) throw nothing(thread, 'it does not exist any more')
      changes ??= new Changes(app, claim.at.place)
      const found = await findRun(app, claim, id)
      const { head } = claim
      // Its records may not be seen yet, or wait for whoever claims the thread next; the head knows of it.
      if (!found && head.run !== id) throw nothing(thread, `run "${id}" is not known`)
      reader ??= new Reader(app, (found?.start.seq ?? head.seq) - 1)
      const { end, after } = found ?? {}
      const next = end?.seq ?? after?.seq ?? Infinity
      let all = !run.sink
      if (run.sink) {
        for await (const event of reader.read(claim)) {
          if (event.seq >= next) {
            all = true
            reader = new Reader(app, next - 1)
            break
          }
          await run.until(run.sink.push(event))
        }
        all ||= !reader.behind
      }
      if (end && all) return await outcomeOf(app, claim, id, end)
      if (end) await run.until(changes.next())
      else if (after?.continues === id) id = after.id
      else if (after) throw nothing(thread, `run "${id}" died, and another took its place`)
      else if (head.owner !== '' && !owned(head, app.owner.clock.now())) return await recover()
      else await run.until(changes.next())
    }
  } finally {
    changes?.close()
  }
}

/** How a run ended, from its record. */
async function outcomeOf(app: App, claim: Claim, run: string, end: RunEnd): Promise<Outcome> {
  const { status, checkpoint, usage, open = [], error } = end
  const { thread } = claim.head
  // A question whose answer didn't fit is open again, and the run has failed all the same.
  if (error) throw revived(error)
  return readable(
    thread,
    async () => {
      const { state } = await stoodAt(app, claim, checkpoint)
      const common = { thread, run, checkpoint, state, usage }
      if (status === 'success') return { ...common, status }
      return waitsFor(common, shown(thread, await records(claim, open), end.time))
    },
    checkpoint,
  )
}

/** An error, as far as it was recorded. */
export function revived({ name, message, code, cause }: ErrorInfo): Error {
  const options = cause && { cause: revived(cause) }
  const ours = code && new HeddleError(code as never, message, {} as never, options)
  if (ours && ours.name === name) return ours
  return Object.assign(new Error(message, options), { name }, code && { code })
}
