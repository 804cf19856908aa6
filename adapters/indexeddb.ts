import { wrap, type IDBPObjectStore } from 'idb'
import { StorageClosed, StorageQuota } from '../src/index.ts'
import type { Batch, Entry, Key, Range, Revision, Store } from '../src/index.ts'
import { beginLog, ignore, nameOf, open, randomId } from './indexeddb/open.ts'

/** What a page's database can tell its owner. */
export type IndexedDbEvent =
  /** A newer tab took the database over; this one reopens or fails typed. */
  | { readonly kind: 'superseded' }
  /** The browser emptied it; threads that vanished are not resurrected. */
  | { readonly kind: 'reset' }
  | { readonly kind: 'quota'; readonly freed: number }

/** How `indexedDb` keeps its rows. */
export interface IndexedDbOptions {
  /** @default 'heddle' */
  readonly name?: string
  /** `relaxed` is faster and can lose the last second in a power cut. @default 'strict' for batches marked `durable`, 'relaxed' otherwise */
  readonly durability?: 'strict' | 'relaxed'
  readonly onEvent?: (event: IndexedDbEvent) => void
  /** One that isn't the platform's needs its `IDBKeyRange` and so on as globals. @default globalThis.indexedDB */
  readonly factory?: IDBFactory
}

type Work<Result> = (db: IDBDatabase) => Promise<Result>
type Row = readonly [revision: Revision, value: string]

const MAX_VALUE_BYTES = 32 * 1024 * 1024
const GONE = 'the connection to the database is gone'
/** What a dead connection says in one browser or another. */
const LOST = ['AbortError', 'InvalidStateError', 'TransactionInactiveError', 'UnknownError']

/** Keeps everything in IndexedDB. Opens on first use; a database that doesn't open in 5 s is `storage_blocked`. */
export function indexedDb(options: IndexedDbOptions = {}): Store {
  const { name = 'heddle', durability, onEvent, factory } = options
  const writer = randomId()
  let commits = 0
  /** The id that the database got when it was made: another one later means that it was emptied. */
  let seen: unknown
  let connection: Promise<IDBDatabase> | undefined

  function emit(event: IndexedDbEvent): void {
    // Later: what a listener throws is the page's error, not a failed read.
    if (onEvent) queueMicrotask(() => onEvent(event))
  }

  function connect(): Promise<IDBDatabase> {
    const onLoss = (): void => {
      if (seen === undefined) emit({ kind: 'reset' })
    }
    const opening = open(factory ?? globalThis.indexedDB, name, onLoss).then(async (db) => {
      db.addEventListener('close', () => drop(opening))
      db.addEventListener('versionchange', ({ newVersion }) => {
        drop(opening)
        if (newVersion !== null) emit({ kind: 'superseded' })
      })
      const id = await databaseId(db).catch(() => seen)
      if (seen !== undefined && id !== seen) emit({ kind: 'reset' })
      // Not waited for: what it guards against takes another crash.
      if (seen === undefined && !factory) void beginLog(name)
      seen = id
      return db
    })
    opening.catch(() => drop(opening))
    return opening
  }

  function drop(opened: Promise<IDBDatabase>): void {
    if (connection === opened) connection = undefined
    opened.then((db) => db.close(), ignore)
  }

  /** Does one transaction; if its connection was dead, once more on a new one. */
  async function use<Result>(work: Work<Result>, again = true): Promise<Result> {
    const opened = (connection ??= connect())
    try {
      return await work(await opened)
    } catch (error) {
      if (!LOST.includes(nameOf(error))) throw error
      drop(opened)
      if (!again) throw error
      return use(work, false)
    }
  }

  const writing = (db: IDBDatabase, flush?: true): IDBTransaction =>
    db.transaction('rows', 'readwrite', {
      durability: durability ?? (flush ? 'strict' : 'relaxed'),
    })

  return {
    name: 'indexeddb',
    caps: {
      atomic: true,
      consistency: 'strong',
      maxValueBytes: MAX_VALUE_BYTES,
      maxBatchRows: Infinity,
      maxBatchBytes: Infinity,
    },

    get: (keys) =>
      use(async (db) => {
        const rows = reading(db, 'rows')
        const found: (Row | undefined)[] = await Promise.all(keys.map((key) => rows.get(key)))
        return found.map((row, at) => row && entry(keys[at]!, row))
      }),

    list: (range) =>
      use(async (db) => {
        const bounds = boundsOf(range)
        if (!bounds) return []
        const rows = reading(db, 'rows')
        // 0 would mean all, and more than 32 bits throw.
        const most = range.limit < 2 ** 32 ? range.limit : undefined
        const found = [rows.getAllKeys(bounds, most), rows.getAll(bounds, most)] as const
        const [keys, values] = await Promise.all(found)
        return keys.map((key, at) => entry(key as Key, values[at]))
      }),

    async commit(batch) {
      const long = batch.puts?.find(({ value }) => isLong(value))
      if (long) throw new RangeError(`Cannot write row "${long.key}": its value is over 32 MiB`)
      const revision = `${writer}.${(commits++).toString(36)}`
      try {
        const written = await use((db) => write(writing(db, batch.durable), batch, revision))
        return written ? revision : undefined
      } catch (error) {
        if (nameOf(error) !== 'QuotaExceededError') throw error
        emit({ kind: 'quota', freed: 0 })
        // Chromium keeps what was undone on disk until a commit: without one, small rows fail as well.
        await use((db) => write(writing(db), {}, revision)).catch(ignore)
        const message = `Cannot write to database "${name}": it is full`
        throw new StorageQuota(message, { freed: 0 }, { cause: error })
      }
    },

    clear: (prefix) =>
      use((db) => {
        const tx = writing(db)
        tx.objectStore('rows').delete(under(prefix))
        return done(tx)
      }),

    async close() {
      if (connection) drop(connection)
      const message = `Cannot use database "${name}": its store is closed`
      connection = Promise.reject(new StorageClosed(message, { store: name }))
      connection.catch(ignore)
    },
  }
}

