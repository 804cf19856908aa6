import type { Claim } from '../durable/claim.ts'
import { address } from '../durable/keys.ts'
import type { RunEnd, RunStart } from '../durable/run-record.ts'
import { CorruptCheckpoint } from '../errors.ts'
import { Changes } from './changes.ts'
import { check, wholeFrom } from '../lib/check.ts'
import type { StreamEvent } from './event.ts'
import { find, readable } from './find.ts'
import { pairs } from './list.ts'
import { recorded } from './recorded.ts'
import { text, signal as aSignal } from './request.ts'
import type { App } from './run.ts'
import { spaceOf } from './snapshot.ts'
import { Queue } from './stream.ts'

/** Which events are told. */
export interface Following {
  /** Those after this `seq`. @default 0: all that are recorded */
  readonly after?: number
  /** Ends with this run. */
  readonly run?: string
  readonly ns?: readonly string[]
  /** Ends it, without an error. */
  readonly signal?: AbortSignal
}

/** Tells the events of a thread that are recorded, and then those that come, wherever it runs. */
export function subscribe(
  app: App,
  tenant: string,
  thread: string,
  following: Following = {},
): AsyncIterable<StreamEvent> {
  const isList = (value: unknown): boolean => Array.isArray(value)
  const rules = { after: wholeFrom(0), run: text, ns: [isList, 'a list'] as const, signal: aSignal }
  check('Cannot subscribe', rules, following)
  return {
    [Symbol.asyncIterator]() {
      let leave = (): void => {}
      const queue = new Queue<StreamEvent>(() => leave())
      queue.begin()
      const { signal } = following
      void (async () => {
        const end = (): void => {
          queue.end()
          leave()
        }
        signal?.addEventListener('abort', end)
        try {
          const { place } = await address(app.plan.name, tenant, thread)
          const changes = new Changes(app, place)
          leave = () => changes.close()
          if (signal?.aborted) end()
          await follow(app, tenant, thread, following, queue, changes)
        } catch (error) {
          queue.end({ error })
        } finally {
          signal?.removeEventListener('abort', end)
          end()
        }
      })()
      return queue
    },
  }
}

async function follow(
  app: App,
  tenant: string,
  thread: string,
  { after = 0, run, ns = [] }: Following,
  queue: Queue<StreamEvent>,
  changes: Changes,
): Promise<void> {
  const reader = new Reader(app, after, ns)
  for (let born: string | undefined; !queue.over; await changes.next()) {
    const claim = await find(app, tenant, thread)
    if (claim === undefined || claim.head.born !== (born ??= claim.head.born)) {
      if (born !== undefined || run !== undefined) return
      continue
    }
    const later = run === undefined ? undefined : await runsAfter(app, claim, run)
    for await (const event of reader.read(claim)) {
      if (queue.over || later?.has(event.run)) return
      await queue.push(event)
    }
    if (reader.over || (later && !reader.behind)) return
  }
}

/** Reads the log of a thread on from where it was read to. */
export class Reader {
  readonly #app: App
  readonly #ns: readonly string[]
  #at: number
  /** The commit that was read to, and a number that nothing leads up to. */
  #commits = 0
  #gap = 0
  /** Whether there is more than could be read. */
  behind = false
  /** The child graph that is read, and whether it has been read to its end: the node has begun another. */
  #space: string | undefined
  over = false

  constructor(app: App, after: number, ns: readonly string[] = []) {
    this.#app = app
    this.#at = after
    this.#ns = ns
  }

  /** Everything that is recorded by now and wasn't read yet. */
  async *read(claim: Claim): AsyncGenerator<StreamEvent> {
    const { born, thread, tenant, commits } = claim.head
    const strong = this.#app.owner.store.caps.consistency === 'strong'
    if (strong && commits === this.#commits) return
    this.behind = true
    try {
      yield* this.#read(claim, strong)
    } catch (error) {
      if (!(error instanceof CorruptCheckpoint)) throw error
      // Perhaps the thread has gone on since, and what was to be read has gone elsewhere, or away.
      const now = (await find(this.#app, tenant, thread))?.head
      if (now?.born === born && now.commits === commits) throw error
    }
  }

  async *#read(claim: Claim, strong: boolean): AsyncGenerator<StreamEvent> {
    const { thread, commits, checkpoint } = claim.head
    const newest = await spaceOf(this.#app, claim, this.#ns)
    const space = (this.#space ??= newest)
    if (space === undefined) return void (this.behind = false)
    const list = () =>
      readable(thread, () => recorded(this.#app, claim, space, this.#ns, this.#at), checkpoint)
    let pieces = await list()
    for (let n = 0; n < pieces.length; n++) {
      const { first, events } = pieces[n] as (typeof pieces)[number]
      // Rows that came while others were read. What is missing twice was never told: a crash, or rows that are pruned.
      if (first > this.#at + 1 && first !== this.#gap) {
        this.#gap = first
        if (!strong) return
        pieces = await list()
        n = -1
        continue
      }
      for (const event of await readable(thread, events, checkpoint)) {
        if (event.seq <= this.#at) continue
        this.#at = event.seq
        yield event
      }
    }
    this.#commits = commits
    this.behind = false
    this.over = space !== newest
  }
}

/** The runs that began after one that is over; `undefined` while it goes on. One that isn't there is over, before all others. */
async function runsAfter(
  app: App,
  claim: Claim,
  run: string,
): Promise<ReadonlySet<string> | undefined> {
  const { head } = claim
  if (head.run === run && head.owner !== '') return undefined
  const later = new Set<string>()
  for await (const [{ id }] of pairs(app, claim)) {
    if (id === run) break
    later.add(id)
  }
  return later
}

/** A run's records, and the start of the next. */
export interface FoundRun {
  readonly start: RunStart
  readonly end: RunEnd | undefined
  readonly after: RunStart | undefined
}

/** A run of a thread. */
export async function findRun(app: App, claim: Claim, run: string): Promise<FoundRun | undefined> {
  for await (const [start, end, after] of pairs(app, claim))
    if (start.id === run) return { start, end, after }
  return undefined
}
