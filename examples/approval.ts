// A person says yes or no. Between the question and the answer the process may end: the store is all that is needed.
import * as z from 'zod'
import { compile, graph, memory, question, type Interruption, type Store } from 'heddle'

const refundOk = question({
  key: 'refund',
  payload: z.object({ amount: z.number() }),
  answer: z.object({ ok: z.boolean() }),
})

const refund = graph({
  name: 'refund',
  state: { amount: z.number(), verdict: z.string().default('') },
  questions: [refundOk],
  nodes: {
    decide: async ({ amount }, ctx) => {
      const { ok } = await ctx.interrupt({ amount }, refundOk)
      return { verdict: ok ? `pay ${amount}` : 'refuse' }
    },
  },
  edges: { start: 'decide', decide: 'end' },
})

/** Asks, and leaves: nothing has to stay in memory. */
export async function ask(store: Store, thread: string, amount: number): Promise<string> {
  return (await compile(refund, { store }).run({ thread, input: { amount } })).status
}

/** What waits for a person, over all threads of the graph. */
export async function inbox(store: Store): Promise<readonly Interruption[]> {
  return (await compile(refund, { store }).interruptions()).filter(refundOk.is)
}

/** Answers one of them, from any process that has the store. */
export async function answer(store: Store, asked: Interruption, ok: boolean): Promise<string> {
  const request = { thread: asked.thread, answers: refundOk.reply(asked, { ok }), user: 'ann' }
  return (await compile(refund, { store }).run(request)).state.verdict
}

// Only when this file is the program: node scripts/run.mjs examples/approval.ts
if (/\bapproval\.[cm]?[jt]s$/.test(globalThis.process?.argv[1] ?? '')) {
  const store = memory()
  console.log(await ask(store, 't1', 120))
  for (const asked of await inbox(store)) console.log(await answer(store, asked, true))
}
