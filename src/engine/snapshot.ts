import { Unreadable } from '../durable/codec.ts'
import { landing } from '../durable/head.ts'
import { nodeOf, readCheckpoint, type Checkpoint } from '../durable/checkpoint.ts'
import type { Claim } from '../durable/claim.ts'
import {
  checkpointIn,
  checkpointKey,
  checkpointPrefix,
  numberOf,
  spacePrefix,
} from '../durable/keys.ts'
import { iso } from '../durable/pause.ts'
import type { Snapshot, Status } from '../durable/records.ts'
import { State } from '../durable/state.ts'
import { CorruptCheckpoint, UnknownCheckpoint } from '../errors.ts'
import { tidy } from '../lib/tidy.ts'
import { checkpointAt, find, look, readable, records } from './find.ts'
import { rows, shownOf, type Part } from './list.ts'
import type { App } from './run.ts'
import { stateOf } from './stored.ts'
import { shown } from './suspend.ts'
import { snapshot } from './view.ts'

/** What a reader may ask of a namespace: the thread's own graph, or a child by its path. */
interface Within {
  readonly ns?: readonly string[]
}

/** Where a thread stands, now or at a checkpoint. */
export async function state(
  app: App,
  tenant: string,
  thread: string,
  { checkpoint, ns }: Within & { readonly checkpoint?: string } = {},
): Promise<Snapshot | undefined> {
  if (ns?.length && checkpoint === undefined) {
    for await (const newest of history(app, tenant, thread, { ns, limit: 1 })) return newest
    return undefined
  }
  const space = (claim: Claim): Promise<string | undefined> => spaceOf(app, claim, ns)
  return snapshotAt(app, tenant, thread, checkpoint, space)
}

/** The snapshot of a checkpoint, the newest if none is named; `undefined` if there is none such, or none any more. */
async function snapshotAt(
  app: App,
  tenant: string,
  thread: string,
  checkpoint: string | undefined,
  within: (claim: Claim) => string | undefined | Promise<string | undefined>,
): Promise<Snapshot | undefined> {
  try {
    return await look(app, tenant, thread, async (claim) => {
      const space = await within(claim)
      const id = checkpoint ?? claim.head.checkpoint
      if (!space) return undefined
      return await show(app, claim, space, id, () => checkpointAt(claim, space, id))
    })
  } catch (error) {
    if (error instanceof UnknownCheckpoint) return undefined
    throw error
  }
}

/** Checkpoints, newest first. */
export async function* history(
  app: App,
  tenant: string,
  thread: string,
  { ns, before, limit }: Within & Part = {},
): AsyncGenerator<Snapshot> {
  const claim = await find(app, tenant, thread)
  const space = claim && (await spaceOf(app, claim, ns))
  if (!space) return
  const { root, head } = claim
  const after = before === undefined ? undefined : checkpointKey(root, space, before)
  const page = Math.min(limit ?? 100, 100)
  const landed = landing(head.seq)
  const entries = rows(app, checkpointPrefix(root, space), after, page)
  yield* shownOf(entries, { limit } as Part, ({ key, value }) => {
    const id = checkpointIn(key)
    // Of one that is on its way nobody reads the rows: where reads lag, they would be missed for a while.
    if (numberOf(id) > head.last) return undefined
    let lost = false
    const read = (): Checkpoint => {
      const row = readCheckpoint(value, id)
      lost = space === '-' && !landed(...row.seq)
      if (lost) throw new Unreadable('it never landed')
      return row
    }
    return show(app, claim, space, id, read)
      .catch((error: unknown) => {
        if (lost) return undefined
        if (!(error instanceof CorruptCheckpoint)) throw error
        return snapshotAt(app, tenant, thread, id, () => space)
      })
      .catch((error: unknown) => {
        // Where a commit can be torn, one may lie about that was never led to.
        const torn = !app.owner.store.caps.atomic && error instanceof CorruptCheckpoint
        if (!torn || !error.details.why.endsWith(' is missing')) throw error
        return undefined
      })
  })
}

/** The name of a namespace's rows; of a child graph that ran more than once, the newest. */
export async function spaceOf(
  { owner }: App,
  { root }: Claim,
  ns: readonly string[] = [],
): Promise<string | undefined> {
  if (ns.length === 0) return '-'
  const [newest] = await owner.store.list({ prefix: await spacePrefix(root, ns), limit: 1 })
  return newest?.value
}

function show(
  app: App,
  claim: Claim,
  space: string,
  id: string,
  read: () => Checkpoint | Promise<Checkpoint>,
): Promise<Snapshot> {
  const { head, root } = claim
  const { thread, checkpoint, open, metadata } = head
  const newest = id === checkpoint
  const made = async (): Promise<Snapshot> => {
    const row = await read()
    const stored = (): Promise<State> => State.load(undefined, root, row.state, claim, false)
    // A look is never refused for what a run would be refused for: then it shows what is stored.
    const today = (): Promise<State> => stateOf(app.plan, row, claim, false).catch(stored)
    const values = await (space === '-' ? today() : stored())
    const pauses = newest
      ? await records(
          claim,
          open.map((one) => one.id),
        )
      : []
    const names = row.next.map(({ key }) => nodeOf(key)).filter((name) => name !== 'start')
    const then = row.next.length > 0 ? 'running' : 'success'
    return tidy<Snapshot>({
      thread,
      ns: row.ns,
      checkpoint: id,
      parent: row.parent,
      step: row.step,
      source: row.source,
      run: row.run,
      createdAt: iso(row.time),
      status: newest ? (head.status as Status) : then,
      state: snapshot(values),
      next: [...new Set(names)],
      ...shown(thread, pauses, app.owner.clock.now()),
      error: newest ? head.error : undefined,
      metadata,
    })
  }
  return readable(thread, made, id, checkpoint)
}
