import { StorageClosed } from '../src/index.ts'
import type { Entry, Key, Put, Store } from '../src/index.ts'

/** The part of a D1 binding this adapter uses. */
export interface D1 {
  prepare(query: string): D1Statement
  /** One transaction: the statement that fails undoes all. */
  batch(statements: D1Statement[]): Promise<{ results: unknown[] }[]>
}

/** A statement of a D1 binding. */
export interface D1Statement {
  bind(...values: (string | number)[]): D1Statement
}

/** Where rows lie. */
export interface D1Options {
  /** Letters, digits and `_`. @default 'heddle' */
  readonly table?: string
}

const NAME = 'd1'
const MAX_VALUE_BYTES = 1_000_000
/** A bound value may have 2 MB. This many characters, and as many again, have fewer. */
const BOUND = 300_000
/** How many rows go at once when a prefix is cleared: a query has 30 seconds. */
const CLEARED = 1000

/**
 * Keeps everything in one table of a D1 database, made on first use. A commit is one batch: a check that fails breaks a
 * rule of the table, and everything is undone.
 *
 * @param database The binding itself: a session may read what is old
 * @param options The table's name
 * @throws {RangeError} The table's name has other characters
 */
export function d1(database: D1, { table = 'heddle' }: D1Options = {}): Store {
  if (!/^[a-z_]\w*$/i.test(table))
    throw new RangeError(`Cannot use table "${table}": its name may have letters, digits and _`)
  const conflict = `NOT NULL constraint failed: ${table}.key`
  let closed = false

  const prepare = (query: string, ...values: (string | number)[]): D1Statement =>
    database.prepare(query.replaceAll('heddle', `"${table}"`)).bind(...values)

  /** Does all statements or none; the rows that the last one gave. */
  async function run(statements: D1Statement[]): Promise<unknown[]> {
    if (closed) throw new StorageClosed(`Cannot use store "${NAME}": it is closed`, { store: NAME })
    if (statements.length === 0) return []
    let results
    try {
      results = await database.batch(statements)
    } catch (error) {
      if (!String(error).includes(`no such table: ${table}`)) throw error
      await database.batch([prepare(TABLE)])
      results = await database.batch(statements)
    }
    return results.at(-1)!.results
  }

  return {
    name: NAME,
    caps: {
      atomic: true,
      consistency: 'strong',
      maxValueBytes: MAX_VALUE_BYTES,
      maxBatchRows: 5000,
      maxBatchBytes: 1_500_000,
    },

    async get(keys) {
      const found = (await run([prepare(SOME, JSON.stringify(keys))])) as Entry[]
      const rows = new Map(found.map((row) => [row.key, row]))
      return keys.map((key) => rows.get(key))
    },

    async list({ prefix, after = '', limit }) {
      const [from, start] = after < prefix ? ['>=', prefix] : ['>', after]
      const most = Math.min(limit, Number.MAX_SAFE_INTEGER)
      return (await run([
        prepare(
          `SELECT key, value, revision FROM heddle WHERE key ${from} ? AND key < ? ORDER BY key LIMIT ?`,
          start,
          endOf(prefix),
          most,
        ),
      ])) as Entry[]
    },

    async commit({ checks = [], puts = [], deletes = [] }) {
      const long = puts.find(({ value }) => isLong(value))
      if (long) throw new RangeError(`Cannot write row "${long.key}": its value is over 1 MB`)
      const revision = crypto.randomUUID()
      const statements: D1Statement[] = []
      if (checks.length > 0) {
        const asked = checks.map((check) => [check.key, check.revision ?? null])
        statements.push(prepare(FAIL, JSON.stringify(asked)))
      }
      for (const [query, ...bound] of inserts(puts))
        statements.push(prepare(query, revision, ...bound))
      if (deletes.length > 0) statements.push(prepare(DELETE, JSON.stringify(deletes)))
      try {
        await run(statements)
        return revision
      } catch (error) {
        if (String(error).includes(conflict)) return undefined
        throw error
      }
    },

    async clear(prefix) {
      let gone
      do gone = await run([prepare(CLEAR, prefix, endOf(prefix), CLEARED)])
      while (gone.length === CLEARED)
    },

    async close() {
      closed = true
    },
  }
}

const TABLE =
  'CREATE TABLE IF NOT EXISTS heddle' +
  '(key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL, revision TEXT NOT NULL) WITHOUT ROWID'
const SOME = 'SELECT key, value, revision FROM heddle WHERE key IN (SELECT value FROM json_each(?))'
// A row without a key is against the table's rule: there is one for each check that fails.
const FAIL =
  "INSERT INTO heddle SELECT NULL, '', '' FROM json_each(?) AS asked" +
  ' LEFT JOIN heddle AS row ON row.key = asked.value ->> 0 WHERE row.revision IS NOT asked.value ->> 1'
const PUT_ONE = 'INSERT OR REPLACE INTO heddle VALUES (?2, ?3, ?1)'
const PUT_ALL =
  'INSERT OR REPLACE INTO heddle SELECT value ->> 0, value ->> 1, ?1 FROM json_each(?2)'
const DELETE = 'DELETE FROM heddle WHERE key IN (SELECT value FROM json_each(?))'
const CLEAR =
  'DELETE FROM heddle WHERE key IN (SELECT key FROM heddle WHERE key >= ? AND key < ? LIMIT ?) RETURNING key'

/** The statements that write rows: as few as there can be. Of puts of one row the last counts. */
function inserts(puts: readonly Put[]): [query: string, ...bound: string[]][] {
  const statements: [string, ...string[]][] = []
  let group: string[] = []
  let length = 0
  function write(): void {
    if (group.length > 0) statements.push([PUT_ALL, `[${group.join()}]`])
    group = []
    length = 0
  }
  for (const [key, value] of new Map(puts.map((put) => [put.key, put.value]))) {
    const row = JSON.stringify([key, value])
    if (row.length > BOUND) {
      statements.push([PUT_ONE, key, value])
      continue
    }
    group.push(row)
    length += row.length
    if (length > BOUND) write()
  }
  write()
  return statements
}

const endOf = (prefix: Key): Key => `${prefix}\x7f`
const isLong = (value: string): boolean =>
  value.length * 3 > MAX_VALUE_BYTES && new TextEncoder().encode(value).length > MAX_VALUE_BYTES
