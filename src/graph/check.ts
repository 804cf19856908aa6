import { LONGEST } from '../lib/clock.ts'
import type { Schema } from '../schema.ts'
import type { Graph } from './graph.ts'
import type { PlanEdge, PlanField, PlanNode } from './plan.ts'
import type { Question } from './question.ts'
import { append, byId, merge, sum } from './state.ts'

/** Refuses the graph; naming the node it is about, if any. */
type Refuse = (problem: string, node?: string) => never

/** A node whose way out isn't known yet. */
type Draft = { -readonly [K in keyof PlanNode]: PlanNode[K] }

type Loose = { readonly [key: string]: unknown }

/** What each setting must be; of a number also the least, the most and the default. */
type Rules = {
  readonly [setting: string]: readonly [what: string, least?: number, most?: number, usual?: number]
}

const KINDS: ReadonlyMap<unknown, PlanField['kind']> = /* @__PURE__ */ new Map<
  unknown,
  PlanField['kind']
>([
  [append, 'list'],
  [byId, 'messages'],
  [merge, 'reduced'],
  [sum, 'reduced'],
])

const GRAPH: Rules = {
  name: ['a non-empty string'],
  state: ['an object'],
  nodes: ['a non-empty object'],
  edges: ['an object'],
  events: ['a schema'],
  questions: ['a list'],
  version: ['a whole number', 1, LONGEST],
  migrate: ['a function'],
}

const NODE: Rules = {
  run: ['a function'],
  graph: ['an object'],
  item: ['a schema'],
  after: ['a non-empty list'],
  timeout: ['a number', 1, LONGEST],
  retry: ['an object'],
  cache: ['an object'],
}

const CACHE: Rules = {
  scope: ['"run", "thread" or "global"'],
  // Decades; what comes out must be an instant that keys can tell.
  ttl: ['a number', 1, 2e12],
  key: ['a function'],
}

const RETRY: Rules = {
  attempts: ['a whole number', 1, LONGEST],
  delay: ['a number', 0, LONGEST, 500],
  factor: ['a number', 1, LONGEST, 2],
  maxDelay: ['a number', 0, LONGEST, 30_000],
  jitter: ['a number', 0, 1, 0.2],
  when: ['a function'],
}

/** Reads the settings of a graph. */
export function graphOf(graph: unknown, bad: Refuse): Graph {
  return settings(graph, GRAPH, 4, (problem) => bad(`it has ${problem}`)) as unknown as Graph
}

/** Reads one state field. */
export function fieldOf(name: string, field: unknown, bad: Refuse): PlanField {
  const { schema, reduce } = (isSchema(field) ? { schema: field } : Object(field)) as Loose
  if (!isSchema(schema) || !(schema === field || typeof reduce === 'function')) {
    return bad(`field "${name}" is neither a schema nor reduced`)
  }
  const kind = reduce ? (KINDS.get(reduce) ?? 'custom') : 'plain'
  const standard = schema['~standard'] as unknown as { validate: PlanField['absent'] }
  const absent: PlanField['absent'] = () => standard.validate()
  const validate = validator(schema)
  return { name, validate, absent, kind, reduce: reduce as PlanField['reduce'] }
}

