import { checkpointText, type Checkpoint, type Cut } from '../durable/checkpoint.ts'
import { checkpointKey } from '../durable/keys.ts'
import type { News } from '../durable/list.ts'
import { State } from '../durable/state.ts'
import { StepLimitExceeded } from '../errors.ts'
import type { Plan } from '../graph/plan.ts'
import type { Put } from '../store/store.ts'
import { close } from './close.ts'
import { follow, plannedTasks, type Joins, type Planned } from './route.ts'
import { Log } from './log.ts'
import type { Run } from './run.ts'
import type { Calls } from './calls.ts'
import { Step } from './step.ts'
import { view } from './view.ts'
import type { Told } from './watch.ts'

/** One graph on its way: the thread's own, or a child graph inside a node. */
export class Level {
  readonly run: Run
  readonly plan: Plan
  readonly parent: Calls | undefined
  /** Whether the attempt that called it is still under way. */
  readonly #alive: (() => boolean) | undefined
  /** Path by node names, and the name of its rows; `-` for the thread's own graph. */
  readonly ns: readonly string[]
  readonly space: string
  /** The call of `ctx.child` that this level is, and what it makes of the child's events. */
  readonly place: string
  readonly emit: ((event: unknown) => unknown) | undefined
  state: State
  next: readonly Planned[] = []
  /** What the branches on the way here left behind. */
  cuts: readonly Cut[] = []
  joins: Joins = new Map()
  /** The step under way, or to come. */
  stepNo = 1
  /** The newest checkpoint, and whether it says less than this level knows. */
  checkpoint = ''
  stale = true
  readonly log: Log
  /** Messages that the next commit saves for the first time, and replies whose usage it does, if it is the thread's own. */
  readonly news: (News | Told)[] | undefined
  /** The way out of `start` is not known yet. */
  atStart = false
  step: Step | undefined

  constructor(
    run: Run,
    plan: Plan,
    parent?: {
      readonly calls: Calls
      readonly alive: () => boolean
      readonly space: string
      readonly place: string
      readonly emit?: ((event: unknown) => unknown) | undefined
    },
  ) {
    this.run = run
    this.plan = plan
    const outer = parent?.calls.execution
    this.parent = parent?.calls
    this.#alive = parent?.alive
    this.news = parent ? undefined : []
    this.ns = outer ? [...outer.step.level.ns, outer.task.key] : []
    this.space = parent?.space ?? '-'
    this.place = parent?.place ?? ''
    this.emit = parent?.emit
    this.state = new State(plan.fields)
    this.log = new Log(this)
  }

  /** Refuses to go on when the run, or the attempt of the node that this is a child of, is over. */
  assertAlive(): void {
    const { run, parent } = this
    if (run.stopped) throw run.stopped.reason
    if (this.#alive?.() === false) throw parent?.execution.step.stopped?.reason
  }

  /** Task ids from the root down to a task of this level. */
  chain(task: string): string[] {
    return this.parent ? [...this.parent.chain(), task] : [task]
  }

  /** Leaves it to the next run to work out what runs first. */
  waitAtStart(checkpoint: string): void {
    this.next = [{ task: { key: 'start', id: `${checkpoint}.start` }, node: undefined as never }]
  }

  /** Works out what runs first. */
  async enter(checkpoint: string): Promise<void> {
    const { plan, state } = this
    const way = await follow(plan, plan.start, 'start', () => view(state))
    this.joins = new Map()
    this.next = await plannedTasks(plan, this.joins, [way], checkpoint)
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
    told: Pick<Checkpoint, 'seq' | 'ran' | 'log'> & Partial<Pick<Checkpoint, 'run'>> = {
      seq: [this.log.seq, this.log.seq],
    },
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
          ? [...this.joins].map(
              ([node, arrived]) =>
                [node, [...arrived], this.plan.nodes.get(node)?.after ?? []] as const,
            )
          : undefined,
      state: this.state.write(root, id, puts, this.news),
      version: this.plan.version === 1 ? undefined : this.plan.version,
      cuts: this.cuts.length > 0 ? this.cuts : undefined,
      ...told,
    }
    puts.push({ key: checkpointKey(root, this.space, id), value: checkpointText(row) })
    this.checkpoint = id
    this.stale = false
    this.log.count()
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
    if (this.parent) puts.push(...this.run.noteChild(this))
    void claim.commit({ puts })
    return this.checkpoint
  }
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
    if (step.keeping) await step.until(step.keeping)
    if (step.stopped) throw step.stopped.reason
    if (step.executions.some(({ status }) => status === 'paused')) return 'paused'
    await close(level, step)
  }
  return 'ended'
}
