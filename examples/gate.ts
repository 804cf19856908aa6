// A quality gate: a text is written again, with feedback, until it is good enough or a person has to look at it.
import { compile, field, gate, gateEvent, graph, type GateRecord } from 'heddle'

const essay = graph({
  name: 'essay',
  state: {
    words: field<readonly string[]>(),
    draft: field(''),
    review: field<GateRecord | null>(null),
    verdict: field(''),
  },
  events: gateEvent,
  nodes: {
    // Stands in for a model: it takes as many words as it has been told.
    write: ({ words, review }) => ({
      draft: words.slice(0, Number(review?.feedback ?? 1)).join(' '),
    }),
    review: gate({
      name: 'long enough',
      field: 'review',
      evaluate({ draft }: { readonly draft: string }) {
        const count = draft.split(' ').length
        const passed = draft.length >= 10
        return {
          passed,
          score: draft.length / 10,
          reasons: passed ? [] : [`${count} words`],
          feedback: String(count + 1),
        }
      },
      pass: 'publish',
      fail: 'write',
      escalate: 'person',
    }),
    person: async ({ draft, review }, ctx) => {
      const answer = await ctx.interrupt({ draft, reasons: review?.reasons })
      return { verdict: answer === true ? 'published by a person' : 'dropped' }
    },
    publish: () => ({ verdict: 'published' }),
  },
  // The gate itself says where it goes on: its own edge is never taken.
  edges: { start: 'write', write: 'review', review: 'end', person: 'end', publish: 'end' },
})

const app = compile(essay)
for (const words of [
  ['a', 'heddle', 'leads', 'one', 'thread'],
  ['no', 'go', 'at', 'all'],
]) {
  const run = app.stream({ thread: words.join('-'), input: { words } })
  for await (const event of run)
    if (event.kind === 'backend')
      console.log(event.data.phase, event.data.attempt, event.data.reasons)
  const { status, state } = await run.outcome
  console.log(status, state.draft, state.verdict)
}
const { state } = await app.run({ thread: 'no-go-at-all', answer: true })
console.log(state.verdict)
