import { notCut } from '../durable/checkpoint.ts'
import type { Claim } from '../durable/claim.ts'
import { skipAhead } from '../durable/head.ts'
import { isHeddleError, ThreadExists, UnknownCheckpoint } from '../errors.ts'
import { branch } from './branch.ts'
import { anything, check } from '../lib/check.ts'
import { find, look, owned, retried } from './find.ts'
import { Level } from './level.ts'
import { busy, listing, newClaim, type Admission } from './open.ts'
import { text } from './request.ts'
import { Run, type App } from './run.ts'
import { replace } from './stored.ts'
import { stand } from './turn.ts'

/** Which checkpoint a fork is made from, what is other there, and the new thread, if it is one. */
interface ForkOptions {
  readonly from: string
  readonly update?: object
  readonly to?: string
}

/** Where a fork stands. */
interface Forked {
  readonly thread: string
  readonly checkpoint: string
}

/** Makes a branch at a checkpoint, in the same thread or as a new one, in one commit. Runs nothing. */
export async function fork(
  app: App,
  tenant: string,
  thread: string,
  options: ForkOptions,
): Promise<Forked> {
  const { from = null, ...more } = Object(options) as Partial<ForkOptions>
  check(
    'Cannot fork',
    { thread: text, from: text, to: text, update: anything },
    { thread, from, ...more },
  )
  return retried(`Cannot fork thread "${thread}"`, thread, async () => {
    const tried = await look(app, tenant, thread, async (source) => ({
      forked: await attempt(app, source, options),
    }))
    if (!tried) {
      throw new UnknownCheckpoint(
        `Cannot use checkpoint "${options.from}": there is no thread "${thread}"`,
        { thread, checkpoint: options.from },
      )
    }
    return tried.forked
  })
}

/** `undefined` if somebody else changed the thread at the same time. */
async function attempt(
  app: App,
  source: Claim,
  { from, update, to }: ForkOptions,
): Promise<Forked | undefined> {
  const { tenant, thread } = source.head
  const run = new Run(app, {})
  run.claim = source
  run.tookOver = source.head.owner !== ''
  if (to === undefined) {
    if (owned(source.head, app.owner.clock.now())) throw busy('fork', thread, source.head)
    if (run.tookOver) skipAhead(source.head, app.owner.clock.now())
  } else if (await exists(app, tenant, to)) throw occupied(to)
  const level = (run.level = new Level(run, app.plan))
  const at = await stand(run, level, { from, apart: true })
  const admission: Admission = { puts: [], deletes: [] }
  if (to !== undefined) await emigrate(app, run, level, to, admission)
  if (update !== undefined) await replace(app, level.state, update)
  const edited = Object.keys(update ?? {}).length > 0
  await branch(run, level, admission, { at, from: source, edited })
  const { claim } = run
  const { head } = claim
  head.status = at.next.length > 0 ? 'starting' : 'success'
  head.error = undefined
  head.strikes = 0
  if (await claim.take(admission, false))
    return { thread: head.thread, checkpoint: head.checkpoint }
  if (to !== undefined) throw occupied(to)
  return undefined
}

/** Makes a level that stands in one thread the first of another. */
async function emigrate(
  app: App,
  run: Run,
  level: Level,
  thread: string,
  { puts }: Admission,
): Promise<void> {
  const { metadata, tenant, standing } = run.claim.head
  const kept = standing?.filter(notCut(level.cuts)).map((one) => ({ ...one, n: 0 }))
  const claim = (run.claim = await newClaim(app, tenant, thread))
  const { head } = claim
  head.metadata = metadata
  head.standing = kept
  level.state = level.state.apart()
  level.checkpoint = ''
  level.cuts = []
  level.log.seq = head.seq
  puts.push(listing(claim))
}

/** Whether there is a thread of that id, be it of another graph. */
export async function exists(app: App, tenant: string, thread: string): Promise<boolean> {
  try {
    return (await find(app, tenant, thread)) !== undefined
  } catch (error) {
    if (isHeddleError(error, 'graph_mismatch')) return true
    throw error
  }
}

/** Says that the id of a new thread is taken. */
export const occupied = (thread: string): Error =>
  new ThreadExists(`Cannot make thread "${thread}": there is one of that id`, { thread })
