// The cache of nodes: identical nodes at one time, crashes, and caches that fail.
import { compile, each, field, graph, memory, tool, type CachePort, type Logger } from 'heddle'
import { manualClock, withFaults } from 'heddle/testing'
import { afterEach, beforeEach, describe, expect, it, vi, type MockInstance } from 'vitest'
import { until } from './abort-idle.ts'
import { gate } from '../fakes/gate.ts'
import { cacheRows, endsOf, make, passing } from './cache-parts.ts'
import { all, failure, keepBooks } from './harness.ts'

keepBooks()

describe('identical nodes at one time', () => {
  let digests: MockInstance<SubtleCrypto['digest']>
  beforeEach(() => void (digests = vi.spyOn(crypto.subtle, 'digest')))
  afterEach(() => digests.mockRestore())

  it('are one, in two threads, and each gets a copy of its own', async () => {
    const open = gate()
    const { app, entered } = make({ scope: 'global' }, async () => {
      await open.promise
      return { out: new Map([['k', 1]]) }
    })
    const runs = ['a', 'b', 'c'].map((thread) => app.run({ thread, input: { n: 1 } }))
    await until(() => entered.length > 0)
    open.open()
    const outs = (await Promise.all(runs)).map(({ state }) => state['out'])
    expect(outs).toEqual([1, 2, 3].map(() => new Map([['k', 1]])))
    expect(new Set(outs).size).toBe(3)
    expect(entered).toHaveLength(1)
  })

  it('are one in a step, and all but one are told as cached', async () => {
    let entered = 0
    const items = graph({
      name: 'same',
      state: {},
      nodes: {
        spread: () => undefined,
        work: { run: () => void entered++, cache: { scope: 'run' } },
      },
      edges: { start: 'spread', spread: () => [each('work', [1, 1, 2, 1])], work: 'end' },
    })
    const events = await all(compile(items).stream({ thread: 'a', input: {} }))
    expect(entered).toBe(2)
    expect(endsOf(events).filter((event) => 'cached' in event)).toHaveLength(2)
  })

  /** Waits until so many keys are known in this test, and whoever has one knows whether somebody is at it. */
  async function digested(keys: number): Promise<void> {
    await until(() => digests.mock.results.length === keys)
    await Promise.all(digests.mock.results.map(({ value }) => value))
    await new Promise((resolve) => setImmediate(resolve))
  }

  it('share what comes of one, though the cache takes nothing', async () => {
    const open = gate()
    const none: CachePort = {
      get: async () => undefined,
      set: () => Promise.reject(new Error('full')),
      delete: async () => {},
    }
    const { app, entered } = make(
      { scope: 'global' },
      async () => {
        await open.promise
        return { out: 'good' }
      },
      { cache: none },
    )
    const runs = ['a', 'b'].map((thread) => app.run({ thread, input: { n: 1 } }))
    await digested(2)
    open.open()
    for (const { state } of await Promise.all(runs)) expect(state['out']).toBe('good')
    expect(entered).toHaveLength(1)
  })

  it('look into the cache once', async () => {
    const asked: string[] = []
    const opened = gate()
    const texts = new Map<string, string>()
    const cache: CachePort = {
      async get(key) {
        asked.push(key)
        if (asked.length > 1) await opened.promise
        return texts.get(key)
      },
      set: async (key, text) => void texts.set(key, text),
      delete: async () => {},
    }
    const { app, entered } = make({ scope: 'global' }, () => ({ out: 'made' }), { cache })
    await app.run({ thread: 'a', input: { n: 1 } })
    const runs = ['b', 'c'].map((thread) => app.run({ thread, input: { n: 1 } }))
    await digested(3)
    opened.open()
    for (const { state } of await Promise.all(runs)) expect(state['out']).toBe('made')
    expect([entered.length, asked.length]).toEqual([1, 2])
  })

  it('do it themselves when the one they wait for fails', async () => {
    const open = gate()
    const { app, entered, store } = make({ scope: 'global' }, async () => {
      if (entered.length > 1) return { out: 'good' }
      await open.promise
      throw new Error('bad')
    })
    const first = failure(app.run({ thread: 'a', input: { n: 1 } }))
    await until(() => entered.length > 0)
    const others = ['b', 'c'].map((thread) => app.run({ thread, input: { n: 1 } }))
    await until(async () => (await app.state('c'))?.status === 'running')
    expect(await cacheRows(store)).toEqual([])
    open.open()
    expect(await first).toMatchObject({ message: 'bad' })
    for (const { state } of await Promise.all(others)) expect(state['out']).toBe('good')
    expect(await cacheRows(store)).toHaveLength(1)
  })

  it('do it themselves when the one they wait for waits for somebody', async () => {
    const open = gate()
    const { app, entered } = make({ scope: 'global' }, async (_, ctx) => {
      await open.promise
      return { out: await ctx.interrupt('who?') }
    })
    const runs = ['a', 'b'].map((thread) => app.run({ thread, input: { n: 1 } }))
    await until(async () => (await app.state('b'))?.status === 'running')
    open.open()
    for (const { status } of await Promise.all(runs)) expect(status).toBe('interrupted')
    expect(entered).toHaveLength(2)
  })

  it.each(['first', 'second'] as const)('go on when the %s is aborted', async (which) => {
    const open = gate()
    const { app, entered } = make({ scope: 'global' }, async () => {
      await open.promise
      return { out: 'good' }
    })
    const first = app.stream({ thread: 'a', input: { n: 1 } })
    await until(() => entered.length > 0)
    const second = app.stream({ thread: 'b', input: { n: 1 } })
    await until(async () => (await app.state('b'))?.status === 'running')
    const [gone, other] = which === 'first' ? [first, second] : [second, first]
    gone.abort('enough')
    expect(await gone.outcome.catch((reason: unknown) => reason)).toBe('enough')
    open.open()
    expect((await other.outcome).state['out']).toBe('good')
    expect(entered).toHaveLength(which === 'first' ? 2 : 1)
  })

  it('do not wait for what waits for them', async () => {
    const nested: string[] = []
    const part = (depth: number): ReturnType<typeof graph> =>
      graph({
        name: 'ring',
        state: { n: field(0) },
        nodes: {
          work: {
            async run(_: unknown, ctx: { child(graph: unknown, input: object): Promise<unknown> }) {
              nested.push(`in ${depth}`)
              if (depth < 2) await ctx.child(part(depth + 1), {})
              return { n: depth }
            },
            cache: { scope: 'global', key: () => 'the same' },
          },
        },
        edges: { start: 'work', work: 'end' },
      } as never) as never
    const outcome = await compile(part(0)).run({ thread: 'a', input: {} })
    expect(nested).toEqual(['in 0', 'in 1', 'in 2'])
    expect(outcome.state).toEqual({ n: 0 })
  })
})

