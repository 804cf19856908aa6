// A thread that asks models in every way there is, and what they report; for the suite of usage.
import {
  addUsage,
  agent,
  append,
  field,
  graph,
  reduced,
  tool,
  type Graph,
  type Model,
  type TokenUsage,
} from 'heddle'

export class World {
  /** Requests that models have answered, and what they said of them. */
  asked = 0
  /** The third request of a process that is about to die is to hang, and does. */
  hangs = false
  hung = false
}

export const prices = { 'p/m': { input: 4_000_000, output: 2_000_000, cacheRead: 1_000_000 } }
const ONE: TokenUsage = {
  ...{ input: 10, output: 5, cacheRead: 2, total: 15, requests: 1 },
  cost: 8 * 4 + 2 + 5 * 2,
}

/** What so many requests come to. */
export function times(n: number): TokenUsage {
  let sum: TokenUsage = {}
  for (let i = 0; i < n; i++) sum = addUsage(sum, ONE)
  return sum
}

type Stream = (signal: AbortSignal) => AsyncGenerator<object>

export const of = (stream: Stream): Model => ({
  provider: 'p',
  model: 'm',
  stream: (_, { signal }) => stream(signal) as never,
})

/** A model that reports what it used again and again, each time all of it. */
const modelOf = (world: World): Model =>
  of(async function* () {
    world.asked++
    yield { kind: 'usage', usage: { input: 10 } }
    yield { kind: 'text', delta: 'a' }
    if (world.hangs && world.asked === 3) {
      world.hung = true
      await new Promise(() => {})
    }
    yield { kind: 'usage', usage: { input: 10, output: 4 } }
    yield { kind: 'finish', reason: 'stop', usage: { input: 10, output: 5, cacheRead: 2 } }
  })

/** Asks twice side by side, once of them in a child graph, and once more before a question; then once more and a sub-agent. */
export function talk(name: string, world: World): Graph {
  const model = modelOf(world)
  const state = { log: reduced(field<string[]>([]), append) }
  const inner = graph({
    name: 'inner',
    state,
    nodes: {
      say: async (_, ctx) => ({ log: [(await ctx.generate(model, { messages: 'in' })).text] }),
    },
    edges: { start: 'say', say: 'end' },
  })
  const helper = agent({ name: 'helper', model })
  const help = tool({
    name: 'help',
    description: 'Asks the helper',
    input: field<object>(),
    run: async (_, ctx) => {
      const { messages } = await ctx.child(helper, { messages: [{ role: 'user', text: 'help' }] })
      return messages.at(-1)?.text
    },
  })
  return graph({
    name,
    state,
    nodes: {
      a: async (_, ctx) => ({ log: [(await ctx.generate(model, { messages: 'a' })).text] }),
      b: (_, ctx) => ctx.child(inner, {}),
      c: {
        after: ['a', 'b'],
        async run(_, ctx) {
          await ctx.generate(model, { messages: 'before' })
          await ctx.interrupt()
          await ctx.generate(model, { messages: 'after' })
          return { log: [String(await ctx.call(help, {}))] }
        },
      },
    },
    edges: { start: ['a', 'b'], a: 'c', b: 'c', c: 'end' },
  })
}
