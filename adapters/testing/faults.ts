import { StorageClosed, type Batch, type Key, type Revision, type Store } from '../../src/index.ts'

/** What goes wrong at one operation of a store; operations count from 1, reads included. Several may meet at one. */
export type Fault =
  /** The operation isn't done and the process is gone: this and every later call rejects with `Crash`. */
  | { readonly at: number; readonly crash: 'before' }
  /** It is done, then the process is gone. */
  | { readonly at: number; readonly crash: 'after' }
  /** It is done, but the caller gets an error and can't know. */
  | { readonly at: number; readonly lose: 'reply' }
  /** It is refused with this error. */
  | { readonly at: number; readonly error: Error }
  /** Only the first writes of a batch are done (puts, heads last, then deletes) or rows of a `clear`, and the caller gets an error; for stores that aren't atomic. */
  | { readonly at: number; readonly tear: number }
  /** It takes that long, in real milliseconds. */
  | { readonly at: number | 'all'; readonly delay: number }
  /** The caller stands still here until `release`; its rows land late. */
  | { readonly at: number; readonly freeze: true }

/** One call of a store. `keys`: those read, those put and deleted, or the prefix. */
export interface Operation {
  readonly n: number
  readonly op: 'get' | 'list' | 'commit' | 'clear'
  readonly keys: readonly string[]
}

/** A store as one process sees it, with what goes wrong there. */
export interface FaultyStore extends Store {
  /** Every operation so far. */
  readonly log: readonly Operation[]
  readonly crashed: boolean
  /** Lets frozen operations land. */
  release(): void
  /** The same data without faults: what a new process would open. */
  restart(faults?: readonly Fault[]): FaultyStore
  /** Closes this process's store; the one underneath stays open for others. */
  close(): Promise<void>
}

/** Thrown by a store whose process is gone. */
export class Crash extends Error {
  override readonly name = 'Crash'
}

/**
 * A store whose operations fail where told: it is the same data, seen by a process that has bad luck.
 *
 * @param store Where the data is; it is never closed
 * @param faults What goes wrong; nothing, if left out
 * @throws {RangeError} A fault is at no operation
 */
export function withFaults(store: Store, faults: readonly Fault[] = []): FaultyStore {
  for (const { at } of faults) {
    if (at !== 'all' && !(Number.isInteger(at) && at > 0))
      throw new RangeError(`Cannot fail at operation ${at}: operations count from 1`)
  }
  const log: Operation[] = []
  let frozen: (() => void)[] = []
  let crashed = false
  let closed = false

  function crash({ n, op }: Operation, when: string): never {
    crashed = true
    throw new Crash(`Cannot go on: the process is gone ${when} operation ${n} (${op})`)
  }

  function assertAlive(): void {
    if (crashed) throw new Crash('Cannot use the store: the process is gone')
  }

  async function operate<Result>(
    op: Operation['op'],
    keys: readonly string[],
    work: () => Promise<Result>,
    tear?: (writes: number) => Promise<Revision | undefined>,
  ): Promise<Result> {
    assertAlive()
    if (closed)
      throw new StorageClosed(`Cannot use store "${store.name}": it is closed`, {
        store: store.name,
      })
    const operation = { n: log.length + 1, op, keys }
    log.push(operation)
    const here = merged(faults, operation.n)
    if (here.delay !== undefined) await sleep(here.delay)
    if (here.freeze) await new Promise<void>((resolve) => frozen.push(resolve))
    // Something else may have ended the process meanwhile, before this was sent or before its reply came.
    assertAlive()
    if (here.crash === 'before') crash(operation, 'before')
    if (here.error) throw here.error
    if (here.tear !== undefined && tear) {
      await tear(here.tear)
      if (here.crash) crash(operation, 'in the middle of')
      throw new Error(
        `Cannot finish operation ${operation.n} (${op}): it was torn after ${here.tear} writes`,
      )
    }
    const result = await work()
    if (here.crash) crash(operation, 'after')
    assertAlive()
    if (here.lose)
      throw new Error(`Cannot tell how operation ${operation.n} (${op}) ended: its reply was lost`)
    return result
  }

  async function commitFirst(
    { checks = [], puts = [], deletes = [] }: Batch,
    writes: number,
  ): Promise<Revision | undefined> {
    const ordered = [
      ...puts.filter(({ key }) => !isHead(key)),
      ...puts.filter(({ key }) => isHead(key)),
    ]
    return store.commit({
      checks,
      puts: ordered.slice(0, writes),
      deletes: deletes.slice(0, Math.max(0, writes - ordered.length)),
    })
  }

  async function clearFirst(prefix: Key, rows: number): Promise<Revision | undefined> {
    const found = await store.list({ prefix, limit: rows })
    return store.commit({ deletes: found.map(({ key }) => key) })
  }

  return {
    name: store.name,
    caps: store.caps,
    get: (keys) => operate('get', [...keys], () => store.get(keys)),
    list: (range) => operate('list', [range.prefix], () => store.list(range)),
    commit: (batch) =>
      operate(
        'commit',
        writtenKeys(batch),
        () => store.commit(batch),
        (writes) => commitFirst(batch, writes),
      ),
    clear: (prefix) =>
      operate(
        'clear',
        [prefix],
        () => store.clear(prefix),
        (rows) => clearFirst(prefix, rows),
      ),
    ...(store.watch && {
      watch: (key, changed) =>
        store.watch?.(key, () => {
          if (!crashed && !closed) changed()
        }) ?? (() => undefined),
    }),
    async close() {
      closed = true
    },
    log,
    get crashed() {
      return crashed
    },
    release() {
      const waiting = frozen
      frozen = []
      for (const land of waiting) land()
    },
    restart: (next) => withFaults(store, next),
  }
}

/** All that goes wrong at one operation. */
interface Mishap {
  readonly crash?: 'before' | 'after'
  readonly lose?: 'reply'
  readonly error?: Error
  readonly tear?: number
  readonly delay?: number
  readonly freeze?: true
}

function merged(faults: readonly Fault[], n: number): Mishap {
  return Object.assign({}, ...faults.filter(({ at }) => at === 'all' || at === n)) as Mishap
}

function writtenKeys({ puts = [], deletes = [] }: Batch): readonly Key[] {
  return [...puts.map(({ key }) => key), ...deletes]
}

function isHead(key: Key): boolean {
  return key.startsWith('h/')
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
