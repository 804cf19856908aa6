// An agent at a support desk: it looks orders up, and pays back what is small; a person decides about the rest.
// It runs without a network on a small NLU model (not an LLM), or on any OpenAI-compatible URL:
// HEDDLE_MODEL_URL=http://localhost:11434/v1 HEDDLE_MODEL=qwen3 node scripts/run.mjs examples/agent.ts
import * as z from 'zod'
import { addUsage, agent, approval, compile, memory, tool } from 'heddle'
import type { Interruption, Model, TokenUsage } from 'heddle'
import { openAiCompatible } from 'heddle/openai'
import { localNlu } from './nlu/model.ts'

const orders = new Map([
  ['78', { id: '78', total: 34.5, state: 'delivered' }],
  ['1042', { id: '1042', total: 59.9, state: 'delivered' }],
  ['1044', { id: '1044', total: 139, state: 'on its way' }],
])
const paid = new Map<string, number>()

const findOrder = tool({
  name: 'find_order',
  description: 'Looks an order up by its number.',
  input: z.object({ order: z.string() }),
  run: ({ order }) => orders.get(order) ?? { missing: order },
})

const refund = tool({
  name: 'refund',
  description: 'Pays money back, in dollars.',
  input: z.object({ order: z.string(), amount: z.number().positive() }),
  approve: ({ amount }) => amount > 50,
  run: ({ order, amount }, ctx) => {
    // The id of a call is the same when it is tried again: nobody is paid twice.
    paid.set(ctx.callId, amount)
    return { order, amount, receipt: `R-${paid.size}` }
  },
})

let local: Promise<Model> | undefined

/** The model that the environment names, else the small one. The key is read anew for every request, and kept nowhere. */
function pickModel(): Model | Promise<Model> {
  const env = globalThis.process?.env ?? {}
  const url = env['HEDDLE_MODEL_URL']
  if (!url) return (local ??= localNlu())
  const headers = () => {
    const key = env['HEDDLE_MODEL_KEY']
    return key ? { authorization: `Bearer ${key}` } : {}
  }
  return openAiCompatible({ url, model: env['HEDDLE_MODEL'] ?? 'default', headers })
}

const support = agent({
  name: 'support',
  model: pickModel,
  instructions:
    'You work at the support desk of a shop. Look an order up before you pay anything back. Be brief.',
  tools: [findOrder, refund],
  maxTurns: 8,
})
const app = compile(support, { store: memory() })

/** What the person at the desk decides: nothing goes back for what is still on its way. */
function decide(open: Interruption): object {
  if (!approval.is(open)) return {}
  const { order } = open.payload.args as { order: string }
  const sent = orders.get(order)?.state === 'on its way'
  console.log(`  desk: ${sent ? 'no' : 'yes'} to ${open.payload.tool} of order ${order}`)
  return approval.reply(
    open,
    sent ? { approve: false, reason: 'it has to come back first' } : { approve: true },
  )
}

/** Says something, shows what comes, and answers what is asked on the way. */
async function say(text: string): Promise<void> {
  console.log(`ann: ${text}`)
  let run = app.stream({
    thread: 'ann',
    input: { messages: [{ role: 'user', text }] },
    user: 'ann',
  })
  let usage: TokenUsage = {}
  for (;;) {
    let line = ''
    for await (const event of run) {
      if (event.kind !== 'backend') continue
      const { data } = event
      if (data.kind === 'text') line += data.delta
      if (data.kind === 'tool_call') console.log(`  ${data.tool} ${JSON.stringify(data.args)}`)
      if (data.kind === 'tool_result') console.log(`  ${data.tool}: ${data.status}`)
      if (data.kind === 'message' && line !== '') console.log(`support: ${line}`)
      if (data.kind === 'message') line = ''
    }
    const outcome = await run.outcome
    usage = addUsage(usage, outcome.usage)
    if (outcome.status !== 'interrupted') return console.log(`  ${usage.total} tokens`)
    const answers = Object.assign({}, ...outcome.interruptions.map(decide))
    run = app.stream({ thread: 'ann', answers, user: 'desk' })
  }
}

// Only when this file is the program: node scripts/run.mjs examples/agent.ts
if (/\bagent\.[cm]?[jt]s$/.test(globalThis.process?.argv[1] ?? '')) {
  await say('Where is order 1042?')
  await say('It arrived broken, I want my money back')
  await say('Please refund order 78')
  await say('I want a refund for order 1044')
  console.log('paid back:', [...paid.values()])
}
