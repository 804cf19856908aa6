import { append, compile, field, graph, isHeddleError, reduced } from 'heddle'
import { indexedDb } from 'heddle/indexeddb'
import { phase, report } from './page.ts'

const LAST = 40
const count = graph({
  name: 'count',
  state: { n: field<number>(0), seen: reduced(field<number[]>([]), append) },
  nodes: {
    next: async ({ n }) => {
      // However late the kill comes, it finds the run on its way.
      if (n === { start: 15, 'go on': 31 }[phase]) await new Promise(() => {})
      return { n: n + 1, seen: [n] }
    },
  },
  edges: { start: 'next', next: ({ n }) => (n < LAST ? 'next' : 'end') },
})
const app = compile(count, { store: indexedDb({ name: 'killed' }), leaseMs: 200 })

if (phase === 'read') {
  const stored = await app.state('t')
  await report({ n: stored?.state.n, seen: stored?.state.seen, status: stored?.status })
} else {
  // A dead owner's lease has to run out before somebody else may go on.
  for (let done = false; !done;) {
    const run = app.stream({ thread: 't', ...(phase === 'start' && { input: {} }) } as {
      thread: string
      input: object
    })
    try {
      for await (const event of run) {
        // Not waited for: the run goes on and is killed in the middle of whatever it does.
        if (event.kind === 'step') void report(event.step)
        if (event.kind === 'done') await report(event.state)
      }
      done = true
    } catch (error) {
      if (!isHeddleError(error, 'thread_busy')) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}
