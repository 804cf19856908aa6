import { describe, expect, it } from 'vitest'
import { isHeddleError } from '../../src/errors.ts'
import type { Graph } from '../../src/graph/graph.ts'
import { plan } from '../../src/graph/plan.ts'
import { field } from '../../src/schema.ts'

const run = (): void => {}
const child = { name: 'child', state: {}, nodes: { x: run }, edges: { start: 'y', x: 'end' } }

// What JavaScript lets through: a graph that is fine but for one thing.
const graphs: Cases = [
  ['no name', { name: undefined }, 'it has "name" undefined, not a non-empty string'],
  ['an empty name', { name: '' }, 'it has "name" "", not a non-empty string'],
  ['a number for a name', { name: 7 }, 'it has "name" 7, not a non-empty string'],
  ['no state', { state: undefined }, 'it has "state" undefined, not an object'],
  ['null for state', { state: null }, 'it has "state" undefined, not an object'],
  ['a schema too few', { state: { n: undefined } }, 'field "n" is neither a schema nor reduced'],
  ['a field that is a value', { state: { n: 1 } }, 'field "n" is neither a schema nor reduced'],
  [
    'a reducer alone',
    { state: { n: { reduce: run } } },
    'field "n" is neither a schema nor reduced',
  ],
  [
    'a reducer that is no function',
    { state: { n: { schema: field(0), reduce: 'sum' } } },
    'field "n" is neither a schema nor reduced',
  ],
  ['no nodes', { nodes: undefined }, 'it has "nodes" undefined, not a non-empty object'],
  ['empty nodes', { nodes: {} }, 'it has "nodes" object, not a non-empty object'],
  [
    // `{ __proto__: x }` sets the prototype: nothing is declared.
    'a node behind a literal __proto__',
    { nodes: { __proto__: run } },
    'it has "nodes" object, not a non-empty object',
  ],
  ['no edges', { edges: undefined }, 'it has "edges" undefined, not an object'],
  ['a misspelt part', { edge: {} }, 'it has an unknown setting "edge"'],
  ['events without a schema', { events: 'text' }, 'it has "events" "text", not a schema'],
  ['questions that are no list', { questions: {} }, 'it has "questions" object, not a list'],
  [
    'a question that is none',
    { questions: [null] },
    '"questions" holds something that is not a question',
  ],
  [
    'two questions with one key',
    {
      questions: [
        { key: 'ok', schema: field() },
        { key: 'ok', schema: field() },
      ],
    },
    'two questions have the key "ok"',
  ],
]

