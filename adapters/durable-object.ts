import { StorageClosed } from '../src/index.ts'
import type { Entry, Key, Store } from '../src/index.ts'

/** The part of a Durable Object's storage this adapter uses. */
export interface ObjectStorage {
  readonly sql: {
    exec(query: string, ...bindings: (string | number)[]): { toArray(): object[] }
  }
  transactionSync<Value>(work: () => Value): Value
  sync(): Promise<void>
}

const NAME = 'durable-object'
/** A row may have 2 MB, of which key and revision need a little. */
const MAX_VALUE_BYTES = 1_900_000

const TABLE =
  'CREATE TABLE IF NOT EXISTS heddle' +
  '(key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL, revision TEXT NOT NULL) WITHOUT ROWID'
const ONE = 'SELECT key, value, revision FROM heddle WHERE key = ?'

/**
 * Keeps everything in one Durable Object, in a table `heddle` that is made on first use. A commit is one synchronous
 * transaction; one marked `durable` is on disk when it resolves, the others before anything leaves the object.
 *
 * @param storage `ctx.storage` of a class with SQLite (`new_sqlite_classes`); on another, calls reject
 */
export function durableObjectStore(storage: ObjectStorage): Store {
  let closed = false

  const rows = (query: string, ...bindings: (string | number)[]): Entry[] =>
    storage.sql.exec(query, ...bindings).toArray() as Entry[]

  /** All or nothing, nobody in between. */
  function atOnce<Result>(work: () => Result): Result {
    if (closed) throw new StorageClosed(`Cannot use store "${NAME}": it is closed`, { store: NAME })
    try {
      return storage.transactionSync(work)
    } catch (error) {
      if (!String(error).includes('no such table: heddle')) throw error
      rows(TABLE)
      return storage.transactionSync(work)
    }
  }

  return {
    name: NAME,
    caps: {
      atomic: true,
      consistency: 'strong',
      maxValueBytes: MAX_VALUE_BYTES,
      maxBatchRows: Infinity,
      maxBatchBytes: 64 * 1024 * 1024,
    },

    get: async (keys) => atOnce(() => keys.map((key) => rows(ONE, key)[0])),

    list: async ({ prefix, after = '', limit }) =>
      atOnce(() =>
        rows(
          `SELECT key, value, revision FROM heddle WHERE key ${after < prefix ? '>=' : '>'} ? AND key < ? ORDER BY key LIMIT ?`,
          after < prefix ? prefix : after,
          endOf(prefix),
          Math.min(limit, Number.MAX_SAFE_INTEGER),
        ),
      ),

    async commit({ checks = [], puts = [], deletes = [], durable }) {
      const long = puts.find(({ value }) => isLong(value))
      if (long) throw new RangeError(`Cannot write row "${long.key}": its value is over 1.9 MB`)
      const revision = crypto.randomUUID()
      const written = atOnce(() => {
        if (checks.some((check) => rows(ONE, check.key)[0]?.revision !== check.revision))
          return false
        for (const { key, value } of puts)
          rows('INSERT OR REPLACE INTO heddle VALUES (?, ?, ?)', key, value, revision)
        for (const key of deletes) rows('DELETE FROM heddle WHERE key = ?', key)
        return true
      })
      if (!written) return undefined
      if (durable) await storage.sync()
      return revision
    },

    clear: async (prefix) =>
      void atOnce(() =>
        rows('DELETE FROM heddle WHERE key >= ? AND key < ?', prefix, endOf(prefix)),
      ),

    async close() {
      closed = true
    },
  }
}

const endOf = (prefix: Key): Key => `${prefix}\x7f`
const isLong = (value: string): boolean =>
  value.length * 3 > MAX_VALUE_BYTES && new TextEncoder().encode(value).length > MAX_VALUE_BYTES
