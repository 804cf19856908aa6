import type { Claim } from '../durable/claim.ts'
import type { OpenPause } from '../durable/head.ts'
import { Journal, type Entry, type PlaceEntry } from '../durable/journal.ts'
import { pauseKey, runKey, stopKey } from '../durable/keys.ts'
import type { Owner } from '../durable/owner.ts'
import { settlementText, type PauseRecord, type Settlement } from '../durable/pause.ts'
import { errorInfo, type RunEnd } from '../durable/run-record.ts'
import type { Status } from '../durable/records.ts'
import { Cancelled } from '../errors.ts'
import type { AgentMark } from '../graph/agent-mark.ts'
import type { Plan } from '../graph/plan.ts'
import type { Logger } from '../lib/logger.ts'
import type { Scope } from '../scope/scope.ts'
import type { Key, Put } from '../store/store.ts'
import type { Tool } from '../tool/tool.ts'
import { Belongings } from './belongings.ts'
import { childEntry } from './child.ts'
import type { Within } from './context.ts'
import type { StreamEvent } from './event.ts'
import type { Level } from './level.ts'
import type { Calls } from './calls.ts'
import type { Execution } from './execution.ts'
import type { Meter } from './meter.ts'
import { hookedBy, type Hooked } from './hooked.ts'
import type { Monitor, Presence } from './monitor.ts'
import { usageOf, type TokenUsage } from '../usage.ts'
import { indexRows } from './pause-index.ts'
import type { LocalOptions, Opening } from './request.ts'
import type { Queue } from './stream.ts'

/** A compiled graph and what it runs with. */
export interface App extends Hooked {
  readonly plan: Plan
  /** What its graph says of itself if it is an agent. */
  readonly agent: AgentMark | undefined
  readonly owner: Owner
  readonly newId: (prefix: string) => string
  readonly logger: Logger
  readonly scope: Scope | undefined
  /** Tools that are called by name. */
  readonly tools: ReadonlyMap<string, Tool>
  /** Makes what a node sees; handed in, as it leads back to levels and steps. */
  readonly context: (execution: Execution, within?: Within) => object
  readonly monitor: Monitor | undefined
  readonly presence: Presence | undefined
  readonly stepLimit: number
  readonly concurrency: number
  readonly durability: 'step' | 'exit'
  /** Runs of this process and what they were asked, from before they have their thread. */
  readonly active: Map<Run, { readonly thread: string; readonly tenant?: string }>
}

/** One attempt to move a thread on: its claim, what the journal of its step says, and how it may be stopped. */
export class Run {
  readonly app: App
  readonly id: string
  readonly durable: boolean
  readonly user: string | undefined
  /** What the request brought along for this run only. */
  readonly local: Omit<LocalOptions, 'hooks'>
  /** The models that have served it, each with the commit that says so; see `served`. */
  served: Map<string, Promise<void>> | undefined
  /** What presences know it by. */
  shown: Parameters<Presence['set']>[1] | undefined
  claim!: Claim
  level: Level | undefined
  sink: Queue<StreamEvent> | undefined
  journal: Journal = new Journal()
  /** What was asked, by the id of the pause. */
  records: ReadonlyMap<string, PauseRecord> = new Map()
  /** Tasks that are entered though something in them is open: an answer or a clock has come for them. */
  woken: ReadonlySet<string> = new Set()
  /** Its last owner didn't let go, so that its rows may still come in. */
  tookOver = false
  /** What an owner before wrote may still come in, so that nothing is added to it. */
  shares = false
  stopped: { readonly reason: unknown; readonly status: 'error' | 'cancelled' } | undefined
  over = false
  /** Counts what is used; see `meterOf`. What models had reported when it ended. */
  meter: Meter | undefined
  usage: TokenUsage = {}
  /** The app's hooks, and its own. */
  readonly hooked: Hooked
  /** What is closed, and told, before its outcome is there. */
  readonly belongings: Belongings
  /** Calls off the timer that stores what was emitted. */
  cancelFlush: (() => void) | undefined
  /** Settles when the run has ended and is recorded. */
  readonly finished: Promise<void>
  finish: () => void = () => {}
  #onStop: ((reason: unknown) => void) | undefined
  /** What goes with whatever is stored next, as it needs no commit of its own. */
  readonly #along: { readonly puts: Put[]; readonly notes: Entry[] } = { puts: [], notes: [] }
  /** Questions whose answers didn't fit. */
  readonly reopened: OpenPause[] = []

  constructor(
    app: App,
    { durability, user, hooks, ...local }: LocalOptions & Pick<Opening, 'durability' | 'user'>,
  ) {
    this.app = app
    this.hooked = hooks ? hookedBy(app.host, [...app.host.hooks, ...hooks]) : app
    this.belongings = new Belongings(app, this.hooked)
    this.id = app.newId('run_')
    this.durable = (durability ?? app.durability) === 'step'
    this.user = user
    this.local = local
    this.finished = new Promise((resolve) => (this.finish = resolve))
  }

