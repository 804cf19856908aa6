import { expect, test } from 'vitest'
import * as z from 'zod'
import { append, compile, graph, memory, reduced, subgraph } from 'heddle'

const inner = graph({
  name: 'inner',
  state: { n: z.number(), log: reduced(z.array(z.string()).default([]), append) },
  nodes: {
    count: ({ n }) => ({ n: n + 1, log: [`from ${n}`] }),
    ask: async (_, ctx) => ({ log: [String(await ctx.interrupt('go on?'))] }),
  },
  edges: { start: 'count', count: 'ask', ask: 'end' },
})

const outer = graph({
  name: 'outer',
  state: { total: z.number().default(0) },
  nodes: {
    sub: subgraph(inner, {
      input: ({ total }: { readonly total: number }) => ({ n: total }),
      output: ({ n }) => ({ total: n }),
    }),
  },
  edges: { start: 'sub', sub: ({ total }) => (total < 2 ? 'sub' : 'end') },
})

test('a child graph can be looked into by its path, the newest run of it first', async () => {
  const app = compile(outer, { store: memory() })
  await app.run({ thread: 't', input: {} })

  const paused = await app.state('t', { ns: ['sub'] })
  expect(paused).toMatchObject({ ns: ['sub'], state: { n: 1, log: ['from 0'] }, next: ['ask'] })

  await app.run({ thread: 't', answer: 'yes' })
  expect(await app.state('t', { ns: ['sub'] })).toMatchObject({ state: { n: 2, log: ['from 1'] } })

  await app.run({ thread: 't', answer: 'yes' })
  const steps = []
  for await (const { step, source, state } of app.history('t', { ns: ['sub'] }))
    steps.push([step, source, state])
  expect(steps).toEqual([
    [2, 'step', { n: 2, log: ['from 1', 'yes'] }],
    [1, 'step', { n: 2, log: ['from 1'] }],
    [0, 'input', { n: 1, log: [] }],
  ])
  expect(await app.state('t', { ns: ['nobody'] })).toBeUndefined()
})
