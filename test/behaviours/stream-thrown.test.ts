// B24, beyond the letter: whatever a node throws is what the caller gets.
import { compile, graph, memory, type CompileOptions } from 'heddle'
import { describe, expect, it } from 'vitest'

import { broken, fails, graphOf, thrower } from './stream-parts.ts'
import { after, all, countingClock, failure, keepBooks } from './harness.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

const shy = {
  get message(): string {
    throw new Error('no message for you')
  },
}
const odd: [string, unknown, object][] = [
  ['undefined', undefined, { name: 'Error', message: 'undefined' }],
  ['null', null, { name: 'Error', message: 'null' }],
  ['a text', 'plain text', { name: 'Error', message: 'plain text' }],
  ['an empty text', '', { name: 'Error', message: '' }],
  ['a number', 42, { name: 'Error', message: '42' }],
  ['NaN', Number.NaN, { name: 'Error', message: 'NaN' }],
  ['a bigint', 7n, { name: 'Error', message: '7' }],
  ['a symbol', Symbol('s'), { name: 'Error', message: 'Symbol(s)' }],
  ['a function', function fn() {}, { name: 'Error' }],
  [
    'a frozen error',
    Object.freeze(new RangeError('frozen')),
    { name: 'RangeError', message: 'frozen' },
  ],
  [
    'an object with functions',
    { name: 'Odd', message: 'odd', fn() {} },
    { name: 'Odd', message: 'odd' },
  ],
  ['an object without a prototype', Object.create(null), { name: 'Error' }],
  ['an object that hides its message', shy, { name: 'Error' }],
  [
    'an error whose name is no text',
    Object.assign(new Error('x'), { name: 5, code: 7 }),
    { name: '5', message: 'x' },
  ],
  [
    'an AbortError of its own',
    new DOMException('mine', 'AbortError'),
    { name: 'AbortError', message: 'mine' },
  ],
]

describe.each(odd)('a node that throws %s', (_, thrown, error) => {
  it('fails with exactly that, and its record says what it can', async () => {
    let healthy = false
    const g = graphOf({
      n() {
        if (healthy) return {}
        throw thrown
      },
    })
    const app = compile(g, { clock: countingClock(), logger: silent })
    expect(await fails(app)).toBe(thrown)
    expect((await app.state('t'))?.error).toMatchObject(error)
    expect((await all(app.runs('t')))[0]).toMatchObject({ status: 'error', error })
    healthy = true
    expect(await app.run({ thread: 't' })).toMatchObject({ status: 'success' })
  })

  it('late, when its run has failed already, changes nothing', async () => {
    const app = compile(
      graph({
        name: 'late',
        state: {},
        nodes: {
          a: thrower,
          async b() {
            await after(5)
            throw thrown
          },
        },
        edges: { start: ['b', 'a'], a: 'end', b: 'end' },
      }),
      { clock: countingClock(), logger: silent } satisfies CompileOptions,
    )
    expect(await fails(app)).toBe(broken)
    await after(10)
    expect((await app.state('t'))?.error?.message).toBe('broken')
  })
})

it('a cause that is its own cause is recorded and ends', async () => {
  const loop: Error & { cause?: unknown } = new Error('loop')
  loop.cause = loop
  const app = compile(
    graphOf({
      n() {
        throw loop
      },
    }),
    { clock: countingClock(), logger: silent },
  )
  expect(await fails(app)).toBe(loop)
  expect((await app.state('t'))?.error).toMatchObject({
    message: 'loop',
    cause: { message: 'loop' },
  })
})

it('a bad input is a refusal: no thread, no record, nothing stored', async () => {
  const store = memory()
  const app = compile(graphOf({}), { store, clock: countingClock() })
  const live = app.stream({ thread: 't', input: { nonsense: 1 } })
  expect(await failure(all(live))).toMatchObject({ code: 'schema_error' })
  expect(await failure(live.id)).toMatchObject({ code: 'schema_error' })
  expect(await app.state('t')).toBeUndefined()
  expect(await store.list({ prefix: 't/', limit: 9 })).toEqual([])
})

it('a logger that throws hides no failure and rejects nothing unheard', async () => {
  const angry = {
    debug() {},
    warn() {
      throw new Error('angry')
    },
    error() {},
  }
  const app = compile(
    graph({
      name: 'angry',
      state: {},
      nodes: {
        a: thrower,
        async b() {
          await after(3)
          throw new Error('second')
        },
      },
      edges: { start: ['b', 'a'], a: 'end', b: 'end' },
    }),
    { clock: countingClock(), logger: angry },
  )
  expect(await fails(app)).toBe(broken)
  await after(10)
})