const BAD_NAME = 'has a name that is reserved, empty or contains "#" or "/"'
const settings: Cases = [
  ['a node that is nothing', undefined, 'node "a" has "run" undefined, not a function'],
  ['a node that is text', 'b', 'node "a" has "run" undefined, not a function'],
  ['a node without run', { timeout: 1 }, 'node "a" has "run" undefined, not a function'],
  ['a run that is no function', { run: 'b' }, 'node "a" has "run" "b", not a function'],
  ['a misspelt setting', { run, timout: 1 }, 'node "a" has an unknown setting "timout"'],
  [
    'a setting __proto__',
    JSON.parse('{"__proto__":1}'),
    'node "a" has "run" undefined, not a function',
  ],
  ['an item without a schema', { run, item: {} }, 'node "a" has "item" object, not a schema'],
  ['a graph that is none', { run, graph: 'g' }, 'node "a" has "graph" "g", not an object'],
  ['a name for after', { run, after: 'b' }, 'node "a" has "after" "b", not a non-empty list'],
  ['an empty after', { run, after: [] }, 'node "a" has "after" object, not a non-empty list'],
  ['a timeout of 0', { run, timeout: 0 }, timeout('0')],
  ['a negative timeout', { run, timeout: -1 }, timeout('-1')],
  ['a timeout of NaN', { run, timeout: NaN }, timeout('NaN')],
  ['an endless timeout', { run, timeout: Infinity }, timeout('Infinity')],
  ['a timeout beyond what timers take', { run, timeout: 2 ** 31 }, timeout('2147483648')],
  ['a timeout in words', { run, timeout: '10' }, timeout('"10"')],
  ['a retry that is a number', { run, retry: 3 }, 'node "a" has "retry" 3, not an object'],
  ['a retry without attempts', retry({}), attempts('undefined')],
  ['no attempts', retry({ attempts: 0 }), attempts('0')],
  ['half an attempt', retry({ attempts: 1.5 }), attempts('1.5')],
  ['endless attempts', retry({ attempts: Infinity }), attempts('Infinity')],
  ['attempts in words', retry({ attempts: '3' }), attempts('"3"')],
  ['a misspelt retry', retry({ attempts: 3, dely: 1 }), 'node "a" has an unknown setting "dely"'],
  ['a negative delay', retry({ attempts: 3, delay: -1 }), between('delay', -1, 0, 2147483647)],
  ['a delay of NaN', retry({ attempts: 3, delay: NaN }), between('delay', NaN, 0, 2147483647)],
  ['a factor below 1', retry({ attempts: 3, factor: 0.5 }), between('factor', 0.5, 1, 2147483647)],
  [
    'an endless longest delay',
    retry({ attempts: 3, maxDelay: Infinity }),
    between('maxDelay', Infinity, 0, 2147483647),
  ],
  ['a jitter above 1', retry({ attempts: 3, jitter: 1.1 }), between('jitter', 1.1, 0, 1)],
  ['a negative jitter', retry({ attempts: 3, jitter: -0.1 }), between('jitter', -0.1, 0, 1)],
  [
    'a when that is no function',
    retry({ attempts: 3, when: true }),
    'node "a" has "when" boolean, not a function',
  ],
  ['a cache that is a scope', { run, cache: 'run' }, 'node "a" has "cache" "run", not an object'],
  ['a cache without a scope', kept({ ttl: 1 }), scope('undefined')],
  ['an unknown scope', kept({ scope: 'runs' }), scope('"runs"')],
  ['a list of scopes', kept({ scope: ['run'] }), scope('object')],
  ['a time to live of 0', kept({ scope: 'run', ttl: 0 }), between('ttl', 0, 1, 2e12)],
  ['a time to live of NaN', kept({ scope: 'run', ttl: NaN }), between('ttl', NaN, 1, 2e12)],
  [
    'an endless time to live',
    kept({ scope: 'run', ttl: Infinity }),
    between('ttl', Infinity, 1, 2e12),
  ],
  [
    'a key that is a field',
    kept({ scope: 'run', key: 'n' }),
    'node "a" has "key" "n", not a function',
  ],
  ['a misspelt cache', kept({ scope: 'run', tll: 1 }), 'node "a" has an unknown setting "tll"'],
]

const edges: Cases = [
  ['no way in', { a: 'b', b: 'end' }, '"start" has no way out', 'start'],
  ['no way out', { start: 'a', a: 'b' }, '"b" has no way out', 'b'],
  ['an empty way out', { start: 'a', a: [], b: 'end' }, '"a" has no way out', 'a'],
  ['a way out that is null', { start: 'a', a: null, b: 'end' }, '"a" has no way out', 'a'],
  ['an unknown name', { start: 'a', a: 'c', b: 'end' }, leads('a', '"c"'), 'a'],
  [
    'an inherited name',
    { start: 'toString', a: 'b', b: 'end' },
    leads('start', '"toString"'),
    'start',
  ],
  [
    'an unknown name among others',
    { start: ['a', 'c'], a: 'b', b: 'end' },
    leads('start', '"c"'),
    'start',
  ],
  ['start as a target', { start: 'a', a: 'start', b: 'end' }, leads('a', '"start"'), 'a'],
  ['a number', { start: 'a', a: 7, b: 'end' }, leads('a', '7'), 'a'],
  [
    'an unknown name in to',
    { start: 'a', a: { to: ['c'], pick: run }, b: 'end' },
    leads('a', '"c"'),
    'a',
  ],
  ['an empty to', { start: 'a', a: { to: [], pick: run }, b: 'end' }, '"a" has no way out', 'a'],
  [
    'a to without pick',
    { start: 'a', a: { to: ['b'] }, b: 'end' },
    'the edge from "a" has no function "pick"',
    'a',
  ],
  ['a pick without to', { start: 'a', a: { pick: run }, b: 'end' }, leads('a', 'object'), 'a'],
  [
    'an edge from nowhere',
    { start: 'a', a: 'b', b: 'end', c: 'a' },
    'there is an edge from "c", which is not a node',
  ],
  [
    'an edge from the end',
    { start: 'a', a: 'b', b: 'end', end: 'a' },
    'there is an edge from "end", which is not a node',
  ],
]

