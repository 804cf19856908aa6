// B29: what comes of threads that are due: failures, questions that expire, cancels.
import { compile, field, graph, memory, type Graph } from 'heddle'
import { manualClock } from 'heddle/testing'
import { expect, it } from 'vitest'
import { idle } from './abort-idle.ts'
import { DAY, EIGHT, fresh, HOUR, sleeper } from './timers-parts.ts'
import { after, countingClock, failure, keepBooks } from './harness.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

it('a run that fails when it is woken is recorded and not thrown; the others go on', async () => {
  const clock = manualClock(new Date(EIGHT))
  const warned: unknown[] = []
  const app = compile(
    graph({
      name: 'fails',
      state: { bad: field<boolean>(false) },
      nodes: {
        async n({ bad }, ctx) {
          await ctx.sleep(HOUR)
          if (bad) throw new Error('woke up wrong')
        },
      },
      edges: { start: 'n', n: 'end' },
    }),
    { clock, logger: { ...silent, warn: (message) => void warned.push(message) } },
  )
  await app.run({ thread: 'bad', input: { bad: true } })
  await app.run({ thread: 'good', input: {} })
  clock.set(new Date(EIGHT + HOUR))
  expect(await app.tick()).toEqual({ woken: ['bad', 'good'], recovered: [] })
  expect(await app.state('bad')).toMatchObject({
    status: 'error',
    error: { message: 'woke up wrong' },
  })
  expect((await app.state('good'))?.status).toBe('success')
  expect(warned).toHaveLength(1)
  // It is no longer due.
  expect(await app.tick()).toEqual({ woken: [], recovered: [] })
})

it('a question that expires is due like a wait, and its node hears of it', async () => {
  const clock = manualClock(new Date(EIGHT))
  const app = compile(
    graph({
      name: 'asks',
      state: { out: field<unknown>(undefined) },
      nodes: {
        async n(_, ctx) {
          const out: unknown = await ctx
            .interrupt('quick!', { schema: field<string>(), expires: HOUR })
            .catch((error: Error) => error.name)
          return { out }
        },
      },
      edges: { start: 'n', n: 'end' },
    }),
    { clock },
  )
  const outcome = await app.run({ thread: 't', input: {} })
  const id = outcome.status === 'interrupted' ? (outcome.interruptions[0]?.id ?? '') : ''
  clock.set(new Date(EIGHT + HOUR - 1))
  expect((await app.tick()).woken).toEqual([])
  clock.set(new Date(EIGHT + HOUR))
  expect(await failure(app.run({ thread: 't', answers: { [id]: 'late' } }))).toMatchObject({
    code: 'unknown_interruption',
  })
  expect((await app.tick()).woken).toEqual(['t'])
  expect((await app.state('t'))?.state).toEqual({ out: 'TimeoutError' })
  expect(await app.interruptions({ status: 'expired' })).toMatchObject([{ id }])
})

it('a wait that is cancelled is never woken, and leaves no row and no timer', async () => {
  const clock = manualClock(new Date(EIGHT))
  const store = memory()
  const calls = fresh()
  const app = compile(sleeper(calls), { clock, store })
  await app.run({ thread: 't', input: {} })
  expect(await store.list({ prefix: 'd/', limit: 9 })).toHaveLength(1)
  await app.cancel('t')
  expect(await store.list({ prefix: 'd/', limit: 9 })).toEqual([])
  clock.set(new Date(EIGHT + DAY))
  expect(await app.tick()).toEqual({ woken: [], recovered: [] })
  expect(calls.woken).toEqual([])
  expect(await app.state('t')).toMatchObject({ status: 'cancelled', timers: [] })
  expect(clock.pending).toBe(0)
})

it('an abort while one node waits and another works keeps the recorded instant', async () => {
  const clock = countingClock()
  const store = memory()
  const seen: string[] = []
  const make = (): Graph =>
    graph({
      name: 'mixed',
      state: {},
      nodes: {
        async waits(_, ctx) {
          seen.push('waits')
          await ctx.wait(new Date(ctx.now() + 100))
        },
        async works(_, ctx) {
          seen.push('works')
          if (seen.length < 3) await idle(10_000, ctx.signal)
        },
      },
      edges: { start: ['waits', 'works'], waits: 'end', works: 'end' },
    })
  const app = compile(make(), { clock, store })
  const live = app.stream({ thread: 't', input: {} })
  await after(10)
  live.abort(new Error('stop'))
  expect((await failure(live.outcome)).message).toBe('stop')
  expect(clock.live()).toBe(0)
  expect(await app.state('t')).toMatchObject({ status: 'cancelled' })
  const again = await compile(make(), { clock, store }).run({ thread: 't' })
  expect(again.status).toBe('waiting')
  await after(120)
  expect((await compile(make(), { clock, store }).tick()).woken).toEqual(['t'])
  expect((await app.state('t'))?.status).toBe('success')
})

it('a thread of another graph in the same store is left alone', async () => {
  const clock = manualClock(new Date(EIGHT))
  const store = memory()
  const calls = fresh()
  const app = compile(sleeper(calls), { clock, store })
  const other = compile({ ...sleeper(calls), name: 'other' }, { clock, store })
  await app.run({ thread: 't', input: {} })
  clock.set(new Date(EIGHT + HOUR))
  expect(await other.tick()).toEqual({ woken: [], recovered: [] })
  expect((await app.tick()).woken).toEqual(['t'])
})
