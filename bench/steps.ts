// What a step costs: heddle beside hand-written loops that do the same without it, in one process, round by round.
// npm run bench -- steps
import { append, compile, field, graph, memory, reduced, type CompiledGraph } from 'heddle'

interface Work {
  readonly name: string
  readonly unit: number
  /** The loop somebody would write by hand. */
  readonly floor: () => Promise<void>
  readonly heddle: () => Promise<void>
}

const chain = (n: number, durability: 'step' | 'exit'): (() => CompiledGraph) => {
  const names = Array.from({ length: n }, (_, i) => `n${i}`)
  const counter = graph({
    name: 'chain',
    state: { i: field<number>(0) },
    nodes: Object.fromEntries(
      names.map((name) => [name, async ({ i }: { i: number }) => ({ i: i + 1 })]),
    ),
    edges: Object.fromEntries(
      [...names, 'start'].map((name, i) => [
        name,
        name === 'start' ? 'n0' : (names[i + 1] ?? 'end'),
      ]),
    ) as never,
  })
  return () =>
    compile(counter, { store: memory(), durability, stepLimit: 100_000 }) as CompiledGraph
}

const message = (i: number): { id: string; role: string; content: string } => ({
  id: `msg_${i}`,
  role: i % 2 ? 'assistant' : 'user',
  content:
    'The quick brown fox jumps over the lazy dog and then writes one more line of prose to a friend.....',
})

const appends = (n: number): (() => CompiledGraph) => {
  const list = graph({
    name: 'list',
    state: {
      i: field<number>(0),
      messages: reduced(field<ReturnType<typeof message>[]>([]), append),
    },
    nodes: { add: async ({ i }) => ({ i: i + 1, messages: [message(i)] }) },
    edges: { start: 'add', add: ({ i }) => (i < n ? 'add' : 'end') },
  })
  return () => compile(list, { store: memory(), stepLimit: 100_000 }) as CompiledGraph
}

async function loop(n: number, save: (state: object) => unknown): Promise<void> {
  const nodes = Array.from({ length: n }, () => async (state: { i: number }) => ({
    i: state.i + 1,
  }))
  const log: unknown[] = []
  let state = { i: 0 }
  for (const node of nodes) {
    state = { ...state, ...(await node(state)) }
    log.push(save(state))
  }
}

async function appendLoop(n: number): Promise<void> {
  const log: string[] = []
  const node = async (state: { messages: object[] }): Promise<{ messages: object[] }> => ({
    messages: [message(state.messages.length)],
  })
  let state: { messages: object[] } = { messages: [] }
  while (state.messages.length < n) {
    const update = await node(state)
    state.messages.push(...update.messages)
    log.push(log.length % 50 === 49 ? JSON.stringify(state) : JSON.stringify(update))
  }
}

const start =
  (make: () => CompiledGraph): (() => Promise<void>) =>
  async () => {
    await make().run({ thread: 't', input: {} })
  }

const works: readonly Work[] = [
  {
    name: 'W1  chain of 1,000, stored at the end ÷ plain loop',
    unit: 1000,
    floor: () => loop(1000, () => 0),
    heddle: start(chain(1000, 'exit')),
  },
  {
    name: 'W2  chain of 10, each step stored ÷ clone a step',
    unit: 10,
    floor: () => loop(10, structuredClone),
    heddle: start(chain(10, 'step')),
  },
  {
    name: 'W2  chain of 100, each step stored ÷ clone a step',
    unit: 100,
    floor: () => loop(100, structuredClone),
    heddle: start(chain(100, 'step')),
  },
  {
    name: 'W2  chain of 1,000, each step stored ÷ clone a step',
    unit: 1000,
    floor: () => loop(1000, structuredClone),
    heddle: start(chain(1000, 'step')),
  },
  {
    name: 'W3b 1,000 appends, list not read ÷ JSON of the change',
    unit: 1000,
    floor: () => appendLoop(1000),
    heddle: start(appends(1000)),
  },
]

const rounds = Number(process.env['ROUNDS'] ?? 7)
const chosen = process.argv.slice(2)
for (const work of works) {
  if (chosen.length > 0 && !chosen.some((part) => work.name.includes(part))) continue
  const { name, unit, floor, heddle } = work
  const a: number[] = []
  const b: number[] = []
  for (let round = -2; round < rounds; round++) {
    const one = await time(floor)
    const two = await time(heddle)
    if (round < 0) continue
    a.push(one)
    b.push(two)
  }
  const best = Math.min(...b) / Math.min(...a)
  const each = (times: number[]): string => `${((Math.min(...times) / unit) * 1000).toFixed(2)} µs`
  console.log(
    `${name}: best ${best.toFixed(2)} ×, median ${(median(b) / median(a)).toFixed(2)} × (${each(b)} a step, floor ${each(a)})`,
  )
}

/** Milliseconds of one call, over enough calls to be told apart from the clock's grain. */
async function time(work: () => Promise<void>): Promise<number> {
  let calls = 0
  const begin = performance.now()
  do {
    await work()
    calls++
  } while (performance.now() - begin < 60)
  return (performance.now() - begin) / calls
}

function median(times: number[]): number {
  return times.toSorted((x, y) => x - y)[times.length >> 1] as number
}
