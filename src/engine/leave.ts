import type { Cell } from '../durable/codec.ts'
import type { Put } from '../store/store.ts'
import type { Execution } from './execution.ts'
import { fold } from './fold.ts'
import { accepted } from './result.ts'
import { stepsOf, type Run } from './run.ts'
import { fieldAt, isPromise, type Update } from './take.ts'

/** What an attempt of a task leaves if it comes to nothing. */
export interface Leaving {
  readonly attempt: number
  readonly updates: (Update | Promise<Update>)[]
}

/**
 * Leaves something in the lists of a level's state, should the run fail or be cancelled before the task has finished: going
 * on, or the next turn, finds it there. Another attempt that leaves something takes its place.
 *
 * @param update Fields that only grow: of two tasks neither is in the way of the other
 * @throws TypeError for any other field; SchemaError, UnserializableValue
 */
export function leave(execution: Execution, update: Readonly<Record<string, unknown>>): void {
  const { step, node, attempt } = execution
  const { plan } = step.level
  for (const name of Object.keys(update)) {
    const field = plan.fields[fieldAt(plan, name, { graph: plan.name, node: node.name })]
    if (!LISTS.includes(field?.kind as string))
      throw new TypeError(`Cannot leave field "${name}" of graph "${plan.name}": it is no list`)
  }
  const accept = accepted(execution, update)
  // Looked at when the run fails, if it does.
  if (isPromise(accept)) accept.catch(() => {})
  step.leavings ??= new Map()
  const known = step.leavings.get(execution)
  if (known?.attempt === attempt) known.updates.push(accept)
  else step.leavings.set(execution, { attempt, updates: [accept] })
}

const LISTS = ['list', 'messages']

/**
 * Folds what tasks have left that didn't finish, and adds the rows of where their levels stand then: new checkpoints with
 * the same tasks, so that what the journal has of them goes on counting. Without anything left it adds nothing.
 */
export async function foldLeavings(run: Run, puts: Put[]): Promise<void> {
  const { claim, level: top, app } = run
  for (const { level, executions, leavings } of top ? stepsOf(top) : []) {
    if (!leavings) continue
    const { plan, state } = level
    let some = false
    for (const execution of executions) {
      if (execution.status === 'done') continue
      for (const late of leavings.get(execution)?.updates ?? []) {
        try {
          const update = await late
          await fold(plan, state, [{ node: execution.node, update }])
          some ||= update.some(([, cells]) => (cells as Cell[]).length > 0)
        } catch (error) {
          const about = { graph: plan.name, node: execution.node.name, error }
          app.logger.warn('What a task left could not be kept', about)
        }
      }
    }
    if (!some) continue
    const id = claim.id()
    level.write(id, 'update', puts)
    if (level.parent) puts.push(...run.noteChild(level))
    else claim.head.checkpoint = id
  }
}
