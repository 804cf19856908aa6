// cancel(): the run in this process, or what is open.
import { compile, field, graph, type Graph } from 'heddle'
import { describe, expect, it } from 'vitest'
import { hang, places } from './abort-hang.ts'
import { after, countingClock, failure, keepBooks } from './harness.ts'

keepBooks()

describe('cancel()', () => {
  it('of a run in this process ends it with Cancelled and resolves when that is recorded', async () => {
    const h = hang()
    const app = compile(places['a node']?.(h) as Graph, { clock: countingClock() })
    const running = failure(app.run({ thread: 't', input: {} }))
    await h.there.promise
    await app.cancel('t', 'not needed')
    expect(await app.state('t')).toMatchObject({ status: 'cancelled' })
    expect(await running).toMatchObject({ code: 'cancelled', details: { reason: 'not needed' } })
    await app.cancel('t')
    h.held.open()
    await after(5)
    expect(await app.run({ thread: 't' })).toMatchObject({ status: 'success', state: { x: 2 } })
  })

  it('of a paused thread voids what is open; an input starts a new turn', async () => {
    const app = compile(
      graph({
        name: 'asks',
        state: { x: field<unknown>(0) },
        nodes: { n: async (_, ctx) => ({ x: await ctx.interrupt('?') }) },
        edges: { start: 'n', n: 'end' },
      }),
      { clock: countingClock() },
    )
    const first = await app.run({ thread: 't', input: {} })
    await app.cancel('t')
    expect(await app.interruptions()).toEqual([])
    expect(await app.interruptions({ status: 'cancelled' })).toHaveLength(1)
    const id = first.status === 'interrupted' ? (first.interruptions[0]?.id ?? '') : ''
    expect(await failure(app.run({ thread: 't', answers: { [id]: 1 } }))).toMatchObject({
      code: 'nothing_to_resume',
    })
    expect(await app.run({ thread: 't', input: {} })).toMatchObject({ status: 'interrupted' })
    expect(await app.run({ thread: 't', answer: 5 })).toMatchObject({ state: { x: 5 } })
  })
})
