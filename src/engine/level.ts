import { checkpointText, nodeOf, readCheckpoint, type Checkpoint } from '../durable/checkpoint.ts'
import { Unreadable } from '../durable/codec.ts'
import { checkpointKey, eventKey } from '../durable/keys.ts'
import { logText, type Logged } from '../durable/log-row.ts'
import { State, type Rows } from '../durable/state.ts'
import { GraphChanged, StepLimitExceeded } from '../errors.ts'
import type { Plan, PlanNode } from '../graph/plan.ts'
import { later } from '../lib/clock.ts'
import type { Key, Put } from '../store/store.ts'
import { close } from './close.ts'
import { follow, plannedTasks, type Joins, type Planned } from './route.ts'
import type { Run } from './run.ts'
import type { Execution } from './execution.ts'
import { Step } from './step.ts'
import { isPromise } from './take.ts'
import { view } from './view.ts'

/** How much, and for how long, what was told may be unsaved. */
const FLUSH_EVENTS = 512
const FLUSH_MS = 1000

/** One graph on its way: the thread's own, or a child graph inside a node. */
export class Level {
  readonly run: Run
  readonly plan: Plan
  readonly parent: Execution | undefined
  /** Which attempt of the parent runs it. */
  readonly #attempt: number
  /** Path by node names, and the name of its rows; `-` for the thread's own graph. */
  readonly ns: readonly string[]
  readonly space: string
  /** The call of `ctx.child` that this level is, and what it makes of the child's events. */
  readonly place: string
  readonly emit: ((event: unknown) => unknown) | undefined
  state: State
  next: readonly Planned[] = []
  joins: Joins = new Map()
  /** The step under way, or to come. */
  stepNo = 1
  /** The newest checkpoint, and whether it says less than this level knows. */
  checkpoint = ''
  stale = true
  /** The next `seq`, and what was told and isn't stored yet: the last so many before it. */
  seq = 1
  log: Logged[] = []
  /** The way out of `start` is not known yet. */
  atStart = false
  step: Step | undefined

  constructor(
    run: Run,
    plan: Plan,
    parent?: {
      readonly execution: Execution
      readonly attempt: number
      readonly space: string
      readonly place: string
      readonly emit?: ((event: unknown) => unknown) | undefined
    },
  ) {
    this.run = run
    this.plan = plan
    this.parent = parent?.execution
    this.#attempt = parent?.attempt ?? 0
    this.ns = parent ? [...parent.execution.step.level.ns, parent.execution.task.key] : []
    this.space = parent?.space ?? '-'
    this.place = parent?.place ?? ''
    this.emit = parent?.emit
    this.state = new State(plan.fields)
  }

