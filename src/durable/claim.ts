import type { Key, Put, Revision } from '../store/store.ts'
import { takesAll } from './fit.ts'
import { headText, readHead, runText, skipAhead, type Head } from './head.ts'
import { carried, Held, knownOr } from './held.ts'
import { rootPrefix, type Address } from './keys.ts'
import { noted, type Entry } from './journal.ts'
import { moveLease } from './lease.ts'
import { HeadRow } from './long-head.ts'
import { mint, type Change, type Owner } from './owner.ts'
import { assertSafe, isLost, leaseLost, writeHead, type Failure } from './outcome.ts'

/**
 * One owner's hold on a thread. Every commit rewrites the head under a check that nobody else did, so whoever lost the
 * thread can't write to it again. Commits go one at a time; what comes up during one shares the next.
 */
export class Claim {
  readonly head: Head
  readonly at: Address
  /** Prefix of the thread's rows. */
  readonly root: Key
  /** How the head lies in the store. */
  readonly row: HeadRow
  readonly #owner: Owner
  /** Of the head as it was read, or written last. */
  revision: Revision | undefined
  /** The head as it was last stored: what never reached the store never happened. */
  #stored = ''
  #runText = ''
  #flight: Promise<void> | undefined
  /** Why the last commit did not reach the store. Nothing can be built on it: no commit follows until `recover`. */
  failure: Failure | undefined
  #released = false
  /** Since when the time that a run has the thread isn't counted: its claim, or the last commit that said so. */
  since: number | undefined
  /** Rows that wait for the next durable commit, when only pauses and the end are stored. */
  #held: Held | undefined
  #next: { puts: Put[]; deletes: Key[]; durable: boolean; done: Promise<void> } | undefined

  constructor(
    owner: Owner,
    at: Address,
    head: Head,
    revision: Revision | undefined,
    row = new HeadRow(),
  ) {
    this.#owner = owner
    this.row = row
    this.at = at
    this.head = head
    this.root = rootPrefix(at.place, head.born)
    this.revision = revision
  }

