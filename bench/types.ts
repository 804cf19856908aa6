// What one large graph costs the TypeScript compiler: 200 nodes with mixed settings and edges, in type instantiations.
// What the same file costs without that graph (imports, schemas, a small child graph) is measured too, and taken off.
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { promisify } from 'node:util'

const NODES = 200
const LIMIT = 40_000

const basis = `import { z } from 'zod'
import { append, each, field, goto, graph, merge, reduced, subgraph, sum } from 'heddle'
import type { StateOf, UpdateOf } from 'heddle'
export const File = z.object({ name: z.string(), size: z.number() })
export const Answer = z.object({ ok: z.boolean() })
export const state = {
  text: z.string(),
  n: z.number().default(0),
  files: z.array(File).default([]),
  log: reduced(z.array(z.string()).default([]), append),
  total: reduced(z.number().default(0), sum),
  by: reduced(z.record(z.string(), z.number()).default({}), merge),
  extra: field<{ a?: string; b?: readonly number[] }>({}),
}
export const events = field<{ token: string }>()
export const child = graph({
  name: 'child',
  state: { q: z.string(), a: z.string().default('') },
  events,
  nodes: { x: ({ q }) => ({ a: q }) },
  edges: { start: 'x', x: 'end' },
})
export async function count({ n }: StateOf<typeof state>): Promise<UpdateOf<typeof state>> {
  return { n: n + 1 }
}
export const used = [each, goto, subgraph]
`

const [nothing, everything] = await Promise.all([cost(basis), cost(basis + program(NODES))])
const net = everything.instantiations - nothing.instantiations
console.log(
  `${NODES} nodes: ${net} type instantiations of ${LIMIT} (${Math.round(net / NODES)} a node; ` +
    `without ${nothing.instantiations}), tsc ${everything.seconds} s (without ${nothing.seconds} s)`,
)
if (net > LIMIT) {
  console.log(`FAIL ${net - LIMIT} type instantiations too many`)
  process.exitCode = 1
}

/** A program with one graph of so many nodes, of every kind in turn. */
function program(size: number): string {
  const names = Array.from({ length: size }, (_, at) => `n${at}`)
  const next = (at: number): string => `'${names[at] ?? 'end'}'`
  const nodes = names.map((name, at) => `    ${name}: ${nodeAt(at, next)},`)
  const edges = names.map((name, at) => `    ${name}: ${edgeAt(at, next)},`)
  return `
export const large = graph({
  name: 'large',
  state,
  events,
  nodes: {
${nodes.join('\n')}
  },
  edges: {
    start: 'n0',
${edges.join('\n')}
  },
})
`
}

function nodeAt(at: number, next: (at: number) => string): string {
  const kinds = [
    `async ({ text }, ctx) => { await ctx.emit({ token: text }); return { n: ${at} } }`,
    `({ log, n }) => ({ log: [String(n), ...log], total: 1 })`,
    `{ run: async ({ n }) => ({ by: { a: n } }), timeout: 1000, retry: { attempts: 3 } }`,
    `{ item: File, run: async (_, ctx) => ({ log: [ctx.item.name] }) }`,
    `{ run: () => ({ total: 1 }), after: [${next(at - 1)}] }`,
    `async ({ n }) => (n > ${at} ? goto(${next(at + 1)}) : { by: { a: n } })`,
    `async ({ text }, ctx) => ({ text: await ctx.once('x', () => text), n: 1 })`,
    `count`,
    `subgraph(child, { input: (s: { text: string }) => ({ q: s.text }), output: ({ a }) => ({ text: a }) })`,
    `() => {}`,
  ]
  return kinds[at % kinds.length]!
}

function edgeAt(at: number, next: (at: number) => string): string {
  const kinds = [
    next(at + 1),
    `({ n }) => (n > ${at} ? ${next(at + 1)} : 'end')`,
    `({ files }) => each(${next(at + 1)}, files)`,
    next(at + 1),
    `{ to: [${next(at + 1)}, 'end'], pick: ({ text }) => (text ? ${next(at + 1)} : 'end') }`,
    next(at + 1),
    `async ({ n }) => (n > 1 ? ${next(at + 1)} : 'end')`,
    `[${next(at + 1)}${at + 2 < NODES ? `, ${next(at + 2)}` : ''}]`,
    next(at + 1),
    next(at + 1),
  ]
  return at + 1 < NODES ? kinds[at % kinds.length]! : `'end'`
}

/** What checking one program costs, on its own. */
async function cost(source: string): Promise<{ instantiations: number; seconds: number }> {
  await mkdir('node_modules/.cache', { recursive: true })
  const folder = await mkdtemp(resolve('node_modules/.cache/heddle-types-'))
  const config = {
    extends: resolve('tsc/base.json'),
    compilerOptions: { lib: ['ES2023', 'WebWorker'] },
    files: ['program.ts'],
  }
  try {
    await writeFile(`${folder}/program.ts`, source)
    await writeFile(`${folder}/tsconfig.json`, JSON.stringify(config))
    const { stdout } = await promisify(execFile)('node_modules/.bin/tsc', [
      '-p',
      folder,
      '--extendedDiagnostics',
    ]).catch((error: { stdout: string }) => {
      throw new Error(`Cannot measure a program that does not compile:\n${error.stdout}`)
    })
    const read = (label: string): number =>
      Number(new RegExp(`^${label}:\\s+([\\d.]+)`, 'm').exec(stdout)?.[1])
    return { instantiations: read('Instantiations'), seconds: read('Total time') }
  } finally {
    await rm(folder, { recursive: true })
  }
}
