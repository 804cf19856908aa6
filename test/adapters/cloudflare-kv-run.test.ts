import { expect, test } from 'vitest'
import * as z from 'zod'
import { compile, graph, memory } from '../../src/index.ts'
import { cloudflareKv } from '../../adapters/cloudflare-kv.ts'
import { eventualKv, type World } from '../fakes/eventual-kv.ts'

const order = graph({
  name: 'order',
  state: { total: z.number().default(0) },
  nodes: {
    fill: ({ total }) => ({ total: total + 1 }),
    ask: async ({ total }, ctx) => ({
      total: total + z.number().parse(await ctx.interrupt('how many?')),
    }),
    double: ({ total }) => ({ total: total * 2 }),
  },
  edges: { start: 'fill', fill: 'ask', ask: 'double', double: 'end' },
})

test('a thread is paused and goes on in a place that sees none of its own writes', async () => {
  const kv = world().at('FRA')
  const app = () => compile(order, { store: cloudflareKv(kv, { singleWriter: true }) })
  expect(await app().run({ thread: 't', input: {} })).toMatchObject({ status: 'interrupted' })
  const outcome = await app().run({ thread: 't', answer: 10 })
  expect(outcome).toMatchObject({ status: 'success', state: { total: 22 } })
})

test('a thread paused in one place goes on in another at once, with heads in a lease store', async () => {
  const earth = world()
  const lease = memory()
  const app = (place: string) => compile(order, { store: cloudflareKv(earth.at(place), { lease }) })
  expect(await app('FRA').run({ thread: 't', input: {} })).toMatchObject({ status: 'interrupted' })
  const outcome = await app('SFO').run({ thread: 't', answer: 10 })
  expect(outcome).toMatchObject({ status: 'success', state: { total: 22 } })
  await expect(app('NRT').run({ thread: 't', answer: 11 })).rejects.toMatchObject({
    code: 'nothing_to_resume',
  })
})

test('of two answers given in two places at once one is taken, with heads in a lease store', async () => {
  const earth = world()
  const lease = memory()
  const app = (place: string) => compile(order, { store: cloudflareKv(earth.at(place), { lease }) })
  await app('FRA').run({ thread: 't', input: {} })
  const outcomes = await Promise.allSettled(
    ['SFO', 'NRT'].map((place) => app(place).run({ thread: 't', answer: 10 })),
  )
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect(outcomes).toContainEqual({
    status: 'fulfilled',
    value: expect.objectContaining({ status: 'success', state: { total: 22 } }),
  })
})

test('without a lease store, and without a word that there is one writer, a first run works and no other', async () => {
  const earth = world()
  const app = compile(order, { store: cloudflareKv(earth.at('FRA')) })
  expect(await app.run({ thread: 't', input: {} })).toMatchObject({ status: 'interrupted' })
  const { put, delete: deleted } = earth.ops
  for (const request of [{ answer: 10 }, {}, { from: (await app.state('t'))!.checkpoint }]) {
    await expect(app.run({ thread: 't', ...request })).rejects.toMatchObject({
      code: request.answer
        ? 'store_unsafe'
        : expect.stringMatching(/^(store_unsafe|nothing_to_resume)$/),
    })
  }
  expect(earth.ops).toMatchObject({ put, delete: deleted })
})

/** Two seconds pass at each look at the clock, so that nothing is written too soon. */
function world(): World {
  let time = Date.now()
  return eventualKv({ seed: 5, seesOwn: 0, now: () => (time += 2000) })
}
