import { GraphInvalid } from '../errors.ts'
import type { Schema, SchemaResult } from '../schema.ts'
import { checkJoins, edgeOf, fieldOf, isObject, nodeOf, questionsOf, show } from './check.ts'
import { isEach } from './graph.ts'
import type { Graph, NodeFn, Retry } from './graph.ts'
import type { Question } from './question.ts'

/** A state field, ready to use. */
export interface PlanField {
  readonly name: string
  readonly validate: (value: unknown) => SchemaResult<unknown> | Promise<SchemaResult<unknown>>
  /** `list` folds with `append`, `reduced` with `merge` or `sum`: their update is validated. Of a `custom` reducer the folded value is. */
  readonly kind: 'plain' | 'list' | 'reduced' | 'custom'
  readonly reduce: ((current: unknown, update: unknown) => unknown) | undefined
}

/** A node, its settings checked and their defaults filled in. */
export interface PlanNode {
  readonly name: string
  /** Its place among the declared nodes: the order in which updates are folded. */
  readonly order: number
  readonly run: NodeFn
  readonly item: Schema['~standard']['validate'] | undefined
  readonly after: readonly string[] | undefined
  readonly timeout: number | undefined
  readonly retry: (Required<Omit<Retry, 'when'>> & Pick<Retry, 'when'>) | undefined
  readonly edge: PlanEdge
  readonly child: Graph | undefined
}

/** A way out: known nodes (none for `end`), or a function that picks, among the names in `to` if there is one. */
export type PlanEdge =
  | { readonly fixed: readonly PlanNode[]; readonly pick?: undefined; readonly to?: undefined }
  | {
      readonly pick: (state: unknown) => unknown
      readonly to: readonly string[] | undefined
      readonly fixed?: undefined
    }

/** Everything about a graph that can be worked out before it runs. */
export interface Plan {
  readonly graph: Graph
  readonly name: string
  readonly fields: readonly PlanField[]
  /** Position of a field, by name. */
  readonly index: ReadonlyMap<string, number>
  readonly nodes: ReadonlyMap<string, PlanNode>
  readonly start: PlanEdge
  /** The questions the graph lists, by key. */
  readonly questions: ReadonlyMap<string, Question>
}

/** What runs next: a node, or one task of it per item. */
export type PlanTarget = PlanNode | { readonly each: PlanNode; readonly items: readonly unknown[] }

const plans: WeakMap<object, Plan> = /* @__PURE__ */ new WeakMap()

/**
 * Checks a graph and works out what the engine needs. Done once per graph object.
 *
 * @throws GraphInvalid naming the graph and, where there is one, the node
 */
export function plan(graph: Graph): Plan {
  const known = plans.get(graph)
  if (known) return known
  const made = draw(graph)
  // Kept before its children are planned, as a graph may contain itself.
  plans.set(graph, made)
  try {
    for (const { child } of made.nodes.values()) if (child) plan(child)
  } catch (error) {
    plans.delete(graph)
    throw error
  }
  return made
}

/**
 * Turns what a router or `goto` returned into what runs next. `end` and an `each` without items add nothing.
 *
 * @param from The node it leaves, or `start`
 * @param to The only names allowed, where the edge declares them
 * @throws GraphInvalid naming the graph and the node
 */
export function targets(
  plan: Plan,
  target: unknown,
  from: string,
  to?: readonly string[],
): readonly PlanTarget[] {
  const bad = (problem: string): never =>
    refuse(`leave "${from}" in graph`, plan.name, problem, from)
  const found = new Set<PlanTarget>()
  for (const one of Array.isArray(target) ? target : [target]) {
    const items = isEach(one) && one.items
    const name = items === false ? one : one.each
    if (to && !to.includes(name)) bad(`${show(name)} is not among the names in its "to"`)
    if (name === 'end' && items === false) continue
    const node = plan.nodes.get(name) ?? bad(`${show(name)} is not a node`)
    if (items === false) found.add(node)
    else if (!Array.isArray(items)) bad(`the items for "${name}" are not an array`)
    else if (items.length > 0) found.add({ each: node, items })
  }
  return [...found]
}

function draw(graph: Graph): Plan {
  const name = typeof graph?.name === 'string' ? graph.name : ''
  const bad = (problem: string, node?: string): never =>
    refuse('compile graph', name, problem, node)
  if (!isObject(graph)) bad('it is not an object')
  if (name === '') bad('its name is not a non-empty string')
  for (const part of ['state', 'nodes', 'edges'] as const) {
    if (!isObject(graph[part])) bad(`its "${part}" is not an object`)
  }
  const fields = Object.keys(graph.state).map((key) => fieldOf(key, graph.state[key], bad))
  const nodes = new Map(
    Object.keys(graph.nodes).map((key, order) => [key, nodeOf(key, graph.nodes[key], order, bad)]),
  )
  if (nodes.size === 0) bad('it has no nodes')
  const ways = new Map<string, PlanEdge>()
  for (const from of ['start', ...nodes.keys()]) ways.set(from, edgeOf(from, graph, nodes, bad))
  for (const from of Object.keys(graph.edges)) {
    if (!ways.has(from)) bad(`there is an edge from "${from}", which is not a node`)
  }
  for (const node of nodes.values()) node.edge = ways.get(node.name)!
  checkJoins(nodes, ways, bad)
  return {
    graph,
    name,
    fields,
    index: new Map(fields.map((field, at) => [field.name, at])),
    nodes,
    start: ways.get('start')!,
    questions: questionsOf(graph.questions, bad),
  }
}

function refuse(verb: string, graph: string, problem: string, node?: string): never {
  throw new GraphInvalid(`Cannot ${verb} "${graph}": ${problem}`, {
    graph,
    ...(node !== undefined && { node }),
    problem,
  })
}
