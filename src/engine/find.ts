import { readCheckpoint, type Checkpoint } from '../durable/checkpoint.ts'
import { Claim } from '../durable/claim.ts'
import { Unreadable } from '../durable/codec.ts'
import type { Head, OpenPause } from '../durable/head.ts'
import {
  address,
  checkpointKey,
  directoryKey,
  dueKey,
  part,
  pauseKey,
  rootPrefix,
  stopKey,
} from '../durable/keys.ts'
import { journalRows, readEntries, type Entry } from '../durable/journal.ts'
import { loadHead } from '../durable/long-head.ts'
import { readPause, type PauseRecord } from '../durable/pause.ts'
import { CorruptCheckpoint, GraphMismatch, ThreadBusy, UnknownCheckpoint } from '../errors.ts'
import { tidy } from '../lib/tidy.ts'
import type { Key } from '../store/store.ts'
import type { App } from './run.ts'

/** Finds a thread: the claim on it that comes back has not been taken yet, and is good for reading. */
export async function find(app: App, tenant: string, thread: string): Promise<Claim | undefined> {
  return findAt(app, (await address(app.plan.name, tenant, thread)).place, thread)
}

/** The same by its place, which is what the keys of index rows know of it. */
export async function findAt(app: App, place: string, name = place): Promise<Claim | undefined> {
  const { plan, owner } = app
  const { store, clock } = owner
  const found = await readable(name, () => loadHead(store, place))
  if (!found) return undefined
  const { entry, head, row } = found
  const { born, created, checkpoint, graph, thread, tenant, status, until, redo = [] } = head
  if (status === 'deleted') {
    // The last parts of a delete; a crash may have cut it short. What a tick finds it by goes last.
    const checks = [entry]
    const rows = redo.map(([key]) => key)
    if (rows.length > 0) await store.commit({ checks, deletes: rows })
    await store.clear(rootPrefix(place, born))
    const due = dueKey({ graph: await part(plan.name), tenant, place }, until, 'lease')
    await store.commit({ checks, deletes: [entry.key, stopKey(place), due], durable: true })
    return undefined
  }
  const at = await readable(name, async () => {
    const here = await address(plan.name, tenant, thread)
    if (here.place !== place) throw new Unreadable('its head is that of another thread')
    return here
  })
  const claim = new Claim(owner, at, head, entry.revision, row)
  assertGraph('use', app, thread, graph)
  if (checkpoint) return claim
  // Its first rows are on their way, or who writes them has died.
  if (owned(head, clock.now())) return undefined
  head.status = 'deleted'
  await claim.take({ puts: [], deletes: [directoryKey(at, created)] })
  return findAt(app, place, name)
}

/** How often a thread is read again that somebody else changes at the same time. */
export const TRIES = 20

/**
 * Tries again what somebody else has been faster at.
 *
 * @param attempt `undefined` if it is to be tried again
 * @throws ThreadBusy
 */
export async function retried<Value>(
  cannot: string,
  thread: string,
  attempt: () => Promise<Value | undefined>,
): Promise<Value> {
  for (let left = TRIES; left > 0; left--) {
    const done = await attempt()
    if (done !== undefined) return done
  }
  throw outrun(cannot, thread)
}

/** Says that somebody else was faster each time. */
export const outrun = (cannot: string, thread: string): Error =>
  new ThreadBusy(`${cannot}: somebody else is at it`, { thread })

/** Refuses a thread of another graph. */
export function assertGraph(verb: string, { plan }: App, thread: string, graph: string): void {
  if (graph === plan.name) return
  throw new GraphMismatch(
    `Cannot ${verb} thread "${thread}" with graph "${plan.name}": it belongs to graph "${graph}"`,
    { thread, graph },
  )
}

/**
 * Looks at a thread. What can't be read may be what somebody has removed since: then it is looked at again.
 *
 * @returns `undefined` without such a thread
 */
export async function look<Value>(
  app: App,
  tenant: string,
  thread: string,
  read: (claim: Claim) => Promise<Value>,
): Promise<Value | undefined> {
  let seen = ''
  for (let left = TRIES; ; left--) {
    const claim = await find(app, tenant, thread)
    if (!claim) return undefined
    const now = `${claim.head.born}.${claim.head.commits}`
    try {
      return await read(claim)
    } catch (error) {
      if (!(error instanceof CorruptCheckpoint) || seen === now || left === 0) throw error
      seen = now
    }
  }
}

/** Whether an owner has a thread right now. */
export const owned = (head: Head, now: number): boolean => head.owner !== '' && head.until > now

/** Whether a thread waits for somebody. A cancel may have died between what it voids and its end: then nothing does. */
export const isPaused = ({ status, open }: Head): boolean =>
  (status === 'interrupted' || status === 'waiting') && open.length > 0

/** The timers and the questions of a thread whose time has come. */
export const dueIn = (head: Head, now: number): OpenPause[] =>
  head.open.filter(({ due = Infinity }) => due <= now)

/**
 * Does what reads rows of a thread.
 *
 * @param checkpoint The one that is read
 * @param newest The newest checkpoint, which must be there
 * @throws CorruptCheckpoint naming what can't be read, UnknownCheckpoint
 */
export async function readable<Value>(
  thread: string,
  work: () => Value | Promise<Value>,
  checkpoint?: string,
  newest: string | undefined = checkpoint,
): Promise<Value> {
  try {
    if (checkpoint !== undefined && !/^[0-9a-z]{14}$/.test(checkpoint))
      throw new Unreadable(MISSING)
    return await work()
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    const { message: why } = error
    if (checkpoint && checkpoint !== newest && why === MISSING) {
      throw new UnknownCheckpoint(
        `Cannot use checkpoint "${checkpoint}": thread "${thread}" has none of that id`,
        { thread, checkpoint },
      )
    }
    throw new CorruptCheckpoint(
      `Cannot read ${checkpoint ? `checkpoint "${checkpoint}" of ` : ''}thread "${thread}": ${why}`,
      tidy({ thread, checkpoint, why }),
    )
  }
}

/** The texts of rows that must be there. */
export async function texts(
  claim: Claim,
  keys: readonly Key[],
  what: string,
): Promise<readonly string[]> {
  return (await claim.get(keys)).map((row) => {
    if (!row) throw new Unreadable(`${what} is missing`)
    return row.value
  })
}

/** Why a checkpoint can't be read that isn't there. */
const MISSING = 'its row is missing'

/** The row of a checkpoint. */
export async function checkpointAt(claim: Claim, space: string, id: string): Promise<Checkpoint> {
  const [text] = await texts(claim, [checkpointKey(claim.root, space, id)], 'its row')
  return readCheckpoint(text as string, id)
}

/** What happened in the running step so far. */
export const entriesOf = async (claim: Claim): Promise<readonly Entry[]> =>
  readEntries(await texts(claim, journalRows(claim), 'a journal entry'))

/** What pauses are about, by their ids. */
export async function records(claim: Claim, ids: readonly string[]): Promise<PauseRecord[]> {
  const keys = ids.map((id) => pauseKey(claim.root, id))
  return (await texts(claim, keys, 'the record of a pause')).map(readPause)
}