describe('a crash', () => {
  it('after a result was cached does not enter the node again', async () => {
    const clock = manualClock()
    const rehearsal = withFaults(memory())
    const settings = { scope: 'thread' } as const
    const work = () => ({ out: 'made' })
    const sound = make(settings, work, { clock, store: rehearsal })
    await sound.app.run({ thread: 'a', input: { n: 1 } })
    const kept = rehearsal.log.find(({ op, keys }) => op === 'commit' && keys[0]!.startsWith('c/'))!
    const store = withFaults(memory(), [{ at: kept.n, crash: 'after' }])
    const first = make(settings, work, { clock, store })
    expect(await failure(first.app.run({ thread: 'a', input: { n: 1 } }))).toMatchObject({
      name: 'Crash',
    })
    await clock.advance(120_000)
    const second = make(settings, work, { clock, store: store.restart() })
    expect(await second.app.tick()).toMatchObject({ recovered: ['a'] })
    expect([first.entered, second.entered]).toEqual([[1], []])
    const events = await all(second.app.subscribe('a', { signal: AbortSignal.abort() }))
    expect(events).toEqual([])
    expect((await second.app.state('a'))!.state).toEqual({ n: 1, out: 'made' })
  })
})

describe('a cache that fails', () => {
  const broken: CachePort = {
    get: () => Promise.reject(new Error('no get')),
    set: () => Promise.reject(new Error('no set')),
    delete: () => Promise.reject(new Error('no delete')),
  }

  it('is a miss, and is logged at warning', async () => {
    const { logger, logged } = book()
    const { app, entered } = make({ scope: 'global' }, () => ({ out: 1 }), {
      cache: broken,
      logger,
    })
    for (const thread of ['a', 'b'])
      expect((await app.run({ thread, input: { n: 1 } })).status).toBe('success')
    expect(entered).toHaveLength(2)
    expect(logged.map(([level, , data]) => [level, data.error?.message])).toEqual(
      ['no get', 'no set', 'no get', 'no set'].map((message) => ['warn', message]),
    )
  })

  it.each([
    'nothing',
    '{"v":2,"kind":"node","stored_at":"2026-01-01T00:00:00.000Z","payload":[{"update":null}]}',
    '{"v":1,"kind":"tool","stored_at":"2026-01-01T00:00:00.000Z","payload":[{"update":null}]}',
    '{"v":1,"kind":"node","stored_at":"2026-01-01T00:00:00.000Z","payload":7}',
    '{"v":1,"kind":"node","stored_at":"2026-01-01T00:00:00.000Z","payload":[{"update":{"no":1}}]}',
    '{"v":1,"kind":"node","stored_at":"2026-01-01T00:00:00.000Z","payload":[{"update":{},"goto":["no"]}]}',
    '{"v":1,"kind":"node","stored_at":"2026-01-01T00:00:00.000Z","payload":[{"update":{},"goto":1}]}',
  ])('holds what is no result of the node (%s), which is written anew', async (text) => {
    const texts = new Map<string, string>()
    const cache = portOn(texts, text)
    const { app, entered } = make({ scope: 'global' }, () => ({ out: 'made' }), { cache })
    const live = app.stream({ thread: 'a', input: { n: 1 } })
    expect(endsOf(await all(live)).some((event) => 'cached' in event)).toBe(false)
    expect((await live.outcome).state).toEqual({ n: 1, out: 'made' })
    await app.run({ thread: 'b', input: { n: 1 } })
    expect(entered).toHaveLength(1)
    expect([...texts.keys()]).toEqual([
      expect.stringMatching(/^heddle:node:v1:global:cached:work:/),
    ])
  })
})

