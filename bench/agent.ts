// What a turn of an agent costs: 20 turns with a fake model and a checked tool, beside loops written by hand and, where
// they are installed (npm install --prefix bench/peers), beside the agents of others. npm run bench -- agent
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import type { Kept, Sample } from './agent/loop.ts'

interface Entry {
  readonly name: string
  readonly kept: Kept
  /** The hand-written loop that it is divided by. */
  readonly floor: string
}

const entries: Entry[] = []
const add = (kept: Kept, floor: string, ...names: readonly string[]): void =>
  void entries.push(...names.map((name) => ({ name, kept, floor })))
const peers = existsSync('bench/peers/node_modules')
add('nothing', 'floor', 'floor', 'heddle')
if (peers)
  add('nothing', 'floor', 'openai-agents', 'langgraph', 'langchain', 'ai6', 'ai7', 'mastra')
add('each step', 'floor, JSON', 'floor, JSON', 'floor, changes', 'heddle')
if (peers) add('each step', 'floor, JSON', 'langgraph', 'langchain')

const rounds = Number(process.env['ROUNDS'] ?? 5)
const samples = new Map<Entry, Sample[]>(entries.map((entry) => [entry, []]))
for (let round = 0; round < rounds; round++) {
  // Another one begins each time, so that nobody always comes after the same one.
  const at = (round * 3) % entries.length
  for (const entry of [...entries.slice(at), ...entries.slice(0, at)])
    samples.get(entry)!.push(await sample(entry))
}
console.log(
  `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}, load ${loadavg()[0]?.toFixed(1)}, ${rounds} rounds`,
)
if (!peers) console.log('Without peers: npm install --prefix bench/peers')
for (const kept of ['nothing', 'each step'] as const) {
  console.log(`\nkept: ${kept}`)
  console.log(
    '| | version | a turn, best | median | CPU | best ÷ best | median ÷ median | CPU ÷ CPU | bytes kept | written |',
  )
  console.log('| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |')
  const rows = entries.filter((entry) => entry.kept === kept)
  for (const entry of rows.toSorted((a, b) => best(a) - best(b))) console.log(row(entry))
}

function row(entry: Entry): string {
  const base = entries.find(({ name }) => name === entry.floor)!
  const [{ version, bytes }] = samples.get(entry) as [Sample]
  const cells = [
    entry.name,
    entry.name.startsWith('floor') ? '' : version,
    `${best(entry).toFixed(2)} µs`,
    `${median(entry).toFixed(2)} µs`,
    `${cpu(entry).toFixed(2)} µs`,
    `${(best(entry) / best(base)).toFixed(1)} ×`,
    `${(median(entry) / median(base)).toFixed(1)} ×`,
    `${(cpu(entry) / cpu(base)).toFixed(1)} ×`,
    `${bytes?.left ?? ''}`,
    `${bytes?.written ?? ''}`,
  ]
  return `| ${cells.join(' | ')} |`
}

function best(entry: Entry): number {
  return Math.min(...samples.get(entry)!.map((one) => one.best))
}

function cpu(entry: Entry): number {
  return Math.min(...samples.get(entry)!.map((one) => one.cpu))
}

/** The median of what the processes had as their median. */
function median(entry: Entry): number {
  const medians = samples.get(entry)!.map((one) => one.median)
  return medians.toSorted((a, b) => a - b)[medians.length >> 1]!
}

/** A process of its own: what one candidate does to the compiler and the heap isn't the next one's. */
function sample({ name, kept }: Entry): Promise<Sample> {
  const args = ['scripts/run.mjs', 'bench/agent/sample.ts', name, kept]
  const env = { ...process.env, NODE_ENV: 'production', MASTRA_TELEMETRY_DISABLED: '1' }
  return new Promise((resolve, reject) => {
    execFile('node', args, { env }, (error, stdout, stderr) => {
      const line = /^@@(.*)$/m.exec(stdout)?.[1]
      if (line === undefined)
        reject(new Error(`Cannot measure "${name}": ${stderr || String(error)}`))
      else resolve(JSON.parse(line) as Sample)
    })
  })
}
