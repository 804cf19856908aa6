// Two tabs answer the same question at the same time, again and again.
import { compile, field, graph, isHeddleError, type RunRequest } from 'heddle'
import { indexedDb } from 'heddle/indexeddb'
import { meet, pass, tab, tell } from './page.ts'

const ROUNDS = 50
const isHeld = (thread: string): boolean => Number(thread) % 2 === 0

const app = compile(
  graph({
    name: 'payment',
    state: { answer: field<string>(''), paidBy: field<string>('') },
    nodes: {
      async gate(_, ctx) {
        await tell('gate', { thread: ctx.thread })
        return { answer: String(await ctx.interrupt('Pay?')) }
      },
      async pay(_, ctx) {
        await tell('pay', { thread: ctx.thread })
        // In every second round the payment is under way until the other tab has heard its refusal.
        if (isHeld(ctx.thread)) await pass(`pay.${ctx.thread}`)
        return { paidBy: tab }
      },
    },
    edges: { start: 'gate', gate: 'pay', pay: 'end' },
  }),
  { store: indexedDb({ name: 'race' }) },
)

for (let round = 0; round < ROUNDS; round++) {
  const thread = String(round)
  if (tab === 'first') await app.run({ thread, input: {} })
  await meet(thread)
  const [open] = await app.interruptions({ thread })
  await meet(`${thread}.answer`)
  await tell('answered', { thread, ...(await answer({ thread, answers: { [open!.id]: tab } })) })
  await meet(`${thread}.after`)
  if (tab === 'second') continue
  const late = await answer({ thread, answers: { [open!.id]: 'late' } })
  const line = []
  for await (const { checkpoint, parent, state } of app.history(thread))
    line.push({ checkpoint, parent, state })
  const [question] = await app.interruptions({ thread, status: 'answered' })
  const kinds: string[] = []
  const log = app.subscribe(thread, { signal: AbortSignal.timeout(60_000) })
  for await (const { kind } of log) {
    kinds.push(kind)
    if (kind === 'done') break
  }
  await tell('stored', { thread, late, line, question, kinds })
}
await tell('finished')

async function answer(request: RunRequest): Promise<object> {
  const kinds: string[] = []
  try {
    for await (const { kind } of app.stream(request)) kinds.push(kind)
    return { kinds }
  } catch (error) {
    if (!isHeddleError(error)) throw error
    return { kinds, code: error.code }
  }
}
