// Runs until a node asks, and reports how long the process lingers after that.
import { compile, field, graph } from '../../../src/index.ts'

const app = compile(
  graph({
    name: 'pause',
    state: { got: field<unknown>(undefined) },
    nodes: {
      ask: { timeout: 60_000, run: async (_, ctx) => ({ got: await ctx.interrupt('?') }) },
    },
    edges: { start: 'ask', ask: 'end' },
  }),
)
const { status } = await app.run({ thread: 't1', input: {} })
const paused = performance.now()
process.once('exit', () =>
  process.stdout.write(JSON.stringify({ status, lingered: performance.now() - paused })),
)