  /** Stops the run: signals abort, sleeps end, nothing more is tried or written. */
  stop(reason: unknown, status: 'error' | 'cancelled' = 'cancelled'): void {
    if (this.stopped || this.over) return
    this.stopped = {
      reason:
        reason === undefined
          ? new Cancelled(`Cannot finish run "${this.id}": it was aborted`, {})
          : reason,
      status,
    }
    this.#onStop?.(this.stopped.reason)
    this.belongings.stop(this.stopped.reason)
    this.level?.step?.stop(this.stopped.reason)
  }

  /** Waits for what comes before the claim, user code among it; a stop ends the wait. */
  until<Value>(work: Promise<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      this.#onStop = reject
      work.then(resolve, reject)
      if (this.stopped) reject(this.stopped.reason)
    })
  }

  /** Whether a task stays as it is: something in it is open, and nothing has come for it. */
  waits(task: string): boolean {
    return !this.woken.has(task) && this.claim.head.open.some(({ chain }) => chain.includes(task))
  }

  /** What is open in a task itself. */
  openOf(task: string): OpenPause[] {
    return this.claim.head.open.filter(({ chain }) => chain.at(-1) === task)
  }

  /** An answer that doesn't fit: its question is open again when the run has ended. */
  reopen(calls: Calls, { place, pause: id = '' }: PlaceEntry): void {
    const record = this.records.get(id)
    if (!record) return
    const { n, due, key } = record
    const chain = calls.chain()
    this.reopened.push({ id, kind: 'question', chain, place, n, due, key })
  }

  /** Stores an entry of the journal. */
  async note(entry: Entry): Promise<void> {
    await this.claim.commit({ puts: [...this.carried(), ...this.claim.entry(entry)] })
    this.journal.add(entry)
  }

  /** Lets an entry of the journal, and rows, go with whatever is stored next. */
  carry(entry: Entry, puts: readonly Put[]): void {
    this.journal.add(entry)
    this.#along.notes.push(entry)
    this.#along.puts.push(...puts)
  }

  /** Nothing goes along any more. */
  drop(): void {
    this.#along.puts.length = this.#along.notes.length = 0
  }

  /** The rows of what goes along. */
  carried(): Put[] {
    const { puts, notes } = this.#along
    return [...puts.splice(0), ...notes.splice(0).flatMap((entry) => this.claim.entry(entry))]
  }

  /** The rows that say where a child graph stands. */
  noteChild(level: Level): Put[] {
    const entry = childEntry(level)
    this.journal.add(entry)
    return this.claim.entry(entry)
  }

  /** The step has closed: its journal is history. */
  forget(): void {
    this.#along.notes.length = 0
    if (this.journal.empty && this.records.size === 0) return
    this.journal = new Journal()
    this.records = new Map()
  }

  /** Ends pauses, all that are open if none are named: they leave the head and its indexes, and their records say how. */
  dropOpen(
    { puts, deletes }: { readonly puts: Put[]; readonly deletes: Key[] },
    gone: readonly OpenPause[] = this.claim.head.open,
    how: Omit<Settlement, 'time'> & { readonly time?: number } = { status: 'cancelled' },
  ): void {
    if (gone.length === 0) return
    const { claim } = this
    const { head } = claim
    for (const open of gone) {
      puts.push({
        key: `${pauseKey(claim.root, open.id)}.a`,
        value: settlementText({ time: this.app.owner.clock.now(), ...how }),
      })
      deletes.push(...indexRows(claim, open))
    }
    head.open = head.open.filter((open) => !gone.includes(open))
  }

  /** Ends the run together with its last commit. One that paused has ended before: its record stays as it is. */
  end(
    status: Status,
    { puts = [], deletes = [] }: { puts?: Put[]; deletes?: Key[] },
    error?: unknown,
  ): Promise<void> {
    const { claim } = this
    const info = error === undefined && status !== 'error' ? undefined : errorInfo(error)
    if (status === 'success') this.#along.notes.length = 0
    puts.push(...this.carried())
    return claim.release((head) => {
      const runs = ['starting', 'running', 'resuming'].includes(head.status)
      head.status = status
      head.strikes = 0
      head.error = info
      // `done` follows.
      if (status === 'success') head.seq++
      const { checkpoint, seq } = head
      const time = this.app.owner.clock.now()
      const open = head.open.length > 0 ? head.open.map(({ id }) => id) : undefined
      const usage = (this.usage = usageOf(head.usage))
      const row: RunEnd = { status, error: info, usage, time, checkpoint, seq, open }
      const key = `${runKey(claim.root, head.runNumber)}.e`
      if (runs) puts.push({ key, value: JSON.stringify(row) })
      // Perhaps by a word that was left for it.
      if (status === 'cancelled') deletes.push(stopKey(claim.at.place))
      return { puts, deletes }
    })
  }
}

/** The steps under way in a level and the child graphs inside. */
export function stepsOf(level: Level): Execution['step'][] {
  const { step } = level
  if (!step) return []
  return [step, ...step.executions.flatMap(({ asked }) => (asked?.children ?? []).flatMap(stepsOf))]
}