const databaseId = async (db: IDBDatabase): Promise<unknown> => reading(db, 'meta').get('id')

/** An object store in a transaction of its own: await nothing but its requests. */
const reading = (db: IDBDatabase, store: 'rows' | 'meta'): IDBPObjectStore =>
  wrap(db.transaction(store).objectStore(store))

/** Writes a batch and tells so, unless a check fails. All requests go out at once: waiting costs. */
async function write(tx: IDBTransaction, batch: Batch, revision: Revision): Promise<boolean> {
  const { checks = [], puts = [], deletes = [] } = batch
  const end = done(tx)
  let refused = false
  let sent = false
  function send(): void {
    if (refused) return
    tx.commit()
    sent = true
  }
  try {
    const rows = tx.objectStore('rows')
    let last: IDBRequest | undefined
    for (const check of checks) {
      const request: IDBRequest<Row | undefined> = (last = rows.get(check.key))
      request.addEventListener('success', () => {
        if (refused || request.result?.[0] === check.revision) return
        refused = true
        tx.abort()
      })
    }
    for (const { key, value } of puts) last = rows.put([revision, value] satisfies Row, key)
    for (const key of deletes) last = rows.delete(key)
    // Not before: when a row fails after `commit()`, Firefox keeps the others.
    if (last) last.addEventListener('success', send)
    else send()
  } catch (error) {
    // Or what is queued so far would be committed.
    tx.abort()
    throw error
  }
  try {
    await end
    return true
  } catch (error) {
    if (refused) return false
    if (!sent || !LOST.includes(nameOf(error))) throw error
    // It may have landed: only the caller can find out.
    throw new Error(`Cannot tell if the batch was written: ${GONE}`, { cause: error })
  }
}

/** Settles with the transaction: a request that succeeded isn't written yet. */
function done(tx: IDBTransaction): Promise<void> {
  const end = new Promise<void>((resolve, reject) => {
    tx.addEventListener('complete', () => resolve())
    tx.addEventListener('abort', () => reject(tx.error ?? new DOMException(GONE, 'AbortError')))
  })
  end.catch(ignore)
  return end
}

/** The rows to list, if there can be any. */
function boundsOf({ prefix, after = '', limit }: Range): IDBKeyRange | undefined {
  if (!(limit >= 1) || after >= endOf(prefix)) return undefined
  return after < prefix ? under(prefix) : IDBKeyRange.bound(after, endOf(prefix), true, true)
}

const under = (prefix: Key): IDBKeyRange => IDBKeyRange.bound(prefix, endOf(prefix), false, true)
const endOf = (prefix: Key): Key => `${prefix}\x7f`
const entry = (key: Key, [revision, value]: Row): Entry => ({ key, value, revision })
const isLong = (value: string): boolean =>
  value.length * 3 > MAX_VALUE_BYTES && new TextEncoder().encode(value).length > MAX_VALUE_BYTES
