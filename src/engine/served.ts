import { servedKey } from '../durable/keys.ts'
import type { Served } from '../durable/run-record.ts'
import { NoModel } from '../errors.ts'
import type { Model } from '../model/model.ts'
import type { Run } from './run.ts'

/**
 * Refuses a run of an agent that has no model, if the request brings none either.
 *
 * @throws NoModel
 */
export function assertModel({ app: { agent }, local }: Run, thread: string): void {
  if (!agent || agent.model || local.model) return
  throw new NoModel(
    `Cannot run thread "${thread}": agent "${agent.name}" has no model, and the request brings none`,
    { agent: agent.name },
  )
}

/** The model that serves a run, if that can be told before it has begun. */
export function knownModel(run: Run): Served | undefined {
  const { app, local } = run
  const known = app.agent && (local.model ?? app.agent.model)
  if (!known || !('stream' in known)) return undefined
  const audit = auditOf(known)
  run.served = new Map([[JSON.stringify(audit), Promise.resolve()]])
  return audit
}

/**
 * Records that a model serves a run, unless that is known. Await it before the model is asked.
 *
 * @returns Nothing to wait for, or the commit that stores it
 */
export function served(run: Run, model: Model): Promise<void> | undefined {
  const { claim, durable, app } = run
  const audit = auditOf(model)
  const value = JSON.stringify(audit)
  const all = (run.served ??= new Map<string, Promise<void>>())
  const { head, root } = claim
  const known = all.get(value)
  if (known) return known
  const key = servedKey(root, head.runNumber, ++head.last)
  const { clock, leaseMs } = app.owner
  // Where only pauses are stored this can't wait for one.
  const stored = durable
    ? claim.commit({ puts: [...run.carried(), { key, value }] })
    : claim.renew(Math.max(head.until, clock.now() + leaseMs), [{ key, value }])
  all.set(value, stored)
  stored.catch(() => all.delete(value))
  return stored
}

const auditOf = ({ provider, model }: Model): Served => ({ provider, model })
