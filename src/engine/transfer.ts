import { entryTexts } from '../durable/journal.ts'
import { headKey, journalKey, runKey } from '../durable/keys.ts'
import type { Metadata, Thread } from '../durable/records.ts'
import { cancelled } from '../durable/outcome.ts'
import { errorInfo, type RunEnd } from '../durable/run-record.ts'
import { pack, unpack, type ThreadExport } from '../durable/transfer.ts'
import { NothingToResume } from '../errors.ts'
import { usageOf } from '../usage.ts'
import { check, type Rule } from '../lib/check.ts'
import { assertGraph, find, readable, retried } from './find.ts'
import { exists, occupied } from './fork.ts'
import { gather } from './gather.ts'
import { threadOf } from './list.ts'
import { listing, metadataFrom, newClaim } from './open.ts'
import { assertListed } from './prune.ts'
import { isObject, text } from './request.ts'
import { indexPuts } from './pause-index.ts'
import type { App } from './run.ts'

/** Under which id a thread arrives, and what is added to its metadata. */
export interface Arrival {
  /** @default the id that it had */
  readonly to?: string
  readonly metadata?: Metadata
}

/**
 * A thread as one value, as it stands between two commits. One that somebody runs is as if it had been cancelled there.
 *
 * @throws NothingToResume without such a thread, ThreadBusy if it changes too fast, CorruptCheckpoint
 */
export async function exportThread(
  app: App,
  tenant: string,
  thread: string,
): Promise<ThreadExport> {
  const { store, clock } = app.owner
  const cannot = `Cannot export thread "${thread}"`
  return retried(cannot, thread, async () => {
    const claim = await find(app, tenant, thread)
    if (!claim) throw new NothingToResume(`${cannot}: it does not exist`, { thread })
    assertListed(app, claim, 'export')
    const { head, at, revision } = claim
    const rows = new Map(await gather(app, claim))
    if ((await store.get([headKey(at.place)]))[0]?.revision !== revision) return undefined
    if (head.owner !== '') {
      const { checkpoint, seq, open, usage: used } = head
      const told = { checkpoint, seq, open: open.map(({ id }) => id) }
      const error = errorInfo(cancelled(thread))
      const [usage, time] = [usageOf(used), clock.now()]
      const end: RunEnd = { status: 'cancelled', error, usage, time, ...told }
      rows.set(`${runKey('', head.runNumber)}.e`, JSON.stringify(end))
      head.status = 'cancelled'
      head.error = undefined
    }
    return readable(thread, () => pack(head, rows))
  })
}

const anObject: Rule = [isObject, 'an object']

/**
 * Makes a thread of what `exportThread` gave. All of it is checked before anything is written, and nobody sees the thread
 * before all of it is there. Nobody runs it then: `run` goes on with it.
 *
 * @throws CorruptCheckpoint if it isn't what was exported, GraphMismatch, ThreadExists
 */
export async function importThread(
  app: App,
  tenant: string,
  value: ThreadExport,
  arrival: Arrival = {},
): Promise<Thread> {
  check('Cannot import', { value: anObject }, { value: value ?? null })
  check('Cannot import', { to: text, metadata: anObject }, arrival)
  const { owner } = app
  const from = typeof value.thread === 'string' ? value.thread : ''
  const { to: thread = from, metadata = {} } = arrival
  const added = metadataFrom(metadata, thread)
  const { head: brought, rows, journal } = await readable(from, () => unpack(value))
  assertGraph('import', app, from, value.graph)
  if (await exists(app, tenant, thread)) throw occupied(thread)
  const claim = await newClaim(app, tenant, thread)
  const { root } = claim
  const puts = [...rows].map(([key, row]) => ({ key: root + key, value: row }))
  const entries = journal.flatMap((entry) => entryTexts(entry, owner.store.caps.maxValueBytes))
  for (const [n, entry] of entries.entries())
    puts.push({ key: journalKey(root, brought.journal, n), value: entry })
  // A head that leads nowhere is no thread's: whoever finds it when its lease is over removes what is there by then.
  if (!(await claim.take({ puts: [], deletes: [] }))) throw occupied(thread)
  try {
    await claim.commit({ puts })
    await claim.release((head) => {
      Object.assign(head, brought, {
        metadata: { ...brought.metadata, ...added },
        entries: entries.length > 0 ? [[0, entries.length]] : [],
        last: Math.max(head.last, brought.last),
      })
      return { puts: [listing(claim), ...head.open.flatMap((open) => indexPuts(claim, open))] }
    })
  } catch (error) {
    claim.recover()
    // Nothing of it stays, if that can be written.
    await claim.release(() => ({})).catch(() => {})
    await find(app, tenant, thread).catch(() => {})
    throw error
  }
  return threadOf(claim.head)
}
