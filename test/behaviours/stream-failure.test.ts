// B24: a failure anywhere ends the stream once. Hooks, models and `generate` come with their issues.
import { append, compile, field, graph, memory, reduced, type Graph, type Store } from 'heddle'
import { describe, expect, it } from 'vitest'
import { idle, until } from './abort-idle.ts'
import { gate } from '../fakes/gate.ts'
import { broken, fails, graphOf, thrower, type Parts } from './stream-parts.ts'
import { after, all, countingClock, eachWay, failure, keepBooks } from './harness.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

const later = async (): Promise<never> => {
  await after(2)
  throw broken
}
const places: Record<string, Parts> = {
  'a node before its first await': { n: thrower },
  'a node after an await': { n: later },
  'a router': { router: thrower },
  'an async router': { router: later },
  'the router of start': { start: thrower },
  'the async router of start': { start: later },
  'a reducer': { reduce: thrower },
  'a validator': { validate: thrower },
  'an async validator': { validate: later },
}

describe.each(Object.entries(places))('when %s throws', (_, parts) => {
  it('the loop rejects with that very error, the record has it, and the thread can go on', async () => {
    const store = memory()
    const options = { store, clock: countingClock(), logger: silent }
    const app = compile(graphOf(parts), options)
    expect(await fails(app)).toBe(broken)
    const error = {
      name: 'Error',
      message: 'broken',
      code: 'E_MINE',
      cause: { name: 'TypeError', message: 'inner' },
    }
    expect(await app.state('t')).toMatchObject({ status: 'error', error })
    expect(await all(app.runs('t'))).toMatchObject([{ status: 'error', error }])
    expect(await all(app.threads({ status: 'error' }))).toMatchObject([{ id: 't' }])

    const mended = compile(graphOf({}), options)
    expect(await mended.run({ thread: 't' })).toMatchObject({
      status: 'success',
      state: { total: 1, x: 1 },
    })
    expect((await mended.state('t'))?.error).toBeUndefined()
  })

  it('nothing goes unheard when nobody listens', async () => {
    const app = compile(graphOf(parts), { clock: countingClock(), logger: silent })
    app.stream({ thread: 't', input: {} })
    await until(async () => (await app.state('t'))?.status === 'error')
    await after(5)
  })
})

describe('two nodes that fail', () => {
  eachWay(
    'the first one counts; the other is logged, and what had finished is kept',
    async (open) => {
      const [first, second] = [new Error('first'), new Error('second')]
      const calls = { done: 0, at5: 0, at10: 0, long: 0 }
      const logged: unknown[] = []
      const reasons: unknown[] = []
      let healthy = false
      const make = (): Graph =>
        graph({
          name: 'failures',
          state: { log: reduced(field<string[]>([]), append) },
          nodes: {
            done: () => (calls.done++, { log: ['done'] }),
            async at5() {
              calls.at5++
              await after(5)
              if (!healthy) throw first
            },
            async at10() {
              calls.at10++
              // Deaf: it fails after the run has been recorded.
              await after(10)
              if (!healthy) throw second
            },
            async long(_, ctx) {
              calls.long++
              await idle(healthy ? 1 : 5000, ctx.signal).catch((reason: unknown) => {
                reasons.push(reason)
                throw reason
              })
            },
          },
          edges: {
            start: ['done', 'at5', 'at10', 'long'],
            done: 'end',
            at5: 'end',
            at10: 'end',
            long: 'end',
          },
        })
      const logger = { ...silent, warn: (_: string, data?: object) => void logged.push(data) }
      const story = open(make, { logger })
      expect(await failure(story.start())).toBe(first)
      expect(reasons).toEqual([first])
      await after(20)
      expect(logged).toEqual([{ graph: 'failures', error: second }])
      expect(await story.snapshot()).toMatchObject({ status: 'error', error: { message: 'first' } })

      healthy = true
      const pass = await story.goOn()
      expect(pass.state).toEqual({ log: ['done'] })
      expect(calls).toEqual({ done: 1, at5: 2, at10: 2, long: 2 })
      expect(pass.events.filter(({ kind }) => kind === 'node_start')).toHaveLength(3)
    },
  )

  it('while the first is being recorded: the record names the first', async () => {
    const [first, second] = [new Error('first'), new Error('second')]
    const under = memory()
    const stuck = gate()
    const recording = gate()
    let hold = false
    const store: Store = Object.assign(Object.create(under) as Store, {
      async commit(batch: Parameters<Store['commit']>[0]) {
        if (hold) {
          recording.open()
          await stuck.promise
        }
        return under.commit(batch)
      },
    })
    const logged: unknown[] = []
    const logger = { ...silent, warn: (_: string, data?: object) => void logged.push(data) }
    const app = compile(
      graph({
        name: 'pair',
        state: {},
        nodes: {
          async a() {
            await after(2)
            hold = true
            throw first
          },
          async b() {
            await recording.promise
            throw second
          },
        },
        edges: { start: ['a', 'b'], a: 'end', b: 'end' },
      }),
      { store, clock: countingClock(), logger },
    )
    const live = app.stream({ thread: 't', input: {} })
    await recording.promise
    await after(5)
    // A second stop changes nothing either.
    live.abort(new Error('too late'))
    hold = false
    stuck.open()
    expect(await failure(all(live))).toBe(first)
    expect(logged).toEqual([{ graph: 'pair', error: second }])
    expect(await app.state('t')).toMatchObject({ status: 'error', error: { message: 'first' } })
  })
})
