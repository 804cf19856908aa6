// What is cached of tools (B37), and calls that want the same at once.
import { ApprovalDenied, digest as hash, shortCircuit, type CachePort, type Hook } from 'heddle'
import { equal } from '../behaviours/portable.ts'
import { byClock, does, executorOf, passing, short, thrown, turn } from './parts.ts'

type Cases = Readonly<Record<string, () => Promise<void>>>

/** A cache that can be looked into. */
function port(): CachePort & { readonly rows: Map<string, string> } {
  const rows = new Map<string, string>()
  return {
    rows,
    get: async (key) => rows.get(key),
    set: async (key, text) => void rows.set(key, text),
    delete: async (key) => void rows.delete(key),
  }
}

const cached = { cache: { scope: 'global' } } as const

/** Work that is held until it is let go. */
function gate(): { readonly work: Promise<void>; open(): void } {
  let open = (): void => {}
  const work = new Promise<void>((resolve) => (open = resolve))
  return { work, open: () => open() }
}

/** What a promise rejects with, if it does. */
const watched = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  )

const turns = async (): Promise<void> => {
  for (let n = 0; n < 50; n++) await turn()
}

export const cacheCases: Cases = {
  async 'a success is used again: by presence, and never by reference'() {
    for (const value of [undefined, null, 0, { list: [1] }, new Map([[1, new Date(5)]])]) {
      let entered = 0
      const cache = port()
      const x = does('x', () => (entered++, value), cached)
      const results = []
      for (let n = 0; n < 3; n++) {
        const [result] = await executorOf([x], { cache }).runAll([{ tool: 'x', args: { a: 1 } }])
        const hit = n > 0 ? { cached: true } : {}
        equal(result, { id: result!.id, tool: 'x', status: 'success', value, ...hit }, `call ${n}`)
        const got = (result as { value?: unknown }).value
        if (got !== value || got === Object(got)) equal(got === value, false, 'the same object')
        if (Array.isArray(Object(got).list)) (got as { list: unknown[] }).list.push('spoilt')
        results.push(result)
      }
      equal([entered, cache.rows.size], [1, 1], 'bodies, entries')
    }
  },

  async 'keys tell scopes apart, and a scope whose id is missing is not cached'() {
    const cache = port()
    const counts: Record<string, number> = {}
    const tools = (['run', 'thread', 'global'] as const).map((scope) =>
      does(scope, () => (counts[scope] = (counts[scope] ?? 0) + 1), { cache: { scope } }),
    )
    const executor = executorOf(tools, { cache })
    const calls = tools.map(({ name }) => ({ tool: name, args: { b: 2, a: 1 } }))
    for (let n = 0; n < 2; n++) await executor.runAll(calls)
    equal(counts, { run: 2, thread: 2, global: 1 }, 'bodies without ids')
    for (let n = 0; n < 2; n++) await executor.runAll(calls, { run: 'r:1', thread: 't1' })
    equal(counts, { run: 3, thread: 3, global: 1 }, 'bodies with ids')
    const digest = '43258cff783fe7036d8a43033f830adf'
    equal(
      [...cache.rows.keys()].toSorted(),
      [
        `heddle:tool:v1:global:global:${digest}`,
        `heddle:tool:v1:run=r%3A1:run:${digest}`,
        `heddle:tool:v1:thread=t1:thread:${digest}`,
      ],
      'keys',
    )
  },

  async 'failures are not cached, however a call fails'() {
    const cache = port()
    const boom = new Error('boom')
    let entered = 0
    const hook = (more: Hook): Hook[] => [more]
    const table: [run: () => unknown, hooks?: Hook[], more?: object][] = [
      [
        () => {
          throw boom
        },
      ],
      [() => Promise.reject(boom)],
      [() => () => 'no such value'],
      [() => 1, hook({ beforeTool: () => shortCircuit('instead') })],
      [
        () => 1,
        hook({
          beforeTool: () => {
            throw new ApprovalDenied('Cannot', { tool: 'x' })
          },
        }),
      ],
      [
        () => {
          throw boom
        },
        hook({ onToolError: () => shortCircuit('recovered') }),
      ],
      [() => 1, [], { approve: true }],
    ]
    for (const [run, hooks = [], more = {}] of table) {
      const x = does('x', () => (entered++, run()), { ...cached, ...more })
      await executorOf([x], { cache, hooks }).runAll([{ tool: 'x', args: {} }])
    }
    const caller = new AbortController()
    const aborts = does('x', () => (caller.abort(boom), 1), cached)
    await thrown(() => executorOf([aborts], { cache }).run('x', {}, { signal: caller.signal }))
    equal(cache.rows.size, 0, 'entries')
    equal(entered, 4, 'bodies')
  },

  async 'a broken cache is a miss, and cannot fail a call'() {
    const fails = async (): Promise<never> => {
      throw new Error('the cache is down')
    }
    let entered = 0
    const x = does('x', () => ++entered, cached)
    const warnings: string[] = []
    const logger = {
      debug() {},
      warn: (message: string) => void warnings.push(message),
      error() {},
    }
    const cache = { get: fails, set: fails, delete: fails }
    const executor = executorOf([x], { cache, logger })
    equal([await executor.run('x', {}), await executor.run('x', {})], [1, 2], 'values')
    equal(warnings.length, 4, 'warnings')
    // What is stored but can't be read is written anew.
    const own = port()
    const again = executorOf([x], { cache: own })
    await again.run('x', {})
    const [key] = own.rows.keys() as unknown as [string]
    for (const text of ['{"v":2}', 'no json', '{"v":1,"kind":"llm","stored_at":"x","payload":1}']) {
      own.rows.set(key, text)
      const before = entered
      await again.run('x', {})
      equal([entered, own.rows.get(key) === text], [before + 1, false], text)
    }
  },

  async 'a cache that never answers is given up with the time of its tool, and the call goes on'() {
    const never = (): Promise<never> => new Promise(() => {})
    for (const broken of [{ get: never }, { set: never }]) {
      const cache = { ...port(), ...broken }
      const x = does('x', () => 'done', { ...cached, timeout: 1000 })
      const { clock, executor } = byClock([x], { cache })
      equal(await passing(clock, executor.run('x', {})), 'done', 'value')
      equal(clock.pending, 0, 'timers')
    }
  },

  async 'arguments that have no canonical text are not cached'() {
    let entered = 0
    const cache = port()
    const executor = executorOf([does('x', () => ++entered, cached)], { cache })
    for (let n = 0; n < 2; n++) await executor.run('x', { at: new Date(5) })
    equal([entered, cache.rows.size], [2, 0], 'bodies, entries')
  },

  async 'calls that want the same at once wait for one'() {
    let entered = 0
    const { work, open } = gate()
    const x = does('x', async () => (entered++, await work, { n: entered }), cached)
    const executor = executorOf([x], { cache: port() })
    const results = executor.runAll(Array.from({ length: 4 }, () => ({ tool: 'x', args: {} })))
    await turns()
    open()
    const values = (await results).map((one) => (one as { value?: { n: number } }).value)
    equal(values, [{ n: 1 }, { n: 1 }, { n: 1 }, { n: 1 }], 'values')
    equal([entered, new Set(values).size], [1, 4], 'bodies, objects')
    equal(
      (await results).filter((one) => !(one as { cached?: true }).cached).length,
      1,
      'calls that ran',
    )
  },

  async 'those who wait run it themselves when the one they wait for fails'() {
    let entered = 0
    const { work, open } = gate()
    const x = does(
      'x',
      async () => {
        const own = ++entered
        if (own === 1) {
          await work
          throw new Error('boom')
        }
        return own
      },
      cached,
    )
    const executor = executorOf([x], { cache: port() })
    const results = executor.runAll(Array.from({ length: 2 }, () => ({ tool: 'x', args: {} })))
    await turns()
    open()
    // Whichever of them came first.
    equal(short(await results).toSorted(), ['error: boom', 'success'], 'outcomes')
    equal(entered, 2, 'bodies')
  },

  async 'aborting one of those who want the same leaves the other alone'() {
    for (const leads of [true, false]) {
      const entered: string[] = []
      const { work, open } = gate()
      const x = does('x', async (_, ctx) => (entered.push(ctx.user!), await work, 'done'), cached)
      const executor = executorOf([x], { cache: port() })
      const callers = { ada: new AbortController(), bob: new AbortController() }
      const of = (user: 'ada' | 'bob'): Promise<unknown> =>
        executor.run('x', {}, { user, signal: callers[user].signal })
      const calls = { ada: of('ada'), bob: of('bob') }
      const errors = { ada: watched(calls.ada), bob: watched(calls.bob) }
      while (entered.length === 0) await hash({})
      const [first] = entered as ['ada' | 'bob']
      const other = first === 'ada' ? 'bob' : 'ada'
      const [gone, stays] = leads ? ([first, other] as const) : ([other, first] as const)
      const reason = new Error('gone')
      callers[gone].abort(reason)
      equal((await errors[gone]) === reason, true, 'the reason')
      open()
      equal(await calls[stays], 'done', 'the other')
      equal(entered, leads ? [first, other] : [first], 'bodies')
    }
  },

  async 'entries end after their time'() {
    const ttls: unknown[] = []
    const cache = {
      ...port(),
      set: async (_: string, __: string, options?: object) => void ttls.push(options),
    }
    for (const more of [{}, { ttl: 5000 }])
      await executorOf([does('x', () => 1, { cache: { scope: 'global', ...more } })], {
        cache,
      }).run('x', {})
    equal(ttls, [{}, { ttl: 5000 }], 'what the cache is told')
  },
}
