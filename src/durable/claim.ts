import { LeaseLost, StoreUnsafe, isHeddleError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import { ascending, letters } from '../lib/ids.ts'
import type { Batch, Key, Put, Revision, Store } from '../store/store.ts'
import type { Head } from './head.ts'
import { dueKey, headKey, journalKey, rootPrefix, type Address } from './keys.ts'
import { entryText, type Entry } from './journal.ts'

/** What a claim needs of its app. */
export interface Owner {
  readonly store: Store
  readonly clock: Clock
  readonly random: () => number
  /** Names this process among others. */
  readonly name: string
  readonly leaseMs: number
}

/** Rows to write and to remove beside the head. */
export interface Change {
  readonly puts?: Put[]
  readonly deletes?: Key[]
  readonly durable?: boolean
}

/** The next id of a thread: sorts by creation whatever the clock does. */
export function mint(
  head: Pick<Head, 'last'>,
  { clock, random }: Pick<Owner, 'clock' | 'random'>,
): string {
  head.last = Math.max(clock.now(), head.last + 1)
  return ascending(head.last) + letters(random)
}

/**
 * One owner's hold on a thread. Every commit rewrites the head under a check that nobody else did, so whoever lost the
 * thread can't write to it again. Commits go one at a time; what comes up during one shares the next.
 */
export class Claim {
  readonly head: Head
  readonly at: Address
  /** Prefix of the thread's rows. */
  readonly root: Key
  readonly #owner: Owner
  #revision: Revision | undefined
  /** The head as it was last stored: what never reached the store never happened. */
  #stored: string
  #flight: Promise<void> | undefined
  #failed = false
  /** Rows that wait for the next durable commit, when only pauses and the end are stored. */
  #held: Map<Key, string> | undefined
  #next: { puts: Put[]; deletes: Key[]; durable: boolean; done: Promise<void> } | undefined

  constructor(owner: Owner, at: Address, head: Head, revision: Revision | undefined) {
    this.#owner = owner
    this.at = at
    this.head = head
    this.root = rootPrefix(at.place, head.born)
    this.#revision = revision
    this.#stored = JSON.stringify(head)
  }

  /** The next id: sorts by creation whatever the clock does. */
  id(): string {
    return mint(this.head, this.#owner)
  }

  /** Takes the thread, together with what the claim guards. False when somebody else was first. */
  async take(change: Required<Pick<Change, 'puts' | 'deletes'>>): Promise<boolean> {
    const { head } = this
    const { store, clock, leaseMs, name } = this.#owner
    if (store.unsafe !== undefined && this.#revision !== undefined) {
      throw new StoreUnsafe(
        `Cannot go on with thread "${head.thread}": store "${store.name}" needs ${store.unsafe}`,
        { store: store.name, needs: store.unsafe },
      )
    }
    for (const [key, value] of head.redo ?? []) change.puts.push({ key, value })
    if (head.owner !== '') change.deletes.push(dueKey(this.at, head.until, 'lease'))
    head.owner = name
    head.until = clock.now() + leaseMs
    head.epoch++
    change.puts.push({ key: dueKey(this.at, head.until, 'lease'), value: this.#hint() })
    if (store.caps.atomic) return this.#attempt({ ...change, durable: true })
    // Rows are written after the head has won; until then it carries them itself.
    head.redo = change.puts.map(({ key, value }) => [key, value] as const)
    if (!(await this.#attempt({ durable: true }))) return false
    await this.commit({ ...change, durable: true })
    return true
  }

  /** Adds an entry to the journal of the running step; it is written by the next `commit`. */
  entry(entry: Entry): Put {
    const { head } = this
    const last = head.entries.at(-1) ?? [0, 0]
    if (head.entries.length === 0) head.entries.push(last)
    return {
      key: journalKey(this.root, head.journal, last[0] + last[1]++),
      value: entryText(entry),
    }
  }

  /** From now on only durable commits are made; what comes between goes with the next. */
  hold(): void {
    this.#held ??= new Map()
  }

  /** Reads rows, those on hold and those a claim may not have written yet included. */
  async get(keys: readonly Key[]): Promise<readonly ({ readonly value: string } | undefined)[]> {
    const redo = new Map(this.head.redo)
    const entries = await this.#owner.store.get(keys)
    return entries.map((entry, i) => {
      const value = this.#held?.get(keys[i] as Key) ?? redo.get(keys[i] as Key)
      return value === undefined ? entry : { value }
    })
  }

  /** Writes rows and the head as it is now. Rejects when another owner has the thread. */
  commit(change: Change = {}): Promise<void> {
    if (this.#held && !change.durable) {
      for (const { key, value } of change.puts ?? []) this.#held.set(key, value)
      return Promise.resolve()
    }
    if (this.#held?.size) {
      const held = Array.from(this.#held, ([key, value]) => ({ key, value }))
      change = { ...change, puts: [...held, ...(change.puts ?? [])] }
      this.#held.clear()
    }
    if (this.#flight === undefined) return this.#start(change)
    const next = (this.#next ??= {
      puts: [],
      deletes: [],
      durable: false,
      done: this.#flight.then(
        () => this.#drain(),
        () => this.#drain(),
      ),
    })
    if (change.puts) next.puts.push(...change.puts)
    if (change.deletes) next.deletes.push(...change.deletes)
    if (change.durable) next.durable = true
    return next.done
  }

  #drain(): Promise<void> {
    const next = this.#next as Change
    this.#next = undefined
    return this.#start(next)
  }

  #start(change: Change): Promise<void> {
    return (this.#flight = this.#write(change))
  }

  async #write(change: Change): Promise<void> {
    const { head } = this
    const now = this.#owner.clock.now()
    const puts = [...(change.puts ?? [])]
    const deletes = [...(change.deletes ?? [])]
    if (head.owner !== '' && head.until - now < this.#owner.leaseMs / 2) {
      deletes.push(dueKey(this.at, head.until, 'lease'))
      head.until = now + this.#owner.leaseMs
      puts.push({ key: dueKey(this.at, head.until, 'lease'), value: this.#hint() })
    }
    delete head.redo
    let kept = false
    try {
      kept = await this.#attempt({ puts, deletes, ...(change.durable && { durable: true }) })
    } finally {
      this.#failed = !kept
      if (this.#next === undefined) this.#flight = undefined
    }
    if (!kept)
      throw new LeaseLost(`Cannot write to thread "${head.thread}": another owner has it`, {
        thread: head.thread,
      })
  }

  /** One commit of the head with its check; looks at the head when the outcome isn't plain. */
  async #attempt({ puts = [], deletes = [], durable }: Change): Promise<boolean> {
    const { head } = this
    const { store } = this.#owner
    const key = headKey(this.at.place)
    head.updated = this.#owner.clock.now()
    head.commits++
    const text = JSON.stringify(head)
    const batch: Batch = {
      checks: [{ key, revision: this.#revision }],
      puts: [...puts, { key, value: text }],
      deletes,
      ...(durable && { durable: true }),
    }
    for (let again = false; ; again = true) {
      let failure: unknown
      let revision: Revision | undefined
      try {
        revision = await store.commit(batch)
      } catch (error) {
        failure = error
      }
      if (revision === undefined) {
        // A store that says exactly why it refused has written nothing.
        if (isHeddleError(failure)) throw failure
        const [entry] = await store.get([key]).catch((error: unknown) => {
          throw failure ?? error
        })
        if (entry?.value === text) revision = entry.revision
        else if (entry?.revision !== this.#revision) return false
        else if (again)
          throw (
            failure ??
            new LeaseLost(
              `Cannot write to thread "${head.thread}": the store refuses its own revision`,
              { thread: head.thread },
            )
          )
        else continue
      }
      this.#revision = revision
      this.#stored = text
      return true
    }
  }

  /** What an index row says: where to look. The head decides whether it is still true. */
  #hint(): string {
    return JSON.stringify([this.head.tenant, this.head.thread])
  }

  /** Waits for commits under way, whether they succeed or not. */
  async settled(): Promise<void> {
    while (this.#flight !== undefined) await this.#flight.catch(() => {})
  }

  /** After a commit that failed, the head falls back to what is stored. */
  recover(): void {
    if (this.#failed)
      Object.assign(this.head, { redo: undefined, error: undefined }, JSON.parse(this.#stored))
    this.#failed = false
  }

  /**
   * Lets the thread go.
   *
   * @param end Changes the head, and says what is written with it
   */
  async release(end: (head: Head) => Change): Promise<void> {
    const { head } = this
    const { puts = [], deletes = [] } = end(head)
    deletes.push(dueKey(this.at, head.until, 'lease'))
    head.owner = ''
    await this.commit({ puts, deletes, durable: true })
  }
}
