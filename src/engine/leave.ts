import type { Cell } from '../durable/codec.ts'
import type { Put } from '../store/store.ts'
import type { Execution } from './execution.ts'
import { fold } from './fold.ts'
import { accepted } from './result.ts'
import type { Step } from './step.ts'
import { fieldAt, isPromise, type Update } from './take.ts'

/**
 * Leaves something in the lists of a level's state, should the run fail or be cancelled before the task has finished: going
 * on, or the next turn, finds it there. Another attempt that leaves something takes its place.
 *
 * @param update Fields that only grow: of two tasks neither is in the way of the other
 * @throws TypeError for any other field; SchemaError, UnserializableValue
 */
export function leave(execution: Execution, update: Readonly<Record<string, unknown>>): void {
  const { step, node } = execution
  const { plan } = step.level
  for (const name of Object.keys(update)) {
    const field = plan.fields[fieldAt(plan, name, { graph: plan.name, node: node.name })]
    if (!LISTS.includes(field?.kind as string))
      throw new TypeError(`Cannot leave field "${name}" of graph "${plan.name}": it is no list`)
  }
  step.leavings ??= new Leavings(step)
  step.leavings.add(execution, accepted(execution, update))
}

const LISTS = ['list', 'messages']

/** What the tasks of a step leave if they come to nothing. Made by `leave`, so that an app without agents bundles none of it. */
export class Leavings {
  readonly #step: Step
  readonly #of: Map<Execution, { attempt: number; updates: Update[] }> = new Map()
  /** Updates that a schema takes its time over. */
  readonly #late: Set<Promise<void>> = new Set()

  constructor(step: Step) {
    this.#step = step
  }

  add(execution: Execution, update: Update | Promise<Update>): void {
    const { attempt } = execution
    let own = this.#of.get(execution)
    if (own?.attempt !== attempt) this.#of.set(execution, (own = { attempt, updates: [] }))
    const { updates } = own
    if (!isPromise(update)) return void updates.push(update)
    const late = update
      .then(
        (taken) => void updates.push(taken),
        (error: unknown) => this.#lost(execution, error),
      )
      .finally(() => this.#late.delete(late))
    this.#late.add(late)
  }

  /** What has to settle before `fold`, if there is such. */
  get ready(): Promise<unknown> | undefined {
    return this.#late.size > 0 ? Promise.all(this.#late) : undefined
  }

  /**
   * Folds what tasks have left that didn't finish, and adds the rows of where their level stands then: a new checkpoint
   * with the same tasks, so that what the journal has of them goes on counting. At once: rows are numbered, and nobody may
   * come between them and their commit.
   */
  fold(puts: Put[]): void {
    const { level, executions } = this.#step
    const { plan, state, run } = level
    let some = false
    for (const execution of executions) {
      if (execution.status === 'done') continue
      for (const update of this.#of.get(execution)?.updates ?? []) {
        try {
          // Lists are folded at once.
          void fold(plan, state, [{ node: execution.node, update }])
          some ||= update.some(([, cells]) => (cells as Cell[]).length > 0)
        } catch (error) {
          this.#lost(execution, error)
        }
      }
    }
    if (!some) return
    const id = run.claim.id()
    level.write(id, 'update', puts)
    if (level.parent) puts.push(...run.noteChild(level))
    else run.claim.head.checkpoint = id
  }

  #lost({ node }: Execution, error: unknown): void {
    const { plan, run } = this.#step.level
    const about = { graph: plan.name, node: node.name, error }
    run.app.logger.warn('What a task left could not be kept', about)
  }
}