  /** Refuses to go on when the run, or the attempt of the node that this is a child of, is over. */
  assertAlive(): void {
    const { run, parent } = this
    if (run.stopped) throw run.stopped.reason
    if (parent && !parent.alive(this.#attempt)) throw parent.step.stopped?.reason
  }

  /** Task ids from the root down to a task of this level. */
  chain(task: string): string[] {
    return this.parent ? [...this.parent.step.level.chain(this.parent.task.id), task] : [task]
  }

  /**
   * Counts an event; makes it only if somebody may read it. A child's events stay in its own log.
   *
   * @param logged What is kept of it; without, it follows from what is stored
   */
  tell(
    kind: string,
    rest: () => object,
    logged?: Logged,
    step = this.stepNo,
  ): Promise<void> | undefined {
    const seq = this.seq++
    const { sink, id, durable } = this.run
    if (logged !== undefined && durable) this.log.push(logged)
    if (this.parent || !sink) return undefined
    return sink.push({ seq, run: id, ns: [], kind, step, ...rest() } as never)
  }

  /** A node has finished. */
  tellEnd(execution: Execution): void {
    if (execution.saved) return
    execution.saved = true
    const { node, task, index } = execution
    this.tell(
      'node_end',
      () => ({ node: node.name, task: task.id, update: execution.shown() }),
      2 * index + 1,
    )
  }

  /** Counts that nodes have finished; it is told when it is stored, at `release`. */
  told(results: readonly Execution[]): void {
    if (!this.parent) this.run.sink?.hold()
    for (const execution of results) this.tellEnd(execution)
  }

  /** What was counted is stored. */
  release(): void {
    if (!this.parent) this.run.sink?.release()
  }

  /** Adds the row of what was told since the last commit, if there is anything. */
  writeLog(puts: Put[]): void {
    const { log, seq, step } = this
    if (log.length === 0) return
    this.log = []
    const { run } = this
    const tasks = step?.executions.map(({ task }) => task.id) ?? []
    const row = { run: run.id, step: this.stepNo, first: seq - log.length, tasks, log }
    puts.push({ key: eventKey(run.claim.root, this.space, seq - 1), value: logText(row) })
    this.#count()
  }

  /** Works out what runs first. A promise comes back only if the router of `start` made one. */
  async enter(checkpoint: string): Promise<void> {
    const way = follow(this.plan, this.plan.start, 'start', () => view(this.state))
    this.joins = new Map()
    const tasks = plannedTasks(
      this.plan,
      this.joins,
      [isPromise(way) ? await way : way],
      checkpoint,
    )
    this.next = isPromise(tasks) ? await tasks : tasks
    this.atStart = false
  }

  /**
   * Adds the rows of a checkpoint of this level as it stands.
   *
   * @param told What it says of the events of its step
   */
  write(
    id: string,
    source: Checkpoint['source'],
    puts: Put[],
    told: Pick<Checkpoint, 'seq' | 'ran' | 'log'> = { seq: [this.seq, this.seq] },
  ): void {
    const { run } = this
    const { root } = run.claim
    const row: Checkpoint = {
      id,
      parent: this.checkpoint || undefined,
      ns: this.ns,
      step: source === 'step' ? this.stepNo : this.stepNo - 1,
      source,
      run: run.id,
      time: run.app.owner.clock.now(),
      next: this.next.map(({ task }) => task),
      joins:
        this.joins.size > 0
          ? [...this.joins].map(([node, arrived]) => [node, [...arrived]] as const)
          : undefined,
      state: this.state.write(root, id, puts),
      ...told,
    }
    puts.push({ key: checkpointKey(root, this.space, id), value: checkpointText(row) })
    this.checkpoint = id
    this.stale = false
    this.#count()
  }

  /** Stores what was told without waiting for the step: a second from now at most, or when it is much. */
  flushSoon(): void {
    const { run } = this
    const flush = (): void => {
      run.cancelFlush?.()
      run.cancelFlush = undefined
      const { step } = this
      if (run.stopped || step?.stopped || this.log.length === 0) return
      const puts: Put[] = []
      this.writeLog(puts)
      run.claim.commit({ puts }).catch((error: unknown) => step?.stop(error))
    }
    if (this.log.length >= FLUSH_EVENTS) flush()
    else run.cancelFlush ??= later(run.app.owner.clock, FLUSH_MS, flush)
  }

  /** The head says how far the log goes. */
  #count(): void {
    if (!this.parent) this.run.claim.head.seq = this.seq
  }

  /** Remembers where the level stands; the function that comes back takes it there again. */
  mark(): () => void {
    const values = [...this.state.values]
    const joins = [...this.joins].map(([node, arrived]) => [node, new Set(arrived)] as const)
    return () => {
      for (const [i, value] of values.entries()) this.state.values[i] = value
      this.joins = new Map(joins)
    }
  }

  /** Stores a level that took its steps without storing them, together with the next durable commit. */
  save(): string {
    const { claim } = this.run
    const puts: Put[] = []
    this.stepNo--
    this.write(claim.id(), 'step', puts)
    this.stepNo++
    if (this.parent) puts.push(this.run.noteChild(this))
    void claim.commit({ puts })
    return this.checkpoint
  }

  /**
   * Takes over what a checkpoint says.
   *
   * @param shared Its rows belong to another branch or owner
   * @throws GraphChanged if a task's node is gone
   */
  async load(id: string, shared: boolean): Promise<Checkpoint> {
    const { claim } = this.run
    const row = await readRow(claim, claim.root, this.space, id)
    const missing = row.next
      .map(({ key }) => nodeOf(key))
      .filter((name) => !this.plan.nodes.has(name) && name !== 'start')
    if (missing.length > 0) {
      throw new GraphChanged(
        `Cannot go on with thread "${claim.head.thread}": graph "${this.plan.name}" has no ${missing.map((name) => `node "${name}"`).join(' and no ')} any more`,
        { thread: claim.head.thread, missing },
      )
    }
    this.state = await State.load(this.plan.fields, claim.root, row.state, claim, shared)
    this.next = row.next.flatMap((task) => {
      const node = this.plan.nodes.get(nodeOf(task.key))
      return node ? [{ task, node: node as PlanNode }] : []
    })
    this.atStart = row.next[0]?.key === 'start'
    this.joins = new Map(row.joins?.map(([node, arrived]) => [node, new Set(arrived)]))
    this.stepNo = row.step + 1
    this.checkpoint = row.id
    this.stale = false
    this.seq = row.seq[1]
    return row
  }
}

/** Why a checkpoint can't be read that isn't there. */
export const MISSING = 'its row is missing'

/** Reads a checkpoint's row. */
export async function readRow(
  from: Rows,
  root: Key,
  space: string,
  id: string,
): Promise<Checkpoint> {
  const [entry] = await from.get([checkpointKey(root, space, id)])
  if (entry === undefined) throw new Unreadable(MISSING)
  return readCheckpoint(entry.value, id)
}

/** Runs a level until it has ended or waits. */
export async function drive(level: Level): Promise<'ended' | 'paused'> {
  const { run } = level
  const { stepLimit } = run.app
  for (let taken = 0; level.next.length > 0; taken++) {
    level.assertAlive()
    if (taken === stepLimit) {
      throw new StepLimitExceeded(
        `Cannot take step ${level.stepNo} of graph "${level.plan.name}": a run takes at most ${stepLimit}`,
        { limit: stepLimit },
      )
    }
    const step = (level.step = new Step(level))
    step.begin()
    if (step.left > 0) await step.done()
    if (step.stopped) throw step.stopped.reason
    if (step.executions.some(({ status }) => status === 'paused')) return 'paused'
    await close(level, step)
  }
  return 'ended'
}
