import { LeaseLost, StoreUnsafe, isHeddleError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import { ascending, letters } from '../lib/ids.ts'
import type { Batch, Entry as Row, Key, Put, Revision, Store } from '../store/store.ts'
import { headText, runText, type Head } from './head.ts'
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
  #stored = ''
  #runText = ''
  #flight: Promise<void> | undefined
  /** Why the last commit did not reach the store. Nothing can be built on it: no commit follows until `recover`. */
  #failure: { readonly error: unknown } | undefined
  #released = false
  /** Rows that wait for the next durable commit, when only pauses and the end are stored. */
  #held: Map<Key, string> | undefined
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
    for (const [key, value] of head.redo ?? []) puts.push({ key, value })
    if (head.owner !== '') deletes.push(dueKey(this.at, head.until, 'lease'))
    head.owner = name
    head.epoch++
    head.until = clock.now() + leaseMs
    puts.push({ key: dueKey(this.at, head.until, 'lease'), value: hint(head) })
    // Without atomic batches rows are written after the head has won; until then it carries them itself.
    head.redo = store.caps.atomic ? undefined : puts.map(({ key, value }) => [key, value])
    this.#runText = runText(head)
    try {
      await this.#write(head.redo ? { durable: true } : { puts, deletes, durable: true })
    } catch (error) {
      if (error instanceof LeaseLost) return false
      throw error
    }
    if (head.redo) {
      head.redo = undefined
      this.#runText = runText(head)
      await this.#write({ puts, deletes, durable: true })
    }
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
    if (!this.#flight) return this.#begin(change)
    const then = (): Promise<void> => {
      const next = this.#next as Change
      this.#next = undefined
      return this.#begin(next)
    }
    this.#next ??= { puts: [], deletes: [], durable: false, done: this.#flight.then(then, then) }
    this.#next.puts.push(...(change.puts ?? []))
    this.#next.deletes.push(...(change.deletes ?? []))
    this.#next.durable ||= change.durable === true
    return this.#next.done
  }

  #begin(change: Change): Promise<void> {
    if (!this.#failure && !this.#released) return (this.#flight = this.#write(change))
    this.#flight = undefined
    return Promise.reject(
      this.#failure ? this.#failure.error : lost(this.head.thread, 'it has been let go'),
    )
  }

  /** One commit of the head with its check, and a lease that is renewed once half of it is over. */
  async #write({ puts = [], deletes = [], durable = false }: Change): Promise<void> {
    const { head } = this
    const { clock, leaseMs, store } = this.#owner
    const now = clock.now()
    if (head.owner !== '' && head.until - now < leaseMs / 2) {
      deletes.push(dueKey(this.at, head.until, 'lease'))
      head.until = now + leaseMs
      puts.push({ key: dueKey(this.at, head.until, 'lease'), value: hint(head) })
    }
    head.updated = now
    head.commits++
    const text = headText(this.#runText, head)
    const released = head.owner === ''
    const key = headKey(this.at.place)
    puts.push({ key, value: text })
    const checks = [{ key, revision: this.#revision }]
    const batch: Batch = durable ? { checks, puts, deletes, durable } : { checks, puts, deletes }
    let revision: Revision | undefined
    let failure: { readonly error: unknown } | undefined
    try {
      revision = await store.commit(batch)
    } catch (error) {
      failure = { error }
    }
    try {
      revision ??= await this.#explain(batch, text, failure)
    } catch (error) {
      this.#failure = { error }
      throw error
    } finally {
      if (!this.#next) this.#flight = undefined
    }
    this.#revision = revision
    this.#stored = text
    this.#released = released
  }

  /** What became of a commit that failed: landed all the same, to be tried once more, or lost to another owner. */
  async #explain(
    batch: Batch,
    text: string,
    failure: { readonly error: unknown } | undefined,
  ): Promise<Revision> {
    const { thread } = this.head
    const { store } = this.#owner
    // A store that says exactly why it refused has written nothing.
    if (failure && isHeddleError(failure.error)) throw failure.error
    const look = async (): Promise<Row | undefined> => {
      try {
        return (await store.get([headKey(this.at.place)]))[0]
      } catch (error) {
        throw failure ? failure.error : error
      }
    }
    const found = await look()
    if (found?.value === text) return found.revision
    if (found?.revision === this.#revision) {
      const revision = await store.commit(batch)
      if (revision !== undefined) return revision
      const again = await look()
      if (again?.value === text) return again.revision
    }
    throw lost(thread, 'another owner has it')
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
    if (this.#failure && this.#stored) Object.assign(this.head, JSON.parse(this.#stored))
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
    deletes.push(dueKey(this.at, head.until, 'lease'))
    head.owner = ''
    this.#runText = runText(head)
    return this.commit({ puts, deletes, durable: true })
  }
}

const lost = (thread: string, why: string): LeaseLost =>
  new LeaseLost(`Cannot write to thread "${thread}": ${why}`, { thread })

/** What an index row says: where to look. The head decides whether it is still true. */
const hint = ({ tenant, thread }: Head): string => JSON.stringify([tenant, thread])
