import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isHeddleError } from '../../src/errors.ts'
import { each, type Graph } from '../../src/graph/graph.ts'
import { toJson, toMermaid } from '../../src/graph/picture.ts'
import { field } from '../../src/schema.ts'

const run = (): void => {}

const review: Graph = {
  name: 'review',
  state: {},
  nodes: { look: run },
  edges: { start: 'look', look: { to: ['look', 'end'], pick: () => 'end' } },
}
const triage: Graph = {
  name: 'triage',
  state: {},
  nodes: {
    read: run,
    ask: run,
    scan: { run, item: field() },
    close: { run, after: ['ask', 'scan'] },
    review: { run, graph: review },
  },
  edges: {
    start: 'read',
    read: { to: ['ask', 'scan', 'end'], pick: () => ['ask', each('scan', [])] },
    ask: 'close',
    scan: 'close',
    close: ['review', 'end'],
    review: 'end',
  },
}
const free: Graph = {
  name: 'free',
  state: {},
  nodes: { a: run, b: { run, item: field() } },
  edges: { start: ['a'], a: () => 'end', b: 'end' },
}

describe('a graph as JSON', () => {
  it('has its nodes, its joins and the graphs inside', () => {
    expect(toJson(triage)).toMatchObject({
      name: 'triage',
      nodes: [
        { name: 'read' },
        { name: 'ask' },
        { name: 'scan' },
        { name: 'close', after: ['ask', 'scan'] },
        { name: 'review', graph: toJson(review) },
      ],
    })
    expect(toJson(review).nodes).toEqual([{ name: 'look' }])
  })

  it('has every edge, with how often it is taken', () => {
    expect(toJson(triage).edges).toEqual([
      { from: 'start', to: 'read', kind: 'always' },
      { from: 'read', to: 'ask', kind: 'maybe' },
      { from: 'read', to: 'scan', kind: 'each' },
      { from: 'read', to: 'end', kind: 'maybe' },
      { from: 'ask', to: 'close', kind: 'always' },
      { from: 'scan', to: 'close', kind: 'always' },
      { from: 'close', to: 'review', kind: 'always' },
      { from: 'review', to: 'end', kind: 'always' },
    ])
  })

  it('has an edge to every node where nothing is declared', () => {
    expect(toJson(free).edges).toEqual([
      { from: 'start', to: 'a', kind: 'always' },
      { from: 'a', to: 'a', kind: 'maybe' },
      { from: 'a', to: 'b', kind: 'each' },
      { from: 'a', to: 'end', kind: 'maybe' },
      { from: 'b', to: 'end', kind: 'always' },
    ])
  })

  it('survives JSON', () => {
    expect(JSON.parse(JSON.stringify(toJson(triage)))).toEqual(toJson(triage))
  })

  it('is refused for a graph that cannot be compiled', () => {
    const broken = { ...free, edges: { start: 'c' } }
    expect(() => toJson(broken)).toThrow(
      expect.toSatisfy((error) => isHeddleError(error, 'graph_invalid')),
    )
  })
})

describe('a graph as Mermaid', () => {
  it('draws static edges, routers, tasks and the graph inside a node', () => {
    expect(toMermaid(triage)).toBe(
      `
flowchart TD
  s(["start"])
  e(["end"])
  n0["read"]
  n1["ask"]
  n2["scan"]
  n3["close"]
  subgraph n4["review"]
    n4s(["start"])
    n4e(["end"])
    n4n0["look"]
    n4s --> n4n0
    n4n0 -.-> n4n0
    n4n0 -.-> n4e
  end
  s --> n0
  n0 -.-> n1
  n0 -.->|each| n2
  n0 -.-> e
  n1 --> n3
  n2 --> n3
  n3 --> n4s
  n4e --> e
`.trim(),
    )
  })

  it('draws a router that declares nothing as a dotted edge to every node', () => {
    expect(toMermaid(free)).toBe(
      `
flowchart TD
  s(["start"])
  e(["end"])
  n0["a"]
  n1["b"]
  s --> n0
  n0 -.-> n0
  n0 -.->|each| n1
  n0 -.-> e
  n1 --> e
`.trim(),
    )
  })

  it.each([
    ['read file', 'read file'],
    ['ask_user-2', 'ask_user-2'],
    ['läsa 読む', 'läsa 読む'],
    ['say "hi"', 'say#32;#34;hi#34;'],
    ['a]b[c', 'a#93;b#91;c'],
    ['`code`', '#96;code#96;'],
    ['1. step', '1#46;#32;step'],
    ['- item', '#45;#32;item'],
    ['__init__', '#95;#95;init#95;#95;'],
    ['<b>&amp;', '#60;b#62;#38;amp#59;'],
    ['%%{init}%%', '#37;#37;#123;init#125;#37;#37;'],
    ['two\nlines', 'two#10;lines'],
    ['😀', '#128512;'],
  ])('writes the name %j so that it is shown as it is', (name, label) => {
    expect(toMermaid(named(name))).toContain(`\n  n0["${label}"]\n`)
  })

  it('writes any name on one line, with nothing that Mermaid takes for syntax', () => {
    const name = fc.string({ unit: 'binary', minLength: 1 }).filter(isLegal)
    fc.assert(
      fc.property(name, (any) => {
        const lines = toMermaid(named(any)).split('\n')
        expect(lines).toHaveLength(6)
        expect(lines[3]).toMatch(/^ {2}n0\["(?:[\p{L}\p{N} _-]|#\d+;)+"\]$/u)
        expect(shown(lines[3]!)).toBe(any)
      }),
    )
  })
})

function named(name: string): Graph {
  return {
    name: 'g',
    state: {},
    nodes: { [name]: run },
    edges: { start: name, [name]: 'end' },
  }
}

function isLegal(name: string): boolean {
  return !/^(?:start|end)$|[#/]/.test(name)
}

/** The label of a line, as a reader sees it. */
function shown(line: string): string {
  const label = line.slice('  n0["'.length, -'"]'.length)
  return label.replace(/#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
}
