// What the compiler holds a gate to: the nodes it leads to, what it evaluates, and the events of its graph.
import {
  field,
  gate,
  gateEvent,
  graph,
  type Context,
  type GateEvent,
  type GateResult,
  type Goto,
} from 'heddle'
import { same } from './same.ts'

const state = { draft: field(''), review: field<unknown>(null) }
const spec = { name: 'review', field: 'review' } as const
const nodes = {
  write: () => ({ draft: 'x' }),
  person: async (_: unknown, ctx: Context<GateEvent>) => void (await ctx.interrupt('Please look')),
  send: () => {},
}
const edges = {
  start: 'write',
  write: 'review',
  review: 'end',
  person: 'send',
  send: 'end',
} as const
const passes = ({ draft }: { draft: string }): GateResult => ({ passed: draft.length > 3 })

const review = gate({ ...spec, evaluate: passes, pass: 'send', fail: 'write', escalate: 'person' })
same<Awaited<ReturnType<typeof review>>, Goto<'send' | 'write' | 'person', {}>>(true)
graph({ name: 'g', state, events: gateEvent, nodes: { ...nodes, review }, edges })
graph({
  name: 'g',
  state,
  events: gateEvent,
  nodes: { ...nodes, review: { run: review, retry: { attempts: 2 } } },
  edges,
})
graph({
  name: 'g',
  state,
  events: gateEvent,
  nodes: {
    ...nodes,
    review: gate({
      ...spec,
      evaluate: async ({ draft }: { draft: string }, ctx) => {
        same<typeof ctx, Context<GateEvent>>(true)
        const good = await ctx.interrupt({ draft })
        return { passed: good === true, score: 1, reasons: ['a'], feedback: 'b' }
      },
      pass: 'end',
      fail: 'write',
      escalate: 'person',
      maxAttempts: 5,
    }),
  },
  edges,
})

graph({
  name: 'g',
  state,
  events: gateEvent,
  nodes: {
    ...nodes,
    // @ts-expect-error no node has this name
    review: gate({ ...spec, evaluate: passes, pass: 'sent', fail: 'write', escalate: 'person' }),
  },
  edges,
})
graph({
  name: 'g',
  state,
  events: gateEvent,
  nodes: {
    ...nodes,
    // @ts-expect-error the state has no such field
    review: gate({
      ...spec,
      evaluate: ({ text }: { text: string }) => ({ passed: !!text }),
      pass: 'send',
      fail: 'write',
      escalate: 'person',
    }),
  },
  edges,
})
// @ts-expect-error a result says whether it passed
gate({ ...spec, evaluate: () => ({ score: 1 }), pass: 'a', fail: 'b', escalate: 'c' })
// @ts-expect-error a gate leads somewhere when it gives up
gate({ ...spec, evaluate: passes, pass: 'a', fail: 'b' })
// @ts-expect-error a misspelt setting
gate({ ...spec, evaluate: passes, pass: 'a', fail: 'b', escalate: 'c', attempts: 3 })

// --- events
graph({
  name: 'g',
  state,
  nodes: {
    write: nodes.write,
    send: nodes.send,
    person: () => {},
    // @ts-expect-error this graph has no events
    review,
  },
  edges,
})
interface Token {
  readonly token: string
}
const mine = field<GateEvent | Token>()
graph({
  name: 'g',
  state,
  events: mine,
  nodes: {
    ...nodes,
    review: gate({
      ...spec,
      evaluate: async (_: unknown, ctx: Context<Token>) => {
        await ctx.emit({ token: 'a' })
        return { passed: true }
      },
      pass: 'send',
      fail: 'write',
      escalate: 'person',
    }),
  },
  edges,
})
