// Mistakes in calling: TypeError or RangeError, at once, with nothing read and nothing written.
import { compile, field, graph, memory, type Store } from 'heddle'
import { describe, expect, it } from 'vitest'
import { failure, keepBooks } from './harness.ts'

keepBooks()

const made = graph({
  name: 'plain',
  state: { n: field(0) },
  nodes: { a: () => ({ n: 1 }) },
  edges: { start: 'a', a: 'end' },
})

/** A store that fails the test when it is touched. */
function untouched(): Store {
  const no = (): never => expect.unreachable('the store was touched')
  return { ...memory(), get: no, list: no, commit: no, clear: no }
}

describe('compile refuses', () => {
  const wrong: Readonly<
    Record<string, readonly [options: object, kind: typeof TypeError | typeof RangeError]>
  > = {
    'a step limit of 0': [{ stepLimit: 0 }, RangeError],
    'a step limit that is no whole number': [{ stepLimit: 1.5 }, RangeError],
    'a step limit without end': [{ stepLimit: Infinity }, RangeError],
    'a concurrency of 0': [{ concurrency: 0 }, RangeError],
    'a concurrency that is no number': [{ concurrency: Number.NaN }, RangeError],
    'a lease below 0': [{ leaseMs: -1 }, RangeError],
    'a lease as text': [{ leaseMs: '60000' }, RangeError],
    'another durability': [{ durability: 'always' }, TypeError],
    'a store that is none': [{ store: {} }, TypeError],
    'a store that is a map': [{ store: new Map() }, TypeError],
    'a store that is null': [{ store: null }, TypeError],
    'a clock without "after"': [{ clock: { now: () => 0 } }, TypeError],
    'random numbers that are a number': [{ random: 0.5 }, TypeError],
    'ids that are a text': [{ newId: 'id' }, TypeError],
    'a logger without "warn"': [{ logger: { debug() {}, error() {} } }, TypeError],
    'a misspelt option': [{ stepLimits: 10 }, TypeError],
    'an option called as a method of objects': [{ toString: 1 }, TypeError],
  }
  for (const [what, [options, kind]] of Object.entries(wrong)) {
    it(what, () => {
      expect(() => compile(made, options)).toThrow(kind)
      expect(() => compile(made, options)).toThrow(
        new RegExp(`^Cannot compile graph "plain": "?${Object.keys(options)[0]}"? `),
      )
    })
  }

  it('nothing that is left out or undefined', async () => {
    const app = compile(made, {
      store: undefined,
      stepLimit: undefined,
      concurrency: Infinity,
    } as never)
    expect(await app.run({ thread: 't', input: {} })).toMatchObject({ status: 'success' })
  })
})

