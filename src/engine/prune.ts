import { readCheckpoint, type Checkpoint } from '../durable/checkpoint.ts'
import type { Claim } from '../durable/claim.ts'
import type { Head } from '../durable/head.ts'
import { checkpointIn, headKey } from '../durable/keys.ts'
import type { LogRef } from '../durable/log.ts'
import { assertSafe } from '../durable/outcome.ts'
import { iso } from '../durable/pause.ts'
import { reach, refsOf, type Keeps, type Reach, type ThreadRows } from '../durable/reach.ts'
import { ThreadBusy } from '../errors.ts'
import type { Key } from '../store/store.ts'
import { check, wholeFrom, type Rule } from '../lib/check.ts'
import { find, readable, retried } from './find.ts'
import { gather } from './gather.ts'
import { rows } from './list.ts'
import { busy } from './open.ts'
import type { App } from './run.ts'

/** What stays of a thread's checkpoints: what either of the two keeps, and what is needed to go on. */
export interface Kept {
  /** So many of the newest of the thread's own graph, and what child graphs have stored since. */
  readonly keepLast?: number
  /** Those that are not older. */
  readonly olderThan?: Date
}

/** How long lists may miss what was written, where reads may lag. */
const LAG_MS = 600_000

const RULES: { readonly [member: string]: Rule } = {
  keepLast: wholeFrom(1),
  olderThan: [(date: unknown) => date instanceof Date && !Number.isNaN(Number(date)), 'a Date'],
}

/**
 * Drops old checkpoints and whatever only they needed, what crashes left, and what nothing leads to. What is kept is read
 * as before. Safe to repeat.
 *
 * @returns How many checkpoints are gone, those of child graphs included
 */
export async function prune(
  app: App,
  tenant: string,
  thread: string,
  kept: Kept,
): Promise<{ readonly removed: number }> {
  const cannot = `Cannot prune thread "${thread}"`
  check(cannot, RULES, kept)
  if (kept.keepLast === undefined && kept.olderThan === undefined)
    throw new TypeError(`${cannot}: neither keepLast nor olderThan says what stays`)
  const { store } = app.owner
  const removed = new Set<Key>()
  return retried(cannot, thread, async () => {
    const claim = await find(app, tenant, thread)
    if (!claim) return { removed: removed.size }
    const { head, root, at, revision } = claim
    assertSafe(store, thread)
    if (head.owner !== '') throw busy('prune', thread, head)
    assertListed(app, claim, 'prune')
    const found = await gather(app, claim)
    const reached = await readable(thread, () => reach(head, found, keeping(head, found, kept)))
    const gone = [...found.keys(), ...(await strays(app, root, found))].filter(
      (key) => !isNeeded(key.replace(/^x\/(.*)\.\d+$/, '$1'), head, reached),
    )
    if (gone.length === 0) return { removed: removed.size }
    const isOld = (key: Key): boolean => key.startsWith('c/')
    const named = (keys: readonly Key[]): Key[] => keys.map((key) => root + key)
    const old = named(gone.filter(isOld))
    for (const key of old) removed.add(key)
    // Who reads the head after this finds no old checkpoint to branch from, and who has read it before can't claim the
    // thread by that: nobody needs what goes last.
    const checks = [{ key: headKey(at.place), revision }]
    if (old.length > 0 && (await store.commit({ checks, deletes: old })) === undefined)
      return undefined
    // A key is remembered as long as its run is.
    if (head.key && !reached.needed.has(head.key[0])) head.key = undefined
    if (!(await claim.take({ puts: [], deletes: [] }, false))) return undefined
    await store.commit({ deletes: named(gone.filter((key) => !isOld(key))) })
    return { removed: removed.size }
  })
}

/** Pieces of rows that are not there. */
async function strays(app: App, root: Key, found: ThreadRows): Promise<Key[]> {
  const keys: Key[] = []
  if (app.owner.store.caps.maxValueBytes === Infinity) return keys
  for await (const { key } of rows(app, `${root}x/`)) {
    const [piece, of = ''] = /^x\/(.*)\.\d+$/.exec(key.slice(root.length)) ?? []
    if (piece && !of.startsWith('h/') && !found.has(of)) keys.push(piece)
  }
  return keys
}

/** Refuses while lists may miss rows, which they do where reads lag. */
export function assertListed(
  { owner: { store, clock } }: App,
  { head: { thread, updated } }: Claim,
  verb: string,
): void {
  if (store.caps.consistency === 'strong' || updated + LAG_MS <= clock.now()) return
  const until = iso(updated + LAG_MS)
  throw new ThreadBusy(
    `Cannot ${verb} thread "${thread}": store "${store.name}" may not list all of it until ${until}`,
    { thread, until },
  )
}

/** Which checkpoints stay that nothing under way needs. */
function keeping(
  { checkpoint }: Head,
  found: ThreadRows,
  { keepLast = 0, olderThan }: Kept,
): Keeps {
  const own = [...found]
    .filter(([key]) => key.startsWith('c/-/'))
    .map(([key, text]) => [checkpointIn(key), text] as const)
  const isYoung = ({ time }: Checkpoint): boolean =>
    olderThan !== undefined && time >= Number(olderThan)
  const made = own.filter(([id]) => id <= checkpoint)
  const last = keepLast > 0 ? (made[keepLast - 1]?.[0] ?? '') : checkpoint
  // By a clock that was set back some may count as older that were made later: they stay too, so that a line stays.
  const young = olderThan && own.filter(([id, text]) => isYoung(readCheckpoint(text, id))).at(-1)
  const first = young && young[0] < last ? young[0] : last
  return (id, space, row) =>
    space === '-' ? id >= first : (keepLast > 0 && id >= last) || isYoung(row())
}

/** Whether a row stays: something leads to it, or somebody who has read the head may be about to write it. */
function isNeeded(
  key: Key,
  { checkpoint, journal }: Head,
  { needed, checkpoints }: Reach,
): boolean {
  if (needed.has(key)) return true
  const [kind = '', name = '', rest = ''] = key.split('/')
  const step = name.slice(0, checkpoint.length)
  if (kind === 'w') return name === journal || step >= checkpoint
  if (kind === 's') {
    const newest = checkpoints.get(checkpoint)
    const [at, count] = rest.split('.').map((n) => Number.parseInt(n, 36)) as [number, number]
    // Who goes on from where others may write begins a log of their own.
    const grows = ([log, updates, shared]: LogRef): boolean =>
      log === name && !shared && at + count > updates
    return step > checkpoint || refsOf(newest?.state ?? {}).some(grows)
  }
  return !'bcefikr'.includes(kind)
}
