import type { Graph } from './graph.ts'
import { plan } from './plan.ts'
import type { Plan, PlanEdge } from './plan.ts'

/** A graph as data. An edge is taken `always`, `maybe` (a router may pick it), or once per item (`each`). */
export interface GraphJson {
  readonly name: string
  readonly nodes: readonly {
    readonly name: string
    readonly after?: readonly string[]
    readonly graph?: GraphJson
  }[]
  readonly edges: readonly {
    readonly from: string
    readonly to: string
    readonly kind: 'always' | 'maybe' | 'each'
  }[]
}

/**
 * A graph as plain data, for tools that draw or check it. A router without `to` may lead to every node; where a router
 * leads to a node with an `item`, it is by `each`.
 */
export function toJson(graph: Graph): GraphJson {
  const { name: title, nodes, start } = plan(graph)
  const all = [...nodes.values()]
  return {
    name: title,
    nodes: all.map(({ name, after, child }) => ({
      name,
      ...(after && { after }),
      ...(child && { graph: toJson(child) }),
    })),
    edges: [
      ...ways('start', start, nodes),
      ...all.flatMap(({ name, edge }) => ways(name, edge, nodes)),
    ],
  }
}

/** A graph as Mermaid flowchart text. A router without `to` is drawn as a dotted edge to every node. */
export function toMermaid(graph: Graph): string {
  return ['flowchart TD', ...flow(toJson(graph), '', '  ')].join('\n')
}

function ways(from: string, edge: PlanEdge, nodes: Plan['nodes']): GraphJson['edges'] {
  const always = edge.fixed?.map(({ name }) => name)
  const names = always ?? edge.to ?? [...nodes.keys(), 'end']
  return (names.length > 0 ? names : ['end']).map((to) => ({
    from,
    to,
    kind: always ? 'always' : nodes.get(to)?.item ? 'each' : 'maybe',
  }))
}

const ARROW = { always: '-->', maybe: '-.->', each: '-.->|each|' }

function flow({ nodes, edges }: GraphJson, prefix: string, indent: string): string[] {
  // Names can be anything, so ids are made: a child graph is a box, entered at its start and left at its end.
  const enter = new Map([['end', `${prefix}e`]])
  const leave = new Map([['start', `${prefix}s`]])
  const lines = [`${prefix}s(["start"])`, `${prefix}e(["end"])`]
  nodes.forEach(({ name, graph }, at) => {
    const id = `${prefix}n${at}`
    enter.set(name, graph ? `${id}s` : id)
    leave.set(name, graph ? `${id}e` : id)
    const label = `${id}["${escape(name)}"]`
    if (graph) lines.push(`subgraph ${label}`, ...flow(graph, id, '  '), 'end')
    else lines.push(label)
  })
  for (const { from, to, kind } of edges) {
    lines.push(`${leave.get(from)} ${ARROW[kind]} ${enter.get(to)}`)
  }
  return lines.map((line) => indent + line)
}

/** Writes what Mermaid could take for syntax or Markdown as character codes. */
function escape(name: string): string {
  return name.replace(
    /(?!(?<=[\p{L}\p{N}])[ _-](?=[\p{L}\p{N}]))[^\p{L}\p{N}]/gu,
    (sign) => `#${sign.codePointAt(0)};`,
  )
}
