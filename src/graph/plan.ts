import { GraphInvalid } from '../errors.ts'
import type { Schema, SchemaResult } from '../schema.ts'
import { checkJoins, edgeOf, fieldOf, graphOf, nodeOf, questionsOf, show } from './check.ts'
import { isEach } from './graph.ts'
import type { Graph, NodeFn, NodeSpec, Retry } from './graph.ts'
import type { Question } from './question.ts'

/** A state field, ready to use. */
export interface PlanField {
  readonly name: string
  readonly validate: (value: unknown) => SchemaResult<unknown> | Promise<SchemaResult<unknown>>
  /** What the schema makes of nothing: the default, if there is one. */
  readonly absent: () => SchemaResult<unknown> | Promise<SchemaResult<unknown>>
  /** `list` folds with `append`, `messages` by id, `reduced` with `merge` or `sum`: their update is validated. Of a `custom` reducer the folded value is. */
  readonly kind: 'plain' | 'list' | 'messages' | 'reduced' | 'custom'
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
  readonly cache: NodeSpec['cache']
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
  readonly version: number
  readonly migrate: Graph['migrate']
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
  const name = typeof graph?.name === 'string' ? graph.name : ''
  const bad = (problem: string, node?: string): never =>
    refuse('compile graph', name, problem, node)
  const { state, nodes: specs, edges, questions, version = 1, migrate } = graphOf(graph, bad)
  const fields = Object.keys(state).map((key) => fieldOf(key, state[key], bad))
  const nodes = new Map(
    Object.keys(specs).map((key, order) => [key, nodeOf(key, specs[key], order, bad)]),
  )
  const ways = new Map<string, PlanEdge>()
  for (const from of ['start', ...nodes.keys()]) ways.set(from, edgeOf(from, edges, nodes, bad))
  for (const from of Object.keys(edges)) {
    if (!ways.has(from)) bad(`there is an edge from "${from}", which is not a node`)
  }
  checkJoins(nodes, ways, bad)
  for (const node of nodes.values()) {
    node.edge = ways.get(node.name)!
    if (node.child) plan(node.child)
  }
  const made: Plan = {
    graph,
    name,
    fields,
    index: new Map(fields.map((field, at) => [field.name, at])),
    nodes,
    version,
    migrate,
    start: ways.get('start')!,
    questions: questionsOf(questions, bad),
  }
  plans.set(graph, made)
  return made
}

/**
 * Turns what a router or `goto` returned into what runs next. `end` adds nothing.
 *
 * @param from The node it leaves, or `start`
 * @param to The only names allowed, where the edge declares them
 * @throws GraphInvalid naming the graph and the node
 */
export function targets(
  { name: graph, nodes }: Plan,
  target: unknown,
  from: string,
  to?: readonly string[],
): readonly PlanTarget[] {
  const bad = (problem: string): never => refuse(`leave "${from}" in graph`, graph, problem, from)
  const found = new Set<PlanTarget>()
  for (const one of Array.isArray(target) ? target : [target]) {
    const many = isEach(one)
    const name = many ? one.each : one
    if (to?.includes(name) === false) bad(`${show(name)} is not among its "to"`)
    if (name === 'end' && !many) continue
    const node = nodes.get(name) ?? bad(`${show(name)} is not a node`)
    if (!many) found.add(node)
    else if (!Array.isArray(one.items)) bad(`the items for "${name}" are not a list`)
    else found.add({ each: node, items: one.items })
  }
  return [...found]
}

function refuse(verb: string, graph: string, problem: string, node?: string): never {
  throw new GraphInvalid(`Cannot ${verb} "${graph}": ${problem}`, {
    graph,
    ...(node !== undefined && { node }),
    problem,
  })
}