/** Reads one node and its settings. */
export function nodeOf(name: string, spec: unknown, order: number, bad: Refuse): Draft {
  const fail = (problem: string): never => bad(`node "${name}" has ${problem}`, name)
  if (/^(start|end)?$|[#/]/.test(name)) {
    fail('a name that is reserved, empty or contains "#" or "/"')
  }
  const { graph, item, retry, cache, ...rest } = settings(
    typeof spec === 'function' ? { run: spec } : spec,
    NODE,
    1,
    fail,
  )
  return {
    after: undefined,
    timeout: undefined,
    ...rest,
    name,
    order,
    child: graph,
    item: item && validator(item as Schema),
    retry: retry && settings(retry, RETRY, 1, fail),
    cache: cache && settings(cache, CACHE, 1, fail),
    edge: { fixed: [] },
  } as unknown as Draft
}

/** Checks settings and fills in defaults; the first `needed` of the rules must be there. */
function settings(
  given: unknown,
  rules: Rules,
  needed: number,
  fail: (problem: string) => never,
): Loose {
  const made: { [setting: string]: unknown } = {}
  const loose = (typeof given === 'object' && given ? given : {}) as Loose
  for (const [at, key] of Object.keys({ ...rules, ...loose }).entries()) {
    const [what, least, most, usual] = Object.hasOwn(rules, key)
      ? rules[key]!
      : fail(`an unknown setting "${key}"`)
    const value = loose[key] ?? usual
    if (value === undefined && at >= needed) continue
    if (!fits(value, what) || !(most === undefined || (value >= least! && value <= most))) {
      fail(`"${key}" ${show(value)}, not ${what}${most ? ` from ${least} to ${most}` : ''}`)
    }
    made[key] = value
  }
  return made
}

function fits(value: unknown, what: string): value is number {
  const kind = what.split(' ').pop()
  if (kind === 'schema') return isSchema(value)
  if (kind === '"global"') return ['run', 'thread', 'global'].includes(value as string)
  const right = kind === 'list' ? Array.isArray(value) : typeof value === kind
  if (!right || value === null) return false
  if (what.includes('non-empty')) return Object.keys(value as object).length > 0
  return !what.includes('whole') || Number.isInteger(value)
}

/** Reads the way out of a node, or of `start`. */
export function edgeOf(
  from: string,
  edges: Loose,
  nodes: ReadonlyMap<string, PlanNode>,
  bad: Refuse,
): PlanEdge {
  const edge: unknown = Object.hasOwn(edges, from) ? edges[from] : []
  if (typeof edge === 'function') return { pick: edge as () => unknown, to: undefined }
  const { to = edge, pick } = Object(edge) as { to?: unknown; pick?: unknown }
  const names = [to ?? []].flat() as string[]
  if (names.length === 0) bad(`"${from}" has no way out`, from)
  for (const name of names) {
    if (name !== 'end' && !nodes.has(name)) {
      bad(`the edge from "${from}" leads to ${show(name)}, which is not a node`, from)
    }
  }
  if (typeof pick === 'function') return { pick: pick as () => unknown, to: names }
  if (to !== edge) bad(`the edge from "${from}" has no function "pick"`, from)
  return { fixed: [...new Set(names)].flatMap((name) => nodes.get(name) ?? []) }
}

/** Refuses joins that wait for what never comes, or that an edge enters without being waited for. */
export function checkJoins(
  nodes: ReadonlyMap<string, PlanNode>,
  ways: ReadonlyMap<string, PlanEdge>,
  bad: Refuse,
): void {
  for (const { name, after } of nodes.values()) {
    if (!after) continue
    for (const [at, from] of after.entries()) {
      if (from === name || !nodes.has(from) || after.indexOf(from) < at) {
        bad(
          `node "${name}" is after ${show(from)}, which is itself, listed twice or not a node`,
          name,
        )
      }
    }
    for (const [from, { fixed, to }] of ways) {
      const listed = after.includes(from)
      const leads = fixed
        ? fixed.some((node) => node.name === name)
        : (to?.includes(name) ?? listed)
      if (leads !== listed) {
        bad(`the edge from "${from}" and "after" of node "${name}" disagree`, name)
      }
    }
  }
}

/** Reads the questions whose answers are checked early. */
export function questionsOf(list: Graph['questions'] = [], bad: Refuse): Map<string, Question> {
  const found = new Map<string, Question>()
  for (const one of list) {
    if (!isSchema(one?.schema)) bad('"questions" holds something that is not a question')
    if (found.has(one.key)) bad(`two questions have the key "${one.key}"`)
    found.set(one.key, one)
  }
  return found
}

/** A value in the words of an error message. */
export function show(value: unknown): string {
  if (typeof value === 'string') return `"${value}"`
  return typeof value === 'number' ? `${value}` : typeof value
}

function isSchema(value: unknown): value is Schema {
  return typeof (value as Schema | undefined | null)?.['~standard']?.validate === 'function'
}

function validator(schema: Schema): Schema['~standard']['validate'] {
  const standard = schema['~standard']
  return (value) => standard.validate(value)
}