describe('what can not be cached', () => {
  it('is told once, at debug, and the node runs', async () => {
    const { logger, logged } = book()
    const key = (): unknown => () => 'a function'
    const { app, entered } = make({ scope: 'global', key }, () => ({ out: 1 }), { logger })
    for (const thread of ['a', 'b']) await app.run({ thread, input: { n: 1 } })
    expect(entered).toHaveLength(2)
    expect(logged).toEqual([
      ['debug', expect.any(String), expect.objectContaining({ graph: 'cached', node: 'work' })],
    ])
  })

  it('is not what a "key" that throws means: the node fails', async () => {
    const key = (): unknown => {
      throw new Error('no key')
    }
    const { app, entered } = make({ scope: 'global', key }, () => ({ out: 1 }))
    expect(await failure(app.run({ thread: 'a', input: { n: 1 } }))).toMatchObject({
      message: 'no key',
    })
    expect(entered).toEqual([])
  })
})

it('a node that is tried again is kept when it succeeds', async () => {
  const clock = manualClock()
  const retry = { attempts: 2, delay: 10, jitter: 0 }
  const work = () => {
    if (entered.length === 1) throw new Error('bad')
    return { out: 'good' }
  }
  const { app, entered } = make({ scope: 'global' }, work, { clock, retry })
  await passing(clock, app.run({ thread: 'a', input: { n: 1 } }))
  expect((await app.run({ thread: 'b', input: { n: 1 } })).state['out']).toBe('good')
  expect(entered).toHaveLength(2)
})

it.each(['asks', 'has a tool that asks'])(
  'a tool that %s is not kept: its result has the answer in it',
  async (how) => {
    const entered: unknown[] = []
    const ask = tool({
      name: 'ask',
      description: 'Asks somebody.',
      input: anything,
      ...(how === 'asks' && { cache: { scope: 'global' } as const }),
      run: async (_, ctx) => (entered.push(ctx.thread), ctx.interrupt('who?')),
    })
    const outer = tool({
      name: 'outer',
      description: 'Has somebody asked.',
      input: anything,
      cache: { scope: 'global' },
      run: (_, ctx) => ctx.call(ask, {}),
    })
    const { app, store } = make(undefined, async (_, ctx) => ({
      out: await ctx.call(how === 'asks' ? ask : outer, {}),
    }))
    for (const thread of ['a', 'b']) {
      expect((await app.run({ thread, input: { n: 1 } })).status).toBe('interrupted')
      expect((await app.run({ thread, answer: thread })).state['out']).toBe(thread)
    }
    expect(entered).toEqual(['a', 'a', 'b', 'b'])
    expect(await cacheRows(store)).toEqual([])
  },
)

it('a cache is an object with the methods of one', () => {
  const half = { get: async () => undefined } as never
  expect(() => make({ scope: 'run' }, () => undefined, { cache: half })).toThrow(TypeError)
})

const anything = field<object>({})

type Logged = [level: string, message: string, data: { readonly error?: Error }]

function book(): { readonly logger: Logger; readonly logged: Logged[] } {
  const logged: Logged[] = []
  const note =
    (level: string) =>
    (message: string, data = {}): void =>
      void logged.push([level, message, data])
  return { logger: { debug: note('debug'), warn: note('warn'), error: note('error') }, logged }
}

/** A cache in which every key holds a text until another is set. */
function portOn(texts: Map<string, string>, first: string): CachePort {
  return {
    get: async (key) => texts.get(key) ?? first,
    set: async (key, text) => void texts.set(key, text),
    delete: async (key) => void texts.delete(key),
  }
}
