import { eventKey } from '../durable/keys.ts'
import { isPause, logText, type Logged } from '../durable/log-row.ts'
import { later } from '../lib/clock.ts'
import type { Put } from '../store/store.ts'
import type { Execution } from './execution.ts'
import type { Level } from './level.ts'
import { shownUpdate } from './result.ts'

/** How much, and for how long, what was told may be unsaved. */
const FLUSH_EVENTS = 512
const FLUSH_MS = 1000

/** What a level tells: counted, shown to whoever watches, and kept, each event in the commit of what it reports. */
export class Log {
  readonly #level: Level
  /** The number of the next event. */
  seq = 1
  /** What was counted and isn't stored yet: the last so many before `seq`. */
  #unsaved: Logged[] = []

  constructor(level: Level) {
    this.#level = level
  }

  /**
   * Counts an event; makes it only if somebody may read it. A child's events stay in its own log.
   *
   * @param logged What is kept of it; without, it follows from what is stored
   */
  tell(event: () => object, logged?: Logged, step = this.#level.stepNo): Promise<void> | undefined {
    const seq = this.seq++
    const { run, parent } = this.#level
    if (logged !== undefined && (run.durable || isPause(logged))) this.#unsaved.push(logged)
    if (parent || !run.sink) return undefined
    return run.sink.push({ seq, run: run.id, ns: [], step, ...event() } as never)
  }

  /** Tells that an attempt of a node begins. */
  tellStart({ node, task, index }: Execution, attempt: number): void {
    this.tell(
      () => ({ kind: 'node_start', node: node.name, task: task.id, attempt }),
      attempt === 1 ? 2 * index : [index, attempt],
    )
  }

  /** Tells that a node has finished. */
  tellEnd(execution: Execution): void {
    if (execution.saved) return
    execution.saved = true
    const { node, task, index, cached } = execution
    const end = 2 * index + 1
    this.tell(
      () => ({
        kind: 'node_end',
        node: node.name,
        task: task.id,
        update: shownUpdate(execution),
        ...(cached && { cached }),
      }),
      cached ? -end : end,
    )
  }

  /** From now on events are only counted: they are told when what they report is stored, at `release`. */
  hold(): void {
    if (!this.#level.parent) this.#level.run.sink?.hold()
  }

  release(): void {
    if (!this.#level.parent) this.#level.run.sink?.release()
  }

  /** Whether there is something to store. */
  get unsaved(): boolean {
    return this.#unsaved.length > 0
  }

  /** Hands over what isn't stored yet to the checkpoint of its step. What was emitted goes to a row of its own. */
  take(puts: Put[]): readonly Logged[] {
    if (this.#unsaved.some((one) => typeof one === 'object')) this.#row(puts)
    const taken = this.#unsaved
    this.#unsaved = []
    return taken
  }

  /** Adds the row of what isn't stored yet, if there is anything. A child graph counts on from there, whoever runs it. */
  write(puts: Put[]): void {
    if (!this.unsaved) return
    this.#row(puts)
    const { parent, run } = this.#level
    if (parent) puts.push(...run.noteChild(this.#level))
    else this.count()
  }

  #row(puts: Put[]): void {
    const log = this.#unsaved
    this.#unsaved = []
    const { seq } = this
    const { run, space, step, stepNo } = this.#level
    const tasks = step?.executions.map(({ task }) => task.id) ?? []
    const row = { run: run.id, step: stepNo, first: seq - log.length, tasks, log }
    puts.push({ key: eventKey(run.claim.root, space, seq - 1), value: logText(row) })
  }

  /** Lets the head say how far the log goes. */
  count(): void {
    const { parent, run } = this.#level
    if (!parent) run.claim.head.seq = this.seq
  }

  /** Stores what was told without waiting for the step: a second from now at most, or when it is much. */
  flushSoon(): void {
    const { run } = this.#level
    if (!run.durable) return
    const flush = (): void => {
      run.cancelFlush?.()
      run.cancelFlush = undefined
      const { step } = this.#level
      if (run.stopped || step?.stopped || !this.unsaved) return
      const puts: Put[] = []
      this.write(puts)
      run.claim.commit({ puts }).catch((error: unknown) => step?.stop(error))
    }
    if (this.#unsaved.length >= FLUSH_EVENTS) flush()
    else run.cancelFlush ??= later(run.app.owner.clock, FLUSH_MS, flush)
  }
}
