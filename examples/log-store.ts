import { StorageClosed, type Batch, type Entry, type Key, type Store } from 'heddle'

const limits = { maxValueBytes: Infinity, maxBatchRows: Infinity, maxBatchBytes: Infinity }

/** Where lines go: a file, a socket, an array. Those written before are given to the next `logStore`. */
export interface Log {
  readonly lines: Iterable<string>
  append(line: string): Promise<void> | void
}

/** Keeps rows in a Map, and every change as one line of a log: the lines alone bring the rows back. One writer at a time. */
export function logStore(log: Log): Store {
  const rows = new Map<Key, Entry>()
  let count = 0
  let closed = false
  let queue: Promise<unknown> = Promise.resolve()

  function apply({ puts = [], deletes = [] }: Batch): void {
    const revision = String(++count)
    for (const { key, value } of puts) rows.set(key, { key, value, revision })
    for (const key of deletes) rows.delete(key)
  }

  const under = (prefix: Key): Key[] =>
    [...rows.keys()].filter((key) => key.startsWith(prefix)).sort()

  const passes = ({ checks = [] }: Batch): boolean =>
    checks.every(({ key, revision }) => rows.get(key)?.revision === revision)

  async function write({ puts = [], deletes = [] }: Batch): Promise<string> {
    await log.append(JSON.stringify({ puts, deletes }))
    apply({ puts, deletes })
    return String(count)
  }

  // One change after the other, so that no check passes on what another is about to write.
  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (closed) throw new StorageClosed('Cannot use store "log": it is closed', { store: 'log' })
    const done = queue.then(work)
    queue = done.catch(() => {})
    return done
  }

  for (const line of log.lines) apply(JSON.parse(line) as Batch)
  return {
    name: 'log',
    caps: { atomic: true, consistency: 'strong', ...limits },
    get: async (keys) => inTurn(async () => keys.map((key) => rows.get(key))),
    list: async ({ prefix, after = '', limit }) =>
      inTurn(async () => {
        const found = under(prefix).filter((key) => key > after)
        return found.slice(0, limit).map((key) => rows.get(key)!)
      }),
    commit: async (batch) => inTurn(async () => (passes(batch) ? write(batch) : undefined)),
    clear: async (prefix) => inTurn(async () => void (await write({ deletes: under(prefix) }))),
    close: async () => void (closed = true),
  }
}
