// A graph inside a node: it has a state and a namespace of its own, and what it asks pauses the node that runs it.
import { append, compile, field, graph, reduced, subgraph } from 'heddle'

const check = graph({
  name: 'check',
  state: { text: field<string>(), ok: field(false) },
  events: field<string>(),
  nodes: {
    read: async ({ text }, ctx) => {
      await ctx.emit(`reads "${text}"`)
      return { ok: (await ctx.interrupt({ text })) === 'fine' }
    },
  },
  edges: { start: 'read', read: 'end' },
})

const publish = graph({
  name: 'publish',
  state: {
    title: field<string>(),
    body: field<string>(),
    log: reduced(field<string[]>([]), append),
  },
  events: field<string>(),
  nodes: {
    title: async ({ title }, ctx) => {
      const emit = (said: string) => `title: ${said}`
      const { ok } = await ctx.child(check, { text: title }, { emit })
      return { log: [`title ${ok ? 'fine' : 'bad'}`] }
    },
    body: subgraph(check, {
      input: (state: { readonly body: string }) => ({ text: state.body }),
      output: ({ ok }) => ({ log: [`body ${ok ? 'fine' : 'bad'}`] }),
    }),
  },
  edges: { start: 'title', title: 'body', body: 'end' },
})

/** Two questions, one after the other, each asked in a child graph. */
export const app = compile(publish)

// Only when this file is the program: node scripts/run.mjs examples/child.ts
if (/\bchild\.[cm]?[jt]s$/.test(globalThis.process?.argv[1] ?? '')) {
  await app.run({ thread: 'p1', input: { title: 'Looms', body: 'A loom is …' } })
  await app.run({ thread: 'p1', answer: 'fine' })
  console.log((await app.run({ thread: 'p1', answer: 'no' })).state.log)
}
