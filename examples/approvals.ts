// Tool calls that wait for a person, who approves, edits or denies them. Small ones are decided by a rule.
import * as z from 'zod'
import { approval, approvals, compile, graph, memory, tool, type CallResult } from 'heddle'

const paid: string[] = []
const refund = tool({
  name: 'refund',
  description: 'Pays money back.',
  input: z.object({ order: z.string(), amount: z.number().positive() }),
  approve: true,
  run: ({ order, amount }) => {
    paid.push(`${order} ${amount}`)
    return { paid: amount }
  },
})

// The tool asks about every call; this decides the small ones.
const small = approvals({
  when: ({ call }) => call.tool === 'refund',
  decide: ({ args }) => ((args as { amount: number }).amount <= 20 ? { approve: true } : undefined),
  expires: 86_400_000,
})

const desk = graph({
  name: 'desk',
  state: { amounts: z.array(z.number()), results: z.array(z.string()).default([]) },
  nodes: {
    pay: async ({ amounts }, ctx) => {
      const calls = amounts.map((amount, n) => ({
        tool: 'refund',
        args: { order: `o${n}`, amount },
      }))
      return { results: (await ctx.callAll(calls)).map(inWords) }
    },
  },
  edges: { start: 'pay', pay: 'end' },
})

/** How a call ended, as a model would read it. */
function inWords(result: CallResult): string {
  if (result.status === 'denied') return `denied: ${result.reason ?? 'no reason given'}`
  return result.status === 'success' ? JSON.stringify(result.value) : 'error'
}

// Only when this file is the program: node scripts/run.mjs examples/approvals.ts
if (/\bapprovals\.[cm]?[jt]s$/.test(globalThis.process?.argv[1] ?? '')) {
  const store = memory()
  // The policy logs what it stops; here that would be noise.
  const logger = { debug() {}, warn() {}, error() {} }
  const open = () => compile(desk, { store, tools: [refund], hooks: [small], logger })
  const { status } = await open().run({ thread: 't1', input: { amounts: [15, 120, 4000] } })
  console.log(status, paid)

  // Later, in any process: the inbox says what is to be decided.
  const asked = (await open().interruptions()).filter(approval.is)
  const [first, second] = asked
  console.log(asked.map(({ payload }) => payload.args))
  const { state } = await open().run({
    thread: 't1',
    answers: {
      ...approval.reply(first!, { approve: true, args: { order: 'o1', amount: 100 } }),
      ...approval.reply(second!, { approve: false, reason: 'call the customer first' }),
    },
    user: 'ann',
  })
  console.log(state.results, paid)

  const answered = await open().interruptions({ thread: 't1', status: 'answered' })
  console.log(answered.map(({ answeredBy }) => answeredBy))
}
