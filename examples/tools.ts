// Tools: on their own in an executor, and in a thread, where one of a batch waits for a person and none runs twice.
import * as z from 'zod'
import { approval, compile, createExecutor, graph, memory, storeCache, tool } from 'heddle'
import type { CallResult } from 'heddle'

const rate = tool({
  name: 'shipping_rate',
  description: 'What it costs to ship a parcel to a region, in euros.',
  input: z.object({ region: z.enum(['EU', 'US']), express: z.boolean().default(false) }),
  cache: { scope: 'global', ttl: 60_000 },
  timeout: 5000,
  retry: { attempts: 3 },
  run: ({ region, express }) => (region === 'EU' ? 5 : 12) * (express ? 2 : 1),
})

const paid: number[] = []
const refund = tool({
  name: 'refund',
  description: 'Pay an amount back, in euros.',
  input: z.object({ amount: z.number().positive() }),
  approve: ({ amount }) => amount > 50,
  run: ({ amount }) => paid.push(amount),
})

const desk = graph({
  name: 'desk',
  state: { amounts: z.array(z.number()), ended: z.array(z.string()).default([]) },
  nodes: {
    async pay({ amounts }, ctx) {
      const calls = amounts.map((amount) => ({ tool: 'refund', args: { amount } }))
      return { ended: (await ctx.callAll(calls)).map(inWords) }
    },
  },
  edges: { start: 'pay', pay: 'end' },
})

/** How a call ended. */
function inWords(result: CallResult): string {
  if (result.status === 'error') return `error: ${String((result.error as Error).message)}`
  return result.status === 'denied' ? `denied: ${result.reason}` : `${result.value}`
}

// Only when this file is the program: node scripts/run.mjs examples/tools.ts
if (/\btools\.[cm]?[jt]s$/.test(globalThis.process?.argv[1] ?? '')) {
  const executor = createExecutor({ tools: [rate, refund], cache: storeCache(memory()) })
  console.log(await executor.run(rate, { region: 'EU' }))
  // As models send them: text that may be anything.
  const asked = await executor.runAll([
    { id: '0', tool: 'shipping_rate', raw: '{"region":"US","express":true}' },
    { id: '1', tool: 'shipping_rate', raw: '{"region":' },
    { id: '2', tool: 'shiping_rate', raw: '{"region":"EU"}' },
  ])
  console.log(asked.map(inWords))

  const app = compile(desk, { tools: [refund] })
  const thread = 't1'
  const { status } = await app.run({ thread, input: { amounts: [20, 80] } })
  const [open] = (await app.interruptions({ thread })).filter(approval.is)
  console.log(status, paid, open!.payload.args)
  const answers = approval.reply(open!, { approve: false, reason: 'ask the manager' })
  const { state } = await app.run({ thread, answers })
  console.log(paid, state.ended)
}
