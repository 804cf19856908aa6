// One process, one sample: node scripts/run.mjs bench/agent/sample.ts <candidate> <kept>
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { floor, floorDelta, floorJson } from './floor.ts'
import { heddle } from './heddle.ts'
import type { Candidate, Kept, Loop, Sample } from './loop.ts'

const ours: Readonly<Record<string, Candidate>> = {
  floor,
  'floor, JSON': floorJson,
  'floor, changes': floorDelta,
  heddle,
}
const TURNS = 20
const WARM = 2000
const LONG = 1500
const GRAIN = 2

const [name = '', kept] = process.argv.slice(2) as [string, Kept]
const { make, version } = ours[name] ?? (await peer(name))
// What peers say on the console would be part of what they cost.
for (const method of ['log', 'info', 'warn'] as const) console[method] = () => {}
const loop: Loop = await make(TURNS, kept)
await runs(1)
const bytes = kept === 'nothing' ? undefined : await loop.bytes?.()
await times(WARM, 1)
// Enough runs at a time to be told apart from the clock's grain.
const batch = Math.ceil(GRAIN / (await runs(10)))
const before = process.cpuUsage()
const measured = await times(LONG, batch)
const { user, system } = process.cpuUsage(before)
const sorted = measured.toSorted((a, b) => a - b)
const sample: Sample = {
  version,
  best: sorted[0]!,
  median: sorted[sorted.length >> 1]!,
  cpu: (user + system) / (measured.length * batch * TURNS),
  ...(bytes !== undefined && { bytes }),
}
process.stdout.write(`@@${JSON.stringify(sample)}\n`, () => process.exit(0))

/** Runs it for so many milliseconds: microseconds a turn, batch by batch. */
async function times(ms: number, size: number): Promise<number[]> {
  const taken: number[] = []
  const until = performance.now() + ms
  while (performance.now() < until || taken.length < 5)
    taken.push(((await runs(size)) * 1000) / TURNS)
  return taken
}

/** Milliseconds of one run, of several each on an empty store. */
async function runs(size: number): Promise<number> {
  const begin = performance.now()
  for (let n = 0; n < size; n++) {
    loop.reset?.()
    const { calls, text } = await loop.run()
    if (calls !== TURNS || text !== 'done')
      throw new Error(`Cannot measure "${name}": it called ${calls} tools and said "${text}"`)
  }
  return (performance.now() - begin) / size
}

async function peer(file: string): Promise<Candidate> {
  const url = pathToFileURL(resolve(`bench/peers/${file}.mjs`)).href
  return ((await import(url)) as { readonly candidate: Candidate }).candidate
}
