import { decode, type Cell } from '../durable/codec.ts'
import type { Entry, ResultEntry } from '../durable/journal.ts'
import { changesOf, type Ran } from '../durable/log-row.ts'
import { isGoto } from '../graph/graph.ts'
import { targets, type PlanField } from '../graph/plan.ts'
import type { Execution } from './execution.ts'
import { cellsOf, take, type Update } from './take.ts'

/** The journal's entry for a finished task. */
export function resultEntry({ task, update, gotoNames, step }: Execution): Entry {
  const { fields } = step.level.plan
  const named = update.map(([i, value]) => [fields[i]!.name, value] as const)
  return { kind: 'result', task: task.id, update: named, goto: gotoNames }
}

/** The update in what a node or one of its hooks gives, validated; a `goto` is kept with the task. */
export function accepted(execution: Execution, value: unknown): Update | Promise<Update> {
  const { node, step } = execution
  const { plan } = step.level
  if (isGoto(value)) {
    execution.gotoNames = ([] as string[]).concat(value.goto)
    execution.goto = targets(plan, execution.gotoNames.map(String), node.name)
    value = value.update
  }
  return take(step.level, value, node.name)
}

/** Takes over a result from the journal. */
export function restore(execution: Execution, { update, goto }: ResultEntry): void {
  const { plan, run, state } = execution.step.level
  execution.update = update.flatMap(([name, value]) => {
    const i = plan.index.get(name)
    if (i === undefined) return []
    const field = plan.fields[i] as PlanField
    // Who had finished may have done so when the field was another list.
    if (field.kind !== 'messages') return [[i, value] as Update[number]]
    const items = (value as readonly Cell[]).map(decode)
    return [[i, cellsOf(field, items, { graph: plan.name }, run.app, state.values[i])]]
  })
  execution.gotoNames = goto
  execution.goto = goto && targets(plan, goto, execution.node.name)
  execution.saved = true
  execution.status = 'done'
}

/** What the checkpoint after its step keeps of it. */
export function ranOf({ task: { key, id }, update, step }: Execution, checkpoint: string): Ran {
  const changes = changesOf(update, step.level.plan.fields)
  return id === `${checkpoint}.${key}` ? [key, changes] : [key, changes, id]
}

/** What a node changed, for those who watch. */
export function shownUpdate({ update, step }: Execution): Record<string, unknown> {
  const { fields } = step.level.plan
  const show = (cell: Cell | readonly Cell[], kind: string): unknown =>
    kind === 'list' || kind === 'messages'
      ? (cell as readonly Cell[]).map(decode)
      : decode(cell as Cell)
  const named = update.map(([i, value]) => [fields[i]!.name, show(value, fields[i]!.kind)])
  return Object.fromEntries(named) as Record<string, unknown>
}
