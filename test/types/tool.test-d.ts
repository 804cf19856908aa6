// What the compiler knows of tools.
import { type } from 'arktype'
import * as v from 'valibot'
import { z } from 'zod'
import { createExecutor, tool } from 'heddle'
import type { CallResult, Context, Tool, ToolContext } from 'heddle'
import { same } from './same.ts'

// --- what goes in, and what comes out
const rate = tool({
  name: 'shipping_rate',
  description: 'What it costs to ship to a region.',
  input: z.object({ region: z.string(), express: z.boolean().default(false) }),
  run(args, ctx) {
    same<typeof args, { region: string; express: boolean }>(true)
    same<typeof ctx, ToolContext>(true)
    return args.express ? 12 : 5
  },
})
// The caller may leave out what has a default.
same<typeof rate, Tool<{ region: string; express?: boolean | undefined }, 12 | 5>>(true)

const later = tool({
  name: 'later',
  description: '',
  input: v.object({ n: v.number() }),
  run: async ({ n }) => ({ n }),
})
same<typeof later, Tool<{ n: number }, { n: number }>>(true)

const ark = tool({
  name: 'ark',
  description: '',
  input: type({ n: 'number' }),
  run: ({ n }) => `${n}`,
})
same<typeof ark, Tool<{ n: number }, string>>(true)

// --- an output schema: what it takes is returned, what it makes comes out
const sized = tool({
  name: 'sized',
  description: '',
  input: z.object({}),
  output: z.string().transform((text) => text.length),
  run: () => 'four',
})
same<typeof sized, Tool<Record<string, never>, number>>(true)
tool({
  name: 'sized',
  description: '',
  input: z.object({}),
  output: z.string(),
  // @ts-expect-error the output schema takes text
  run: () => 4,
})

// --- settings
tool({
  name: 'x',
  description: '',
  input: z.object({ amount: z.number() }),
  approve: ({ amount }, ctx) => amount > 100 || ctx.user === undefined,
  cache: { scope: 'thread', ttl: 60_000 },
  timeout: 1000,
  retry: { attempts: 3 },
  parameters: { type: 'object' },
  run: () => null,
})
tool({
  name: 'x',
  description: '',
  input: z.object({}),
  // @ts-expect-error a misspelt setting
  timeOut: 1000,
  run: () => null,
})
// @ts-expect-error a retry says how often
tool({ name: 'x', description: '', input: z.object({}), retry: {}, run: () => null })
// @ts-expect-error a tool has a description
tool({ name: 'x', input: z.object({}), run: () => null })

// --- an executor
const executor = createExecutor({ tools: [rate, later, ark], concurrency: 2 })
same<Awaited<ReturnType<typeof byTool>>, 12 | 5>(true)
async function byTool(): Promise<12 | 5> {
  return executor.run(rate, { region: 'EU' })
}
// @ts-expect-error the arguments are the tool's
void executor.run(rate, { region: 5 })
// @ts-expect-error a tool that takes arguments gets some
void executor.run(rate)
// @ts-expect-error a misspelt member
void executor.run(rate, { region: 'EU' }, { thred: 't' })
const named = executor.run('shipping_rate', { region: 'EU' }, { run: 'r', thread: 't' })
same<typeof named, Promise<unknown>>(true)
const many = executor.runAll([
  { tool: 'shipping_rate', args: { region: 'EU' } },
  { id: 'x', tool: 'later', raw: '{"n":1}' },
])
same<typeof many, Promise<readonly CallResult[]>>(true)
export async function read(): Promise<unknown> {
  const [one] = await many
  if (one?.status === 'success') return one.value
  if (one?.status === 'denied') return one.reason
  return one?.error
}

// --- in nodes and in tools
export async function calls(_: unknown, ctx: Context): Promise<void> {
  const cost = await ctx.call(rate, { region: 'EU' })
  same<typeof cost, 12 | 5>(true)
  const size = await ctx.call(sized, {}, { emit: (data) => void data })
  same<typeof size, number>(true)
  // @ts-expect-error the arguments are the tool's
  await ctx.call(later, { n: 'one' })
}
