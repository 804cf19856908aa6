// B24 beyond the letter: what the reader of a stream gets, and what is refused to it.
import { compile, isHeddleError } from 'heddle'
import { expect, it } from 'vitest'
import { dataOf, emitter } from './stream-parts.ts'
import { after, all, countingClock, failure, keepBooks } from './harness.ts'

keepBooks()

it('an event that can not be stored is refused to the node that emits it', async () => {
  const refused: unknown[] = []
  const app = compile(
    emitter(async ({ emit }) => {
      await emit({ at: { fn() {} } }).catch((error: unknown) => refused.push(error))
      // Not awaited: never an unhandled rejection.
      void emit(Symbol('x'))
      await emit('fine')
    }),
    { clock: countingClock() },
  )
  const events = await all(app.stream({ thread: 't', input: {} }))
  expect(refused).toHaveLength(1)
  expect(isHeddleError(refused[0], 'unserializable_value')).toBe(true)
  expect(refused[0]).toMatchObject({ details: { node: 'say', path: 'event.at.fn' } })
  expect(dataOf(events)).toEqual(['fine'])

  const careless = compile(
    emitter(async ({ emit }) => emit(() => {})),
    { clock: countingClock() },
  )
  const error = await failure(careless.run({ thread: 't', input: {} }))
  expect(isHeddleError(error, 'unserializable_value')).toBe(true)
  expect(await careless.state('t')).toMatchObject({ status: 'error' })
})

it('an event is what it was at the call, and its reader may do with it what it likes', async () => {
  const app = compile(
    emitter(({ emit }) => {
      const event = { list: [1] }
      void emit(event)
      event.list.push(2)
      void emit(event)
    }),
    { clock: countingClock() },
  )
  const seen: unknown[] = []
  for await (const event of app.stream({ thread: 't', input: {} })) {
    if (event.kind !== 'backend') continue
    seen.push(structuredClone(event.data))
    ;(event.data as { list: number[] }).list.push(99)
  }
  expect(seen).toEqual([{ list: [1] }, { list: [1, 2] }])
})

it('several next() at once are served in their order', async () => {
  const app = compile(
    emitter(({ emit }) => {
      void emit('a')
      void emit('b')
    }),
    { clock: countingClock() },
  )
  const reader = app.stream({ thread: 't', input: {} })[Symbol.asyncIterator]()
  const results = await Promise.all(Array.from({ length: 9 }, () => reader.next()))
  expect(results.map(({ value }) => value?.kind)).toEqual([
    'node_start',
    'backend',
    'backend',
    'node_end',
    'step',
    'done',
    undefined,
    undefined,
    undefined,
  ])
  expect(results.map(({ done }) => done)).toEqual([...Array(6).fill(false), true, true, true])
})

it('several next() at once hear of a failure once', async () => {
  const broken = new Error('broken')
  const app = compile(
    emitter(async () => {
      await after(5)
      throw broken
    }),
    { clock: countingClock() },
  )
  const reader = app.stream({ thread: 't', input: {} })[Symbol.asyncIterator]()
  const results = await Promise.allSettled(Array.from({ length: 4 }, () => reader.next()))
  expect(results.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
  ])
  expect(results[1]).toMatchObject({ reason: broken })
  expect(results[3]).toMatchObject({ value: { done: true, value: undefined } })
  expect(await reader.next()).toEqual({ done: true, value: undefined })
})
