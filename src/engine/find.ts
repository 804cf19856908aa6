import { Claim } from '../durable/claim.ts'
import { Unreadable } from '../durable/codec.ts'
import { readHead, type Head, type OpenPause } from '../durable/head.ts'
import { address, dueKey, headKey, pauseKey } from '../durable/keys.ts'
import { readPause, type PauseRecord } from '../durable/pause.ts'
import { CorruptCheckpoint, GraphMismatch, UnknownCheckpoint } from '../errors.ts'
import { tidy } from '../lib/tidy.ts'
import type { Key } from '../store/store.ts'
import { MISSING } from './level.ts'
import type { App } from './run.ts'

/** Finds a thread: the claim on it that comes back has not been taken yet, and is good for reading. */
export async function find(app: App, tenant: string, thread: string): Promise<Claim | undefined> {
  return findAt(app, (await address(app.plan.name, tenant, thread)).place, thread)
}

/** The same by its place, which is what the keys of index rows know of it. */
export async function findAt(
  { plan, owner }: App,
  place: string,
  name = place,
): Promise<Claim | undefined> {
  const { store } = owner
  const key = headKey(place)
  const [entry] = await store.get([key])
  if (!entry) return undefined
  const { revision, value } = entry
  const claim = await readable(name, async () => {
    const head = readHead(value)
    const at = await address(plan.name, head.tenant, head.thread)
    if (at.place !== place) throw new Unreadable('its head is that of another thread')
    return new Claim(owner, at, head, revision)
  })
  const { graph, thread, status, until, redo = [] } = claim.head
  if (status === 'deleted') {
    // The last two parts of a delete; a crash may have cut it short. What a tick finds it by goes last.
    await store.clear(claim.root)
    const rows = redo.map(([row]) => row)
    const deletes = [...rows, key, dueKey(claim.at, until, 'lease')]
    await store.commit({ checks: [{ key, revision }], deletes, durable: true })
    return undefined
  }
  if (graph !== plan.name) {
    throw new GraphMismatch(
      `Cannot use thread "${thread}" with graph "${plan.name}": it belongs to graph "${graph}"`,
      { thread, graph },
    )
  }
  return claim
}

/** Whether an owner has a thread right now. */
export const owned = (head: Head, now: number): boolean => head.owner !== '' && head.until > now

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

/** What pauses are about, by their ids. */
export async function records(claim: Claim, ids: readonly string[]): Promise<PauseRecord[]> {
  const keys = ids.map((id) => pauseKey(claim.root, id))
  return (await texts(claim, keys, 'the record of a pause')).map(readPause)
}
