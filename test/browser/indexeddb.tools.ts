import type { Key, Store } from '../../src/store/store.ts'

let databases = 0

/** A database that nobody has used. */
export function freshName(): string {
  return `heddle-test-${Date.now()}-${Math.random().toString(36).slice(2)}-${++databases}`
}

/** Opens a database as another tab would; it gives way to nobody. */
export function openDatabase(name: string, version: number): Promise<IDBDatabase> {
  const request = indexedDB.open(name, version)
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result))
    request.addEventListener('error', () => reject(request.error))
  })
}

/** Deletes a database when nobody holds it any more. */
export function deleteDatabase(name: string): Promise<void> {
  const request = indexedDB.deleteDatabase(name)
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve())
    request.addEventListener('error', () => reject(request.error))
  })
}

/** What happens to the transactions that write: called with each and how many there were. */
type Writing = (tx: IDBTransaction, count: number) => unknown

/** How a database is asked for. */
type Opening = (open: () => IDBOpenDBRequest) => IDBOpenDBRequest

/** The platform's IndexedDB, with an ear on what passes and a hand to spoil it. */
export interface Tap {
  readonly factory: IDBFactory
  readonly opened: number
  readonly connections: readonly IDBDatabase[]
  /** What each writing transaction asked for. */
  readonly durabilities: readonly unknown[]
  /** Stands in for the next open; `open` is what would have happened. */
  nextOpen(instead: Opening): void
  onWrite(change: Writing): { readonly count: number }
  /** Tells a connection or transaction something, in an event of the platform's own kind. */
  tell(target: EventTarget, kind: 'close' | 'abort'): void
  /** Resolves when every open was answered. */
  settled(): Promise<void>
}

/** Listens in on the platform's IndexedDB. */
export function tapped(): Tap {
  const connections: IDBDatabase[] = []
  const durabilities: unknown[] = []
  const answers: Promise<void>[] = []
  let opening: Opening = (ask) => ask()
  let writing: (tx: IDBTransaction) => unknown = () => {}
  let opened = 0
  let PlatformEvent = Event

  function open(name: string, version?: number): IDBOpenDBRequest {
    const next = opening
    opening = (ask) => ask()
    opened++
    return next(() => overhear(indexedDB.open(name, version)))
  }

  function overhear(request: IDBOpenDBRequest): IDBOpenDBRequest {
    const answer = new Promise<void>((resolve) => {
      request.addEventListener('error', () => resolve())
      request.addEventListener('success', (event) => {
        PlatformEvent = event.constructor as typeof Event
        connections.push(listen(request.result))
        // After the listeners of whoever asked.
        setTimeout(resolve)
      })
    })
    answers.push(answer)
    return request
  }

  function listen(db: IDBDatabase): IDBDatabase {
    const { transaction } = db
    db.transaction = (stores, mode, options) => {
      const tx = transaction.call(db, stores, mode, options)
      if (mode === 'readwrite') {
        durabilities.push(options?.durability)
        writing(tx)
      }
      return tx
    }
    return db
  }

  return {
    factory: { open } as IDBFactory,
    get opened() {
      return opened
    },
    connections,
    durabilities,
    nextOpen: (instead) => (opening = instead),
    onWrite(change) {
      const tries = { count: 0 }
      writing = (tx) => change(tx, ++tries.count)
      return tries
    },
    tell: (target, kind) => target.dispatchEvent(new PlatformEvent(kind)),
    async settled() {
      await Promise.all(answers)
    },
  }
}

/** The code or the name of the error that a call ends in. */
export async function refusedWith(
  call: Promise<unknown> | (() => Promise<unknown>),
): Promise<string> {
  let result: unknown
  try {
    result = await (typeof call === 'function' ? call() : call)
  } catch (error) {
    const { code, name } = error as { code?: unknown; name: string }
    return typeof code === 'string' ? code : name
  }
  throw new Error(`Expected a call to reject, got ${JSON.stringify(result)}`)
}

/** The value of a row. */
export async function retold(store: Store, key: Key): Promise<string | undefined> {
  const [entry] = await store.get([key])
  return entry?.value
}

/** Throws unless two plain values read alike. */
export function equal(actual: unknown, expected: unknown, what: string): void {
  const [got, wanted] = [actual, expected].map((value) =>
    JSON.stringify(value, (_, part: unknown) => part ?? null),
  )
  if (got !== wanted) throw new Error(`${what}: expected ${wanted}, got ${got}`)
}