  /** The next id: sorts by creation whatever the clock does. */
  id(): string {
    return mint(this.head, this.#owner)
  }

  /**
   * Takes the thread, together with what the claim guards. False when somebody else was first.
   *
   * @param keep Without, it is let go in the same commit
   */
  async take(
    { puts, deletes }: Required<Pick<Change, 'puts' | 'deletes'>>,
    keep = true,
  ): Promise<boolean> {
    const { head } = this
    const { store, clock, leaseMs, name } = this.#owner
    if (this.revision !== undefined) assertSafe(store, head.thread)
    const before = new Held(head.redo).take()
    puts.push(...before.puts)
    deletes.push(...before.deletes)
    const lease: Put[] = []
    const until = clock.now() + leaseMs
    let won = false
    try {
      const { caps } = store
      const whole = this.row.goesWith(head, puts, deletes, caps)
      const isNew = !whole && this.revision === undefined
      if (isNew) await this.#reserve(until)
      if (!isNew || !keep) moveLease(this, { puts: lease, deletes }, keep ? until : undefined)
      head.owner = keep ? name : ''
      head.epoch++
      // What can't go with the head follows when that has won, and is carried by it until the next commit. Rows of a new
      // thread have names that nobody else writes.
      head.redo = caps.atomic && (whole || isNew) ? undefined : carried(puts, deletes)
      this.#runText = runText(head)
      if (head.redo) await this.#write({ puts: lease.splice(0), durable: true })
      won = head.redo !== undefined
      await this.#write({ puts: [...puts, ...lease], deletes, durable: true })
      head.redo = undefined
      this.#runText = runText(head)
      return true
    } catch (error) {
      // It has won, whatever came then: whoever claims the thread next brings its rows along.
      if (won && !keep) return true
      if (this.lost && !won) return false
      throw error
    }
  }

  /** Takes a thread that isn't there before its rows are written: nothing would lead to them. Until then it counts as absent. */
  async #reserve(until: number): Promise<void> {
    const { head } = this
    const { checkpoint, metadata } = head
    const puts: Put[] = []
    moveLease(this, { puts, deletes: [] }, until)
    Object.assign(head, { owner: this.#owner.name, checkpoint: '', metadata: {} })
    this.#runText = runText(head)
    await this.#write({ puts, durable: true })
    Object.assign(head, { checkpoint, metadata })
  }

  /** Adds an entry to the journal of the running step; its rows are written by the next `commit`. */
  entry(entry: Entry): Put[] {
    return noted(this, entry, this.#owner.store.caps.maxValueBytes)
  }

  /** From now on only durable commits are made; what comes between goes with the next. */
  hold(): void {
    this.#held ??= new Held()
  }

  /** Reads rows, those on hold and those a claim may not have written yet included. */
  get(keys: readonly Key[]): Promise<readonly ({ readonly value: string } | undefined)[]> {
    const known = new Map([...(this.head.redo ?? []), ...(this.#held ?? [])])
    return knownOr(this.#owner.store, known, keys)
  }

  /** Writes rows and the head as it is now. Rejects when another owner has the thread. */
  commit({ puts = [], deletes = [], durable = false }: Change = {}): Promise<void> {
    if (this.#held) {
      this.#held.add(puts, deletes)
      if (!durable) return Promise.resolve()
      ;({ puts, deletes } = this.#held.take())
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
    if (!this.failure && !this.#released) return (this.#flight = this.#write(change))
    this.#flight = undefined
    return Promise.reject(
      this.failure ? this.failure.error : leaseLost(this.head.thread, 'it has been let go'),
    )
  }

  /** Moves the end of the lease and stores that, and rows that can't wait. What is on hold stays: the stored head gets it. */
  async renew(until: number, rows: readonly Put[] = []): Promise<void> {
    const { head } = this
    const change = { puts: [...rows], deletes: [] }
    while (this.#held && this.#flight) await this.#flight.catch(() => {})
    if (until !== head.until) moveLease(this, change, until)
    if (!this.#held) return this.commit(change)
    const stored = { ...readHead(this.#stored), redo: undefined, until, commits: head.commits++ }
    return (this.#flight = this.#write(change, stored))
  }

  /** Milliseconds that a run has had the thread and that its head doesn't count yet. */
  ran(now: number = this.#owner.clock.now()): number {
    return Math.max(0, now - (this.since ?? now))
  }

  /** One commit of the head with its check, and a lease that is renewed once half of it is over. */
  async #write(
    { puts = [], deletes = [], durable = false }: Change,
    head: Head = this.head,
  ): Promise<void> {
    const { clock, leaseMs, store, listeners } = this.#owner
    const now = clock.now()
    const released = head.owner === ''
    if (!released && head.until - now < leaseMs / 2)
      moveLease(this, { puts, deletes }, now + leaseMs)
    if (head.used && head === this.head) {
      for (const used of head.used) used[2] += this.ran(now)
      if (this.since !== undefined) this.since = now
    }
    head.updated = now
    head.commits++
    const text = headText(this.#runText, head)
    const change = { puts, deletes, durable }
    try {
      this.revision = await writeHead(store, this, text, this.#runText.length, change)
      this.#stored = text
      if (listeners.size > 0) for (const hear of listeners.get(this.at.place) ?? []) hear()
      this.#released = released
    } catch (error) {
      // What is on hold can still be stored, unless somebody else has the thread.
      if (head === this.head || isLost(error)) this.failure = { error }
      else this.head.until = readHead(this.#stored).until
      throw error
    } finally {
      if (!this.#next) this.#flight = undefined
    }
  }

  /** Waits for commits under way, whether they succeed or not. */
  async settled(): Promise<void> {
    while (this.#flight) await this.#flight.catch(() => {})
  }

  /** Whether a commit failed because the thread is somebody else's, or nobody's. */
  get lost(): boolean {
    return isLost(this.failure?.error)
  }

  /** After a commit that failed, the head falls back to what is stored. */
  recover(): void {
    // What the claim wrote is there by now.
    if (this.failure && this.#stored) {
      // What was used was used all the same.
      const { used, usage } = this.head
      Object.assign(this.head, readHead(this.#stored), { redo: undefined, used, usage })
    }
    const { store, clock } = this.#owner
    // Where rows go ahead of a head they may still come in: nothing is named or counted like them.
    if (this.failure && !takesAll(store.caps)) skipAhead(this.head, clock.now())
    this.failure = undefined
  }

  /**
   * Lets the thread go.
   *
   * @param end Changes the head, and says what is written with it
   */
  release(end: (head: Head) => Change): Promise<void> {
    const { head } = this
    const { puts = [], deletes = [] } = end(head)
    moveLease(this, { puts, deletes })
    head.owner = ''
    this.#runText = runText(head)
    return this.commit({ puts, deletes, durable: true })
  }
}