describe('run and stream refuse', () => {
  const input = {}
  const wrong: Readonly<
    Record<string, readonly [request: unknown, kind: typeof TypeError | typeof RangeError]>
  > = {
    nothing: [undefined, TypeError],
    null: [null, TypeError],
    'a text': ['t', TypeError],
    'no thread': [{ input }, TypeError],
    'a thread that is a number': [{ thread: 1, input }, TypeError],
    'a thread that is null': [{ thread: null, input }, TypeError],
    'input and answer': [{ thread: 't', input, answer: 1 }, TypeError],
    'answer and answers, though one is undefined': [
      { thread: 't', answer: undefined, answers: { a: 1 } },
      TypeError,
    ],
    'all three': [{ thread: 't', input, answer: 1, answers: { a: 1 } }, TypeError],
    'no answers': [{ thread: 't', answers: {} }, TypeError],
    'answers that are undefined': [{ thread: 't', answers: undefined }, TypeError],
    'answers that are null': [{ thread: 't', answers: null }, TypeError],
    'a list of answers': [{ thread: 't', answers: [1] }, TypeError],
    'a text of answers': [{ thread: 't', answers: 'a' }, TypeError],
    'a misspelt key': [{ thread: 't', inputs: {} }, TypeError],
    'a tenant': [{ thread: 't', input, tenant: 'other' }, TypeError],
    "the clock's own key": [{ thread: 't', wake: 1 }, TypeError],
    'a checkpoint that is a number': [{ thread: 't', from: 1 }, TypeError],
    'a signal that is none': [{ thread: 't', input, signal: {} }, TypeError],
    'a signal that is null': [{ thread: 't', input, signal: null }, TypeError],
    'a user that is no text': [{ thread: 't', input, user: 7 }, TypeError],
    'metadata that is a list': [{ thread: 't', input, metadata: [] }, TypeError],
    'metadata that is a text': [{ thread: 't', input, metadata: 'x' }, TypeError],
    'another durability': [{ thread: 't', input, durability: 'never' }, TypeError],
    'a timeout of 0': [{ thread: 't', input, timeout: 0 }, RangeError],
    'a timeout below 0': [{ thread: 't', input, timeout: -1 }, RangeError],
    'a timeout that is no number': [{ thread: 't', input, timeout: Number.NaN }, RangeError],
    'a timeout as text': [{ thread: 't', input, timeout: '5' }, RangeError],
  }
  for (const [what, [request, kind]] of Object.entries(wrong)) {
    it(what, async () => {
      const app = compile(made, { store: untouched() })
      const error = await failure(app.run(request as never))
      expect(error).toBeInstanceOf(kind)
      expect(error.message).toMatch(/^Cannot run: .+[^.]$/)
      const live = app.stream(request as never)
      expect((await failure(live.id)).message).toBe(error.message)
      expect((await failure(live.outcome)).message).toBe(error.message)
      const next = live[Symbol.asyncIterator]().next()
      expect((await failure(next)).message).toBe(error.message)
    })
  }

  it('metadata that JSON can not hold, before anything is written', async () => {
    const store = memory()
    const app = compile(made, { store })
    for (const metadata of [
      { at: new Date(0) },
      { n: Number.NaN },
      { a: undefined },
      new Map([['a', 1]]),
      { big: 1n },
    ]) {
      const error = await failure(app.run({ thread: 't', input, metadata: metadata as never }))
      expect(error).toBeInstanceOf(TypeError)
    }
    for (const prefix of ['h/', 't/', 'd/', 'n/', 'o/'])
      expect(await store.list({ prefix, limit: 9 })).toEqual([])
  })
})

describe('other calls refuse', () => {
  it('a tenant whose id is no text', () => {
    const app = compile(made, { store: untouched() })
    for (const id of [undefined, null, 7, {}])
      expect(() => app.tenant(id as never)).toThrow(TypeError)
  })

  it('a thread that is no text, rather than looking for one of another name', async () => {
    const app = compile(made, { store: untouched() })
    for (const thread of [undefined, null, 7, ['t']] as never[]) {
      expect(await failure(app.state(thread))).toBeInstanceOf(TypeError)
      expect(await failure(app.cancel(thread))).toBeInstanceOf(TypeError)
      expect(await failure(app.delete(thread))).toBeInstanceOf(TypeError)
      for (const list of [app.history(thread), app.runs(thread)])
        expect(await failure(list[Symbol.asyncIterator]().next())).toBeInstanceOf(TypeError)
    }
  })

  it('limits that are no numbers from 0 on', async () => {
    const app = compile(made)
    await app.run({ thread: 't', input: {} })
    for (const limit of [-1, 1.5, Number.NaN, '1', null] as never[]) {
      for (const list of [
        app.history('t', { limit }),
        app.runs('t', { limit }),
        app.threads({ limit }),
      ])
        expect(await failure(list[Symbol.asyncIterator]().next())).toBeInstanceOf(RangeError)
      expect(await failure(app.interruptions({ limit }))).toBeInstanceOf(RangeError)
      expect(await failure(app.tick({ limit }))).toBeInstanceOf(RangeError)
    }
  })
})
