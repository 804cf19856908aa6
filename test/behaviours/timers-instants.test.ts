// B30.2 and 3: which instants a wait takes.
import { compile, field, memory } from 'heddle'
import { manualClock } from 'heddle/testing'
import { describe, expect, it } from 'vitest'
import { at, EIGHT, HOUR, waiting } from './timers-parts.ts'
import { all, failure, keepBooks } from './harness.ts'

keepBooks()

describe('a wait until', () => {
  it.each([
    ['an instant that is past', '2026-03-01T07:59:59Z'],
    ['now', '2026-03-01T08:00:00.000Z'],
    ['now, in another offset', '2026-03-01T10:00:00+02:00'],
    ['now, west of here', '2026-03-01T03:00:00-05:00'],
    ['now, to the minute', '2026-03-01T08:00Z'],
    ['now, to the nanosecond', '2026-03-01T08:00:00.000000000Z'],
    ['a Date', new Date(EIGHT)],
    ['the first Date there is', new Date(-8.64e15)],
  ])('%s does not pause, also not when a question follows it', async (_, instant) => {
    const clock = manualClock(new Date(EIGHT))
    const { calls, make } = waiting(async (ctx) => {
      // Later calls are given a time to come: the recorded one counts.
      const payload = await ctx.wait(calls.n === 1 ? instant : at(EIGHT + 9 * HOUR), { n: calls.n })
      return [payload, await ctx.interrupt('go on?')]
    })
    const store = memory()
    const app = compile(make(), { clock, store })
    const live = app.stream({ thread: 't', input: {} })
    const events = await all(live)
    expect(events.filter(({ kind }) => kind === 'wait')).toEqual([])
    expect(await live.outcome).toMatchObject({ status: 'interrupted', timers: [] })
    const ended = await compile(make(), { clock, store }).run({ thread: 't', answer: 'yes' })
    expect(ended).toMatchObject({ status: 'success', state: { out: [{ n: 1 }, 'yes'] } })
    expect(calls.n).toBe(2)
    expect(await store.list({ prefix: 'd/', limit: 9 })).toEqual([])
  })

  it.each([
    ['a time without an offset', '2026-03-01T09:00:00'],
    ['a day alone', '2026-03-01'],
    ['a day that does not exist', '2026-02-30T00:00:00Z'],
    ['29 February of no leap year', '2026-02-29T00:00:00Z'],
    ['a month that does not exist', '2026-13-01T00:00:00Z'],
    ['an hour that does not exist', '2026-03-01T25:00:00Z'],
    ['an offset that does not exist', '2026-03-01T09:00:00+25:00'],
    ['a word', 'tomorrow'],
    ['nothing', ''],
    ['an invalid Date', new Date(Number.NaN)],
    ['a number', 1_772_352_000_000],
    ['undefined', undefined],
    ['null', null],
    ['an object', {}],
    ['the time of a mail', 'Sun, 01 Mar 2026 09:00:00 GMT'],
    ['a time with a zone in words', '2026-03-01T09:00:00 GMT'],
    ['a time after which more follows', '2026-03-01T09:00:00Z\n'],
  ])('%s is refused before anything pauses', async (_, instant) => {
    const { calls, make } = waiting((ctx) => ctx.wait(instant as never))
    const app = compile(make(), { clock: manualClock(new Date(EIGHT)) })
    const error = await failure(app.run({ thread: 't', input: {} }))
    expect(error).toBeInstanceOf(RangeError)
    expect(error.message).toMatch(/^Cannot wait until /)
    expect(calls.n).toBe(1)
    expect(await app.state('t')).toMatchObject({ status: 'error', timers: [] })
  })

  it.each([
    ['28 February', '2026-02-28T23:59:59Z', '2026-02-28T23:59:59.000Z'],
    ['29 February of a leap year', '2028-02-29T00:00:00Z', '2028-02-29T00:00:00.000Z'],
    ['another year that is not one', '2100-02-28T00:00:00Z', '2100-02-28T00:00:00.000Z'],
    ['the last day of a month, west', '2026-03-31T23:30:00-01:00', '2026-04-01T00:30:00.000Z'],
    ['a far year', '+012026-03-01T00:00:00Z', '+012026-03-01T00:00:00.000Z'],
  ])('%s is that instant everywhere', async (_, instant, expected) => {
    const { make } = waiting((ctx) => ctx.wait(instant))
    const app = compile(make(), { clock: manualClock('2026-01-01T00:00:00Z') })
    expect(await app.run({ thread: 't', input: {} })).toMatchObject({
      status: 'waiting',
      timers: [{ wakeAt: expected }],
    })
  })

  it.each([-1, Number.NaN, Infinity, 9e15, 8.64e15, '5', null, undefined, 5n])(
    'a sleep of %s is refused',
    async (ms) => {
      const { make } = waiting((ctx) => ctx.sleep(ms as never))
      const app = compile(make(), { clock: manualClock(new Date(EIGHT)) })
      expect(await failure(app.run({ thread: 't', input: {} }))).toBeInstanceOf(RangeError)
      expect((await app.state('t'))?.timers).toEqual([])
    },
  )
})

it.each([0, -1, Number.NaN, Infinity, 8.64e15, '5', 5n])(
  'a question that expires after %s is refused',
  async (expires) => {
    const { make } = waiting((ctx) =>
      ctx.interrupt('?', { schema: field<string>(), expires: expires as number }),
    )
    const app = compile(make(), { clock: manualClock(new Date(EIGHT)) })
    expect(await failure(app.run({ thread: 't', input: {} }))).toBeInstanceOf(RangeError)
    expect(await app.state('t')).toMatchObject({ status: 'error', interruptions: [] })
  },
)