const joins: Cases = [
  ['an unknown node', { after: ['a', 'b', 'x'] }, isAfter('"x"'), 'join'],
  ['an inherited name', { after: ['a', 'b', 'toString'] }, isAfter('"toString"'), 'join'],
  ['start', { after: ['start'] }, isAfter('"start"'), 'join'],
  ['itself', { after: ['a', 'b', 'join'] }, isAfter('"join"'), 'join'],
  ['a node twice', { after: ['a', 'b', 'a'] }, isAfter('"a"'), 'join'],
  ['something else than a name', { after: [1] }, isAfter('1'), 'join'],
  ['one whose edge leads elsewhere', { after: ['a', 'b'], b: 'end' }, disagree('b'), 'join'],
  [
    'one whose router never leads to it',
    { after: ['a', 'b'], b: { to: ['end'], pick: run } },
    disagree('b'),
    'join',
  ],
  ['fewer than lead to it', { after: ['a'] }, disagree('b'), 'join'],
  ['less than start', { after: ['a', 'b'], start: ['a', 'b', 'join'] }, disagree('start'), 'join'],
  [
    'fewer than routers may lead to it',
    { after: ['a'], b: { to: ['join', 'end'], pick: run } },
    disagree('b'),
    'join',
  ],
]

describe('a graph is refused for', () => {
  it.each(graphs)('%s', (_, part, problem) => {
    const graph = { ...fine(), ...(part as object) }
    const name = typeof graph.name === 'string' ? graph.name : ''
    expect(refusal(graph)).toEqual(invalid(name, problem))
  })

  it.each([undefined, null, 'g', 7, () => {}])('being %s', (graph) => {
    const problem = 'it has "name" undefined, not a non-empty string'
    expect(refusal(graph)).toMatchObject({ details: { problem } })
  })

  it.each(['start', 'end', '', 'a#1', 'a/b'])('a node called %j', (name) => {
    const graph = { ...fine(), nodes: { [name]: run }, edges: { start: name, [name]: 'end' } }
    expect(refusal(graph)).toEqual(invalid('g', `node "${name}" ${BAD_NAME}`, name))
  })

  it.each(settings)('%s', (_, a, problem) => {
    const graph = { ...fine(), nodes: { a }, edges: { start: 'a', a: 'end' } }
    expect(refusal(graph)).toEqual(invalid('g', problem, 'a'))
  })

  it.each(edges)('edges with %s', (_, given, problem, node) => {
    expect(refusal({ ...fine(), edges: given })).toEqual(invalid('g', problem, node))
  })

  it.each(joins)('a join that waits for %s', (_, given, problem, node) => {
    const { after, ...ways } = given as { after: unknown }
    const nodes = { a: run, b: run, join: { run, after } }
    const leading = { start: ['a', 'b'], a: 'join', b: 'join', join: 'end', ...ways }
    expect(refusal({ ...fine(), nodes, edges: leading })).toEqual(invalid('g', problem, node))
  })

  it('the graph inside a node, each time', () => {
    const graph = { ...fine(), nodes: { a: { run, graph: child }, b: run } }
    const expected = invalid('child', leads('start', '"y"'), 'start')
    expect(refusal(graph)).toEqual(expected)
    expect(refusal(graph)).toEqual(expected)
  })
})

type Cases = [what: string, given: unknown, problem: string, node?: string][]

function fine(): Record<string, unknown> {
  return {
    name: 'g',
    state: { n: field(0) },
    nodes: { a: run, b: run },
    edges: { start: 'a', a: 'b', b: 'end' },
  }
}

/** What refusing a graph says. */
function refusal(graph: unknown): { message: string; details: unknown } {
  try {
    plan(graph as Graph)
  } catch (error) {
    if (isHeddleError(error, 'graph_invalid'))
      return { message: error.message, details: error.details }
    throw error
  }
  throw new Error('It was not refused')
}

function invalid(graph: string, problem: string, node?: string): ReturnType<typeof refusal> {
  const details = { graph, problem, ...(node !== undefined && { node }) }
  return { message: `Cannot compile graph "${graph}": ${problem}`, details }
}

function retry(given: object): object {
  return { run, retry: given }
}

function kept(given: object): object {
  return { run, cache: given }
}

function scope(shown: string): string {
  return `node "a" has "scope" ${shown}, not "run", "thread" or "global"`
}

function timeout(shown: string): string {
  return `node "a" has "timeout" ${shown}, not a number from 1 to 2147483647`
}

function attempts(shown: string): string {
  return `node "a" has "attempts" ${shown}, not a whole number from 1 to 2147483647`
}

function between(setting: string, shown: number, least: number, most: number): string {
  return `node "a" has "${setting}" ${shown}, not a number from ${least} to ${most}`
}

function leads(from: string, to: string): string {
  return `the edge from "${from}" leads to ${to}, which is not a node`
}

function isAfter(shown: string): string {
  return `node "join" is after ${shown}, which is itself, listed twice or not a node`
}

function disagree(from: string): string {
  return `the edge from "${from}" and "after" of node "join" disagree`
}
