import { decode, encode } from '../durable/codec.ts'
import type { PlaceEntry } from '../durable/journal.ts'
import { targets } from '../graph/plan.ts'
import { runAfter, runBeforeOrUndo, runOnError, stops, suppress } from '../hook/dispatch.ts'
import type { Hook, NodeInvocation } from '../hook/hook.ts'
import { isPolicyOutcome } from '../hook/outcome.ts'
import type { Counted } from './calls.ts'
import type { Execution } from './execution.ts'
import { accepted, shownUpdate } from './result.ts'
import { cellsOf, type Update } from './take.ts'
import { view } from './view.ts'

/** The hooks of an app that care for nodes, each list in the order in which it is called. */
export interface NodeHooks {
  readonly before: readonly Hook[]
  readonly after: readonly Hook[]
  readonly onError: readonly Hook[]
}

/** Where the journal keeps what a node returned whose hooks after it may not have run. */
const RAN = 'ran'

interface Ran {
  readonly update: Readonly<Record<string, unknown>>
  readonly goto: readonly string[] | undefined
  readonly counted: Counted | undefined
}

/** Sorts hooks out; `undefined` if none of them cares for nodes. */
export function nodeHooks(hooks: readonly Hook[]): NodeHooks | undefined {
  const outward = hooks.toReversed()
  const before = hooks.filter((hook) => hook.beforeNode)
  const after = outward.filter((hook) => hook.afterNode)
  const onError = outward.filter((hook) => hook.onNodeError)
  return [before, after, onError].some(({ length }) => length > 0)
    ? { before, after, onError }
    : undefined
}

/** What stands around a node that is entered: hooks, or what is left to do after it; usually nothing. */
export function around(execution: Execution): Around | undefined {
  const { hooked, journal } = execution.step.level.run
  const ran = journal.of(execution.task.id)?.places.get(RAN)
  const hooks = hooked.nodeHooks
  return hooks || ran ? new Around(execution, hooks, ran) : undefined
}

/**
 * The hooks around one entry of a node: those before it are asked ahead of its first attempt, the others are told what
 * came of the last. Each of these three rounds is bounded by the node's timeout.
 */
export class Around {
  readonly #execution: Execution
  readonly #hooks: NodeHooks | undefined
  readonly #ran: PlaceEntry | undefined
  readonly #inv: NodeInvocation
  #controller: AbortController | undefined
  #stopped: { readonly reason: unknown } | undefined
  /** How far the calls of hooks before the node are counted: each attempt goes on from there. */
  counted: Counted | undefined

  constructor(execution: Execution, hooks: NodeHooks | undefined, ran: PlaceEntry | undefined) {
    const { level } = execution.step
    this.#execution = execution
    this.#hooks = hooks
    this.#ran = ran
    this.#inv = Object.freeze({
      flow: level.plan.name,
      node: execution.node.name,
      state: Object.freeze(view(level.state)),
      ctx: level.run.app.context(execution) as never,
    })
  }

  /** What hooks see of being stopped: attempts of the node come and go meanwhile. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#stopped) this.#controller.abort(this.#stopped.reason)
    }
    return this.#controller.signal
  }

  stop(reason: unknown): void {
    this.#stopped = { reason }
    this.#controller?.abort(reason)
  }

  /** Enters the node, or goes on after it where it has run before. */
  begin(): void {
    const execution = this.#execution
    execution.status = 'running'
    execution.step.level.log.tellStart(execution, 1)
    if (this.#ran) return this.#again(decode(this.#ran.value) as Ran)
    const { before = [] } = this.#hooks ?? {}
    if (before.length === 0) return execution.run()
    this.#round(
      runBeforeOrUndo(before, ['beforeNode', 'onNodeError'], this.#inv),
      (verdict) => {
        this.counted = execution.asked?.counted
        if (verdict) this.#take(verdict.shortCircuit, () => this.#after(), this.#fail)
        else execution.run()
      },
      this.#fail,
    )
  }

  /** The node has returned, and what it returned is good: that is stored before anything else can fail. */
  returned(): void {
    const execution = this.#execution
    if (!this.#hooks?.after.length) return execution.land()
    const { task, step, gotoNames, node } = execution
    const { asked } = execution
    const ran: Ran = { update: shownUpdate(execution), goto: gotoNames, counted: asked?.counted }
    const value = encode(ran, node.name)
    execution.turn(ran.counted)
    step.level.run
      .note({ kind: 'ran', task: task.id, place: RAN, value })
      .then(() => execution.alive(0) && this.#after(), this.#fail)
  }

  /** The node has failed for good. */
  failed(error: unknown): void {
    const execution = this.#execution
    const { onError = [] } = this.#hooks ?? {}
    const stopped = execution.step.level.run.claim.failure ?? stops(this.#inv, error)
    if (onError.length === 0 || stopped || isPolicyOutcome(error)) return execution.fail(error)
    execution.halt(error)
    execution.turn(this.counted)
    const lost = (another: unknown): void => {
      suppress(error, another)
      execution.fail(error)
    }
    this.#round(
      runOnError(onError, 'onNodeError', this.#inv, error),
      (verdict) => {
        if (!verdict) return execution.fail(error)
        execution.goto = execution.gotoNames = undefined
        this.#take(verdict.shortCircuit, () => execution.land(), lost)
      },
      lost,
    )
  }

  #again({ update, goto, counted }: Ran): void {
    const execution = this.#execution
    const { plan, run, state } = execution.step.level
    execution.turn()
    if (counted) execution.calls.again(counted)
    try {
      execution.update = Object.entries(update).flatMap(([name, value]): Update => {
        const i = plan.index.get(name)
        if (i === undefined) return []
        const now = state.values[i]
        return [[i, cellsOf(plan.fields[i]!, value, { graph: plan.name }, run.app, now)]]
      })
      execution.gotoNames = goto
      execution.goto = goto && targets(plan, goto, execution.node.name)
    } catch (error) {
      return execution.fail(error)
    }
    this.#after()
  }

  #after(): void {
    const execution = this.#execution
    const { after = [] } = this.#hooks ?? {}
    if (after.length === 0) return execution.land()
    const shown = shownUpdate(execution)
    this.#round(
      runAfter<unknown>(after, 'afterNode', this.#inv, shown),
      (value) => {
        if (value === shown) execution.land()
        else this.#take(value, () => execution.land(), this.#fail)
      },
      this.#fail,
    )
  }

  /** Takes an update that a hook gives. */
  #take(value: unknown, then: () => void, failed: (error: unknown) => void): void {
    const execution = this.#execution
    this.#round(
      Promise.resolve().then(() => accepted(execution, value)),
      (update) => {
        execution.update = update
        then()
      },
      failed,
    )
  }

  readonly #fail = (error: unknown): void => this.#execution.fail(error)

  /** Waits for hooks; what they do after they were given up, or have paused the node, is dropped. */
  #round<Value>(
    work: Promise<Value>,
    then: (value: Value) => void,
    failed: (error: unknown) => void,
  ): void {
    const execution = this.#execution
    let over = false
    const first =
      <Given>(settle: (given: Given) => void) =>
      (given: Given): void => {
        if (over || execution.pausing || !execution.alive(0)) return
        over = true
        execution.free()
        settle(given)
      }
    const fail = first(failed)
    execution.limit(fail)
    work.then(first(then), fail)
  }
}
