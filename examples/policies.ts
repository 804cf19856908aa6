// Policies around a tool: a budget of calls, a guardrail that hides card numbers, and a limit that only reports so far.
import * as z from 'zod'
import { budget, compile, graph, guardrail, isHeddleError, runLimits, tool } from 'heddle'
import type { CallResult, Emitted } from 'heddle'

const posted: string[] = []
const post = tool({
  name: 'post',
  description: 'Post a note.',
  input: z.object({ text: z.string() }),
  run: ({ text }) => posted.push(text),
})

const noCards = guardrail({
  name: 'no cards',
  on: 'tool',
  input(inv) {
    if (!('call' in inv)) return undefined
    const text = JSON.stringify(inv.call.args)
    if (text.includes('password')) return { block: 'it gives a password away' }
    const hidden = text.replaceAll(/\d{16}/g, '(a card)')
    return hidden === text ? undefined : { replace: JSON.parse(hidden) as unknown }
  },
})

const reported: unknown[] = []
const watch = { onEvent: ({ event }: Emitted): void => void reported.push(event) }

const notes = graph({
  name: 'notes',
  state: { notes: z.array(z.string()), results: z.array(z.string()).default([]) },
  nodes: {
    write: async (state, ctx) => {
      const results: string[] = []
      for (const text of state.notes) {
        const [result] = await ctx.callAll([{ tool: 'post', args: { text } }])
        results.push(inWords(result!))
      }
      return { results }
    },
  },
  edges: { start: 'write', write: 'end' },
})

const app = compile(notes, {
  tools: [post],
  hooks: [noCards, budget({ calls: 2 }), runLimits({ toolCalls: 1, shadow: true }), watch],
  // Every policy logs what it stops; here that would be noise.
  logger: { debug() {}, warn() {}, error() {} },
})

/** How a call ended, for a person. */
function inWords(result: CallResult): string {
  if (result.status !== 'error') return result.status
  return isHeddleError(result.error) ? result.error.message : 'error'
}

// Only when this file is the program: node scripts/run.mjs examples/policies.ts
if (/\bpolicies\.[cm]?[jt]s$/.test(globalThis.process?.argv[1] ?? '')) {
  const list = ['paid with 4111111111111111', 'my password is bird', 'thanks', 'bye']
  const { state } = await app.run({ thread: 't1', input: { notes: list } })
  console.log(state.results.join('\n'))
  console.log(posted, reported)
}
