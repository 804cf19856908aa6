import { textOfJson } from '../cache/canonical.ts'
import { follow, lead, type Lead } from '../cache/flight.ts'
import { nodeKey, scopePart, tenantNs } from '../cache/key.ts'
import { keep, recall, type ToolResultCache } from '../cache/results.ts'
import { isPart } from '../durable/codec-tags.ts'
import { decode, encode, parts, type Cell } from '../durable/codec.ts'
import { List, type Value } from '../durable/list.ts'
import { goto, isGoto } from '../graph/graph.ts'
import type { PlanNode } from '../graph/plan.ts'
import { digest } from '../lib/digest.ts'
import type { Execution } from './execution.ts'
import { view } from './view.ts'

/** What a cache holds of a node: what it returned. */
interface Returned {
  readonly update: unknown
  readonly goto?: readonly string[]
}

/** Where what a node returns in this attempt is kept, and who waits for it. */
export class Keeping {
  readonly #execution: Execution
  readonly #cache: ToolResultCache
  readonly #key: string
  readonly lead: Lead | undefined
  #cell: Cell | undefined
  #landed = false

  constructor(execution: Execution, cache: ToolResultCache, key: string, first?: Lead) {
    this.#execution = execution
    this.#cache = cache
    this.#key = key
    this.lead = first
  }

  /** Copies what the node returned, as it is now. */
  take(value: unknown): void {
    const kept: Returned = isGoto(value)
      ? { update: value.update, goto: [value.goto].flat() }
      : { update: value }
    try {
      this.#cell = encode(kept)
    } catch (error) {
      leave(this.#execution, error)
    }
  }

  /** What was returned counts: those who wait get it at once, who comes later finds it in the cache. */
  land(): void {
    const cell = this.#cell
    if (cell === undefined) return
    const { step, node } = this.#execution
    this.#landed = true
    this.lead?.land(cell)
    const kept = keep(this.#cache, 'node', this.#key, decode(cell), node.cache?.ttl)
    step.keeping = Promise.all([step.keeping, kept.then(() => this.lead?.end())])
  }

  /** The attempt is over. */
  end(): void {
    if (!this.#landed) this.lead?.end()
  }
}

/** Takes what a node has returned for the same key if that is known, and enters the node otherwise. Rejects with what its `key` throws. */
export async function lookUp(
  execution: Execution,
  attempt: number,
  take: (value: unknown) => void,
  enter: () => void,
): Promise<void> {
  const found = await recalled(execution, attempt)
  if (!execution.alive(attempt)) return
  execution.cached = found !== undefined
  if (found) take(found.value)
  else enter()
}

/**
 * Finds what a node has returned for the same key: in the cache, or from who is at it. If nothing is found, what it returns
 * now may be kept. A task that has asked, called or stored something already is neither looked up nor kept: what it returns
 * depends on more than its key says.
 */
async function recalled(
  execution: Execution,
  attempt: number,
): Promise<{ readonly value: unknown } | undefined> {
  const { step, task } = execution
  const { run } = step.level
  const { cache, flights } = run.app.host
  const depends = attempt > 1 ? !execution.keeping : run.journal.of(task.id)
  if (!cache || depends) return undefined
  const key = await keyOf(execution, cache.ns)
  if (key === undefined) return undefined
  // Who is waited for waits for nobody.
  const followed = leads(execution) ? undefined : await follow(flights, key)
  if (followed) return returned(decode(followed.cell))
  if (!execution.alive(attempt)) return undefined
  const first = lead(flights, key)
  execution.keeping = new Keeping(execution, cache, key, first)
  const kept = await recall(cache, 'node', key)
  const found = kept && returned(kept.value)
  if (found) first?.land(encode(kept.value))
  return found
}

/** What a node returned, as it returned it. What isn't that is no hit. */
function returned(kept: unknown): { readonly value: unknown } | undefined {
  if (!isPart(kept) || !('update' in kept)) return undefined
  const { update, goto: names } = kept as never as Returned
  return { value: names ? goto(names, update) : update }
}

/** Whether something that this task is part of has others who wait for it. */
function leads(execution: Execution): boolean {
  for (let up = execution.step.level.parent; up; up = up.execution.step.level.parent)
    if (up.execution.keeping?.lead) return true
  return false
}

/** What a node's result is kept under: the graph and its version, the node, the scope, what it depends on, and its item. */
async function keyOf(execution: Execution, ns: string): Promise<string | undefined> {
  const { step, task, node } = execution
  const { plan, state, run } = step.level
  const { scope, key } = node.cache!
  const { root, born, tenant } = run.claim.head
  const whose = scopePart({ scope, runId: root, threadId: born }) as string
  const item = task.item === undefined ? null : parts(task.item)
  const chosen = key && (await key(view(state)))
  try {
    const of = key
      ? [parts(encode(chosen))]
      : plan.fields.map(({ name }, i) => [name, partsOf(state.values[i])])
    const hash = await digest(textOfJson([plan.version, of, item]))
    return nodeKey(tenantNs(ns, tenant), whose, plan.name, node.name, hash)
  } catch (error) {
    return leave(execution, error)
  }
}

/** A field's value, as canonical JSON can hold it. */
const partsOf = (value: Value): unknown =>
  value === undefined
    ? null
    : value instanceof List
      ? { l: value.cells().map(parts) }
      : parts(value)

const told: WeakSet<PlanNode> = /* @__PURE__ */ new WeakSet()

/** Says once of a node that its results can't be cached. */
function leave({ step, node }: Execution, error: unknown): undefined {
  if (told.has(node)) return
  told.add(node)
  const { plan, run } = step.level
  run.app.logger.debug('What a node returned is not cached: JSON can not hold it or its key', {
    graph: plan.name,
    node: node.name,
    error,
  })
}
