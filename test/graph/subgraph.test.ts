import { expect, it } from 'vitest'
import { z } from 'zod'
import type { Context } from '../../src/graph/context.ts'
import { graph } from '../../src/graph/graph.ts'
import { subgraph } from '../../src/graph/subgraph.ts'

const child = graph({
  name: 'child',
  state: { q: z.string(), a: z.string().default('') },
  nodes: { x: ({ q }) => ({ a: `${q}!` }) },
  edges: { start: 'x', x: 'end' },
})

it('a subgraph maps what the child gets and what the parent keeps', async () => {
  const node = subgraph(child, {
    input: ({ name }: { name: string }, { item }: { item: number }) => ({ q: `${name} ${item}` }),
    output: ({ a }, { name }) => ({ answer: `${name}: ${a}` }),
  })
  expect(node.graph).toBe(child)
  const given: unknown[] = []
  const ctx = {
    item: 7,
    child: async (inner: unknown, input: { q: string }) => {
      given.push(inner, input)
      return { ...input, a: 'yes' }
    },
  } as unknown as Context<never, number>
  expect(await node.run({ name: 'ann' }, ctx)).toEqual({ answer: 'ann: yes' })
  expect(given).toEqual([child, { q: 'ann 7' }])
})
