// A cancel or a delete while somebody else is at the thread: it comes through, in the order of things.
import { compile, field, graph, memory, type Graph, type Store } from 'heddle'
import { withFaults } from 'heddle/testing'
import { describe, expect, it } from 'vitest'

import { failure, keepBooks } from './harness.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

/** Asks again after every answer, and counts them. */
const asking = (): Graph =>
  graph({
    name: 'asking',
    state: { n: field(0) },
    nodes: {
      async ask({ n }, ctx) {
        await ctx.interrupt('Again?')
        return { n: n + 1 }
      },
    },
    edges: { start: 'ask', ask: 'ask' },
  })

/** The store as seen by somebody for whom another process is faster, so many times, between each look and its claim. */
function outrun(store: Store, times: number): Store {
  const faster = compile(asking(), { store, logger: silent })
  return {
    ...store,
    async commit(batch) {
      if (times-- > 0) await faster.run({ thread: 't', answer: 'yes' })
      return store.commit(batch)
    },
  }
}

describe.each(['cancel', 'delete'] as const)('%s', (what) => {
  it('tries again while another process is faster', async () => {
    const store = memory()
    const app = compile(asking(), { store })
    await app.run({ thread: 't', input: {} })
    await compile(asking(), { store: outrun(store, 5) })[what]('t')
    const left = await app.state('t')
    if (what === 'delete') expect(left).toBeUndefined()
    else expect(left).toMatchObject({ status: 'cancelled', state: { n: 5 }, interruptions: [] })
  })

  it('gives up at last, and has changed nothing', async () => {
    const store = memory()
    const app = compile(asking(), { store })
    await app.run({ thread: 't', input: {} })
    const error = await failure(compile(asking(), { store: outrun(store, 1000) })[what]('t'))
    expect(error).toMatchObject({ code: 'thread_busy' })
    expect(await app.state('t')).toMatchObject({ status: 'interrupted', state: { n: 20 } })
  })

  it.each([1, 2, 3])('stops a run that is at its operation %s', async (at) => {
    const under = memory()
    const store = withFaults(under, [{ at, delay: 5 }])
    const entered: number[] = []
    const make = graph({
      name: 'slow',
      state: {},
      nodes: {
        async work(_, ctx) {
          entered.push(at)
          await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
        },
      },
      edges: { start: 'work', work: 'end' },
    })
    const app = compile(make, { store, logger: silent })
    const run = failure(app.run({ thread: 't', input: {} }))
    await app[what]('t')
    expect(await run).toMatchObject({ code: 'cancelled' })
    const left = await compile(make, { store: under }).state('t')
    expect(['cancelled', undefined]).toContain(left?.status)
    expect(entered).toEqual([])
    // What was under way when it was stopped may come to its end.
    await new Promise((resolve) => setTimeout(resolve, 10))
  })
})

it('a cancel voids what is open also when a run of its own process has just stopped', async () => {
  const app = compile(asking(), { store: memory(), logger: silent })
  await app.run({ thread: 't', input: {} })
  const run = failure(app.run({ thread: 't', answer: 'yes' }))
  await app.cancel('t')
  expect(await run).toMatchObject({ code: 'cancelled' })
  expect(await app.state('t')).toMatchObject({ status: 'cancelled', interruptions: [] })
  expect(await app.interruptions()).toEqual([])
})
