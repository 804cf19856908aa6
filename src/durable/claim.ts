import { StoreUnsafe, isHeddleError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import { ascending, letters } from '../lib/ids.ts'
import type { Key, Put, Revision, Store } from '../store/store.ts'
import { headText, runText, type Head } from './head.ts'
import { dueKey, headKey, journalKey, rootPrefix, type Address } from './keys.ts'
import { entryText, type Entry } from './journal.ts'
import { leaseLost, outcome, type Failure, type HeadBatch } from './outcome.ts'

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
  #stored = ''
  #runText = ''
  #flight: Promise<void> | undefined
  /** Why the last commit did not reach the store. Nothing can be built on it: no commit follows until `recover`. */
  #failure: Failure | undefined
  #released = false
  /** Rows that wait for the next durable commit, when only pauses and the end are stored. */
  #held: Map<Key, string | null> | undefined
  #next: { puts: Put[]; deletes: Key[]; durable: boolean; done: Promise<void> } | undefined

  constructor(owner: Owner, at: Address, head: Head, revision: Revision | undefined) {
    this.#owner = owner
    this.at = at
    this.head = head
    this.root = rootPrefix(at.place, head.born)
    this.#revision = revision
  }

  /** The next id: sorts by creation whatever the clock does. */
  id(): string {
    return mint(this.head, this.#owner)
  }

  /** Takes the thread, together with what the claim guards. False when somebody else was first. */
  async take({ puts, deletes }: Required<Pick<Change, 'puts' | 'deletes'>>): Promise<boolean> {
    const { head } = this
    const { store, clock, leaseMs, name } = this.#owner
    if (store.unsafe !== undefined && this.#revision !== undefined) {
      throw new StoreUnsafe(
        `Cannot go on with thread "${head.thread}": store "${store.name}" needs ${store.unsafe}`,
        { store: store.name, needs: store.unsafe },
      )
    }
    for (const [key, value] of head.redo ?? [])
      if (value === null) deletes.push(key)
      else puts.push({ key, value })
    const lease: Put[] = []
    this.#lease(lease, deletes, clock.now() + leaseMs)
    head.owner = name
    head.epoch++
    // Without atomic batches rows follow when the head has won; until its next commit it carries them itself.
    head.redo = store.caps.atomic
      ? undefined
      : [
          ...puts.map(({ key, value }) => [key, value] as const),
          ...deletes.map((key) => [key, null] as const),
        ]
    this.#runText = runText(head)
    try {
      if (head.redo) await this.#write({ puts: lease.splice(0), durable: true })
      await this.#write({ puts: [...puts, ...lease], deletes, durable: true })
      head.redo = undefined
      this.#runText = runText(head)
      return true
    } catch (error) {
      if (this.lost) return false
      throw error
    }
  }

  /** Moves the end of the lease, or drops it. */
  #lease(puts: Put[], deletes: Key[], until?: number): void {
    const { head, at } = this
    if (head.owner !== '') deletes.push(dueKey(at, head.until, 'lease'))
    if (until === undefined) return
    head.until = until
    puts.push({ key: dueKey(at, until, 'lease'), value: hint(head) })
  }

  /** Adds an entry to the journal of the running step; it is written by the next `commit`. */
  entry(entry: Entry): Put {
    const { entries, journal } = this.head
    if (entries.length === 0) entries.push([0, 0])
    const last = entries.at(-1) as [number, number]
    return { key: journalKey(this.root, journal, last[0] + last[1]++), value: entryText(entry) }
  }

  /** From now on only durable commits are made; what comes between goes with the next. */
  hold(): void {
    this.#held ??= new Map()
  }

  /** Reads rows, those on hold and those a claim may not have written yet included. */
  async get(keys: readonly Key[]): Promise<readonly ({ readonly value: string } | undefined)[]> {
    const known = new Map([...(this.head.redo ?? []), ...(this.#held ?? [])])
    const entries = await this.#owner.store.get(keys)
    return entries.map((entry, i) => {
      const value = known.get(keys[i] as Key)
      return value == null ? entry : { value }
    })
  }

  /** Writes rows and the head as it is now. Rejects when another owner has the thread. */
  commit({ puts = [], deletes = [], durable = false }: Change = {}): Promise<void> {
    if (this.#held) {
      const held = this.#held
      if (!durable) {
        for (const { key, value } of puts) held.set(key, value)
        // What is only held has never been stored.
        for (const key of deletes) if (!held.delete(key)) held.set(key, null)
        return Promise.resolve()
      }
      const rows = [...held]
      puts = [...rows.flatMap(([key, value]) => (value === null ? [] : { key, value })), ...puts]
      deletes = [...rows.flatMap(([key, value]) => (value === null ? key : [])), ...deletes]
      held.clear()
    }
    if (!this.#flight) return this.#begin({ puts, deletes, durable })
    const then = (): Promise<void> => {
      const next = this.#next as Change
      this.#next = undefined
      return this.#begin(next)
    }
    const next = (this.#next ??= {
      puts: [],
      deletes: [],
      durable,
      done: this.#flight.then(then, then),
    })
    next.puts.push(...puts)
    next.deletes.push(...deletes)
    next.durable ||= durable
    return next.done
  }

  #begin(change: Change): Promise<void> {
    if (!this.#failure && !this.#released) return (this.#flight = this.#write(change))
    this.#flight = undefined
    return Promise.reject(
      this.#failure ? this.#failure.error : leaseLost(this.head.thread, 'it has been let go'),
    )
  }

  /** One commit of the head with its check, and a lease that is renewed once half of it is over. */
  async #write({ puts = [], deletes = [], durable = false }: Change): Promise<void> {
    const { head } = this
    const { clock, leaseMs, store } = this.#owner
    const now = clock.now()
    const released = head.owner === ''
    if (!released && head.until - now < leaseMs / 2) this.#lease(puts, deletes, now + leaseMs)
    head.updated = now
    head.commits++
    const text = headText(this.#runText, head)
    const key = headKey(this.at.place)
    puts.push({ key, value: text })
    const checks = [{ key, revision: this.#revision }] as const
    const batch: HeadBatch = { checks, puts, deletes, ...(durable && { durable }) }
    let revision: Revision | undefined
    let failure: Failure | undefined
    try {
      try {
        revision = await store.commit(batch)
      } catch (error) {
        failure = { error }
      }
      this.#revision = revision ?? (await outcome(store, batch, text, head.thread, failure))
      this.#stored = text
      this.#released = released
    } catch (error) {
      this.#failure = { error }
      throw error
    } finally {
      if (!this.#next) this.#flight = undefined
    }
  }

  /** Waits for commits under way, whether they succeed or not. */
  async settled(): Promise<void> {
    while (this.#flight) await this.#flight.catch(() => {})
  }

  /** Whether a commit failed because another owner has the thread. */
  get lost(): boolean {
    return isHeddleError(this.#failure?.error, 'lease_lost')
  }

  /** After a commit that failed, the head falls back to what is stored. */
  recover(): void {
    // What the claim wrote is there by now.
    if (this.#failure && this.#stored)
      Object.assign(this.head, JSON.parse(this.#stored), { redo: undefined })
    this.#failure = undefined
  }

  /**
   * Lets the thread go.
   *
   * @param end Changes the head, and says what is written with it
   */
  release(end: (head: Head) => Change): Promise<void> {
    const { head } = this
    const { puts = [], deletes = [] } = end(head)
    this.#lease(puts, deletes)
    head.owner = ''
    this.#runText = runText(head)
    return this.commit({ puts, deletes, durable: true })
  }
}

/** What an index row says: where to look. The head decides whether it is still true. */
export const hint = ({ tenant, thread }: Pick<Head, 'tenant' | 'thread'>): string =>
  JSON.stringify([tenant, thread])
