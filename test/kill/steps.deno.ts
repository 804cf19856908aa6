import { append, compile, field, graph, isHeddleError, reduced } from 'heddle'
import { denoKv } from 'heddle/deno-kv'

const LAST = 40
const [file, phase] = Deno.args
const tell = (what: object): void => console.log(JSON.stringify(what))

const count = graph({
  name: 'count',
  state: { n: field<number>(0), seen: reduced(field<number[]>([]), append) },
  nodes: {
    next: async ({ n }, ctx) => {
      const made = await ctx.once('effect', () => {
        tell({ did: n })
        return n
      })
      tell({ stored: n })
      // However late the kill comes, it finds the run on its way.
      if (n === { start: 15, 'go on': 31 }[phase!]) await new Promise(() => {})
      return { n: n + 1, seen: [made] }
    },
  },
  edges: { start: 'next', next: ({ n }) => (n < LAST ? 'next' : 'end') },
})

const kv = await Deno.openKv(file)
const app = compile(count, { store: denoKv(kv), leaseMs: 200 })
if (phase === 'read') {
  const stored = await app.state('t')
  tell({ n: stored?.state.n, seen: stored?.state.seen, status: stored?.status })
} else {
  for (let done = false; !done;) {
    const request = phase === 'start' ? { thread: 't', input: {} } : { thread: 't' }
    const run = app.stream(request as { thread: string; input: object })
    try {
      for await (const event of run) {
        if (event.kind === 'step') tell({ step: event.step })
        if (event.kind === 'done') tell({ done: event.state })
      }
      done = true
    } catch (error) {
      // A dead owner's lease has to run out before somebody else may go on.
      if (!isHeddleError(error, 'thread_busy')) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}
kv.close()
