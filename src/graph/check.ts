import type { Schema } from '../schema.ts'
import type { Graph, NodeFn, NodeSpec, Retry } from './graph.ts'
import type { PlanEdge, PlanField, PlanNode } from './plan.ts'
import type { Question } from './question.ts'
import { append, merge, sum } from './state.ts'

/** Refuses the graph; naming the node it is about, if any. */
type Refuse = (problem: string, node?: string) => never

/** A node whose way out isn't known yet. */
type Draft = { -readonly [K in keyof PlanNode]: PlanNode[K] }

const LONGEST = 2 ** 31 - 1

/** Least, most and default of each number in `retry`. */
const RETRY: { readonly [name: string]: readonly [number, number, number?] } = {
  attempts: [1, LONGEST],
  delay: [0, LONGEST, 500],
  factor: [1, LONGEST, 2],
  maxDelay: [0, LONGEST, 30_000],
  jitter: [0, 1, 0.2],
}

/** Reads one state field. */
export function fieldOf(name: string, field: unknown, bad: Refuse): PlanField {
  const plain = isSchema(field)
  const { schema, reduce } = (plain ? { schema: field } : (field ?? {})) as {
    schema?: unknown
    reduce?: PlanField['reduce']
  }
  if (!isSchema(schema) || !(plain || typeof reduce === 'function')) {
    return bad(`field "${name}" is neither a schema nor reduced`)
  }
  const known = reduce === (merge as unknown) || reduce === (sum as unknown)
  const kind = plain ? 'plain' : reduce === (append as unknown) ? 'list' : known ? 'reduced' : 'custom'
  return { name, validate: validator(schema), kind, reduce }
}

/** Reads one node and its settings. */
export function nodeOf(name: string, spec: unknown, order: number, bad: Refuse): Draft {
  const fail = (problem: string): never => bad(`node "${name}" ${problem}`, name)
  const only = (given: object, names: readonly string[]): void => {
    for (const key of Object.keys(given)) {
      if (!names.includes(key)) fail(`has an unknown setting "${key}"`)
    }
  }
  const number = (key: string, value: unknown, least: number, most: number): number => {
    const whole = key === 'attempts'
    return (whole ? Number.isInteger(value) : typeof value === 'number') &&
      (value as number) >= least &&
      (value as number) <= most
      ? (value as number)
      : fail(`has "${key}" ${show(value)}, not a ${whole ? 'whole ' : ''}number from ${least} to ${most}`)
  }

  if (name === 'start' || name === 'end') fail('has a reserved name')
  if (/^$|[#/]/.test(name)) fail('has a name that is empty or contains "#" or "/"')
  const { run, graph, item, after, timeout, retry } = (
    typeof spec === 'function' ? { run: spec as NodeFn } : (spec ?? {})
  ) as NodeSpec
  if (typeof run !== 'function') fail('is neither a function nor an object with "run"')
  if (isObject(spec)) only(spec, ['run', 'graph', 'item', 'after', 'timeout', 'retry'])
  if (item !== undefined && !isSchema(item)) fail('has an "item" that is not a schema')
  if (after !== undefined && !(Array.isArray(after) && after.length > 0)) {
    fail('has an "after" that is not a list of nodes')
  }
  if (retry !== undefined) {
    if (!isObject(retry)) fail('has a "retry" that is not an object')
    only(retry, [...Object.keys(RETRY), 'when'])
    if (retry.when !== undefined && typeof retry.when !== 'function') {
      fail('has a "when" that is not a function')
    }
  }
  const numbers = Object.entries(RETRY).map(([key, [least, most, usual]]) => {
    const given = retry?.[key as keyof Retry]
    return [key, given === undefined ? usual : given, least, most] as const
  })
  return {
    name,
    order,
    run,
    item: item && validator(item),
    after,
    timeout: timeout === undefined ? timeout : number('timeout', timeout, 1, LONGEST),
    retry: retry && {
      ...retry,
      ...(Object.fromEntries(
        numbers.map(([key, ...rest]) => [key, number(key, ...rest)]),
      ) as unknown as Required<Retry>),
    },
    edge: { fixed: [] },
    child: graph,
  }
}

/** Reads the way out of a node, or of `start`. */
export function edgeOf(
  from: string,
  graph: Graph,
  nodes: ReadonlyMap<string, PlanNode>,
  bad: Refuse,
): PlanEdge {
  const edge: unknown = Object.hasOwn(graph.edges, from) ? graph.edges[from] : undefined
  if (typeof edge === 'function') return { pick: edge as () => unknown, to: undefined }
  const { to = edge, pick } = (isObject(edge) ? edge : {}) as { to?: unknown; pick?: unknown }
  const names: readonly string[] = Array.isArray(to) ? to : to === undefined ? [] : [to]
  if (names.length === 0) bad(`"${from}" has no way out`, from)
  for (const name of names) {
    if (name !== 'end' && !nodes.has(name)) {
      bad(`the edge from "${from}" leads to ${show(name)}, which is not a node`, from)
    }
  }
  if (typeof pick === 'function') return { pick: pick as () => unknown, to: names }
  if (to !== edge) bad(`the edge from "${from}" has no function "pick"`, from)
  const known = new Set(names.filter((name) => name !== 'end'))
  return { fixed: [...known].map((name) => nodes.get(name)!) }
}

/** Refuses joins that could never run, or that could be entered past those they wait for. */
export function checkJoins(
  nodes: ReadonlyMap<string, PlanNode>,
  ways: ReadonlyMap<string, PlanEdge>,
  bad: Refuse,
): void {
  // The names an edge leads to, where they can be known.
  const names = (from: string): readonly string[] | undefined => {
    const edge = ways.get(from)!
    return edge.fixed ? edge.fixed.map(({ name }) => name) : edge.to
  }
  for (const from of ways.keys()) {
    for (const to of names(from) ?? []) {
      if (nodes.get(to)?.after?.includes(from) === false) {
        bad(`the edge from "${from}" leads to "${to}", which does not list it in "after"`, from)
      }
    }
  }
  for (const { name, after } of nodes.values()) {
    const fail = (problem: string): never => bad(`node "${name}" is after ${problem}`, name)
    for (const from of after ?? []) {
      if (from === name) fail('itself')
      if (!nodes.has(from)) fail(`${show(from)}, which is not a node`)
      if (names(from)?.includes(name) === false) fail(`"${from}", whose edge does not lead to it`)
    }
    if (after && new Set(after).size < after.length) fail('the same node twice')
  }
}

/** Reads the questions whose answers are checked early. */
export function questionsOf(list: Graph['questions'], bad: Refuse): Map<string, Question> {
  const found = new Map<string, Question>()
  if (list !== undefined && !Array.isArray(list)) bad('its "questions" are not a list')
  for (const one of list ?? []) {
    if (typeof one?.key !== 'string' || !isSchema(one.schema)) {
      bad('its "questions" hold something that is not a question')
    }
    if (found.has(one.key)) bad(`two of its questions have the key "${one.key}"`)
    found.set(one.key, one)
  }
  return found
}

/** Whether a value is an object that may hold settings. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/** A value in the words of an error message. */
export function show(value: unknown): string {
  return typeof value === 'string'
    ? `"${value}"`
    : typeof value === 'number'
      ? String(value)
      : typeof value
}

function isSchema(value: unknown): value is Schema {
  const standard = (value as Schema | null | undefined)?.['~standard']
  return typeof standard?.validate === 'function'
}

function validator(schema: Schema): Schema['~standard']['validate'] {
  const standard = schema['~standard']
  return (value) => standard.validate(value)
}
