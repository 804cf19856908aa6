// Attempts, timeouts, aborts, and how many calls run at a time.
import { ModelError, NoModel, type Clock, type ToolContext } from 'heddle'
import { equal } from '../behaviours/portable.ts'
import { byClock, does, executorOf, passing, schemaOf, short, thrown, turn } from './parts.ts'

type Cases = Readonly<Record<string, () => Promise<void>>>

const never = (): Promise<never> => new Promise(() => {})
const model = { provider: 'p', model: 'm' }

/** What a promise has come to by now. */
function watched<Value>(promise: Promise<Value>): { at?: unknown } {
  const state: { at?: unknown } = {}
  promise.then(
    (value) => (state.at = { value }),
    (error: unknown) => (state.at = { error }),
  )
  return state
}

export const timeCases: Cases = {
  async 'attempts follow their delays, and none is slept after the last'() {
    const at: number[] = []
    const failing = does(
      'x',
      (_, ctx) => {
        at.push(ctx.now())
        throw new Error(`try ${at.length}`)
      },
      { retry: { attempts: 3, delay: 10, jitter: 0 } },
    )
    const { clock, executor } = byClock([failing])
    const start = clock.now()
    const error = thrown(() => executor.run('x', {}))
    await clock.advance(30)
    equal(
      at.map((time) => time - start),
      [0, 10, 30],
      'attempts',
    )
    equal(((await error) as Error).message, 'try 3', 'the last error')
    equal(clock.pending, 0, 'timers')
  },

  async 'delays grow to their most, and jitter takes off its share'() {
    const at: number[] = []
    const failing = does(
      'x',
      (_, ctx) => {
        at.push(ctx.now())
        throw new Error('no')
      },
      { retry: { attempts: 5, delay: 100, factor: 3, maxDelay: 500, jitter: 0.5 } },
    )
    const { clock, executor } = byClock([failing], { random: () => 0.5 })
    const start = clock.now()
    const error = thrown(() => executor.run('x', {}))
    await clock.advance(10_000)
    await error
    // 100, 300, 500, 500, each less a quarter.
    equal(
      at.map((time) => time - start),
      [0, 75, 300, 675, 1050],
      'attempts',
    )
  },

  async 'what another attempt cannot mend is not tried again'() {
    const table: [make: () => unknown, tries: number][] = [
      [() => new Error('any'), 3],
      [() => undefined, 3],
      [() => new ModelError('Cannot ask', model), 3],
      [() => new NoModel('Cannot ask', { agent: 'a' }), 1],
    ]
    for (const [make, tries] of table) {
      let entered = 0
      const failing = does(
        'x',
        () => {
          entered++
          throw make()
        },
        { retry: { attempts: 3, delay: 0 } },
      )
      await thrown(() => executorOf([failing]).run('x', {}))
      equal(entered, tries, String(make))
    }
  },

  async 'a rule says which errors are worth another attempt'() {
    let entered = 0
    const when = (error: unknown): boolean => (error as Error).message === 'busy'
    const failing = does(
      'x',
      () => {
        throw new Error(++entered < 3 ? 'busy' : 'gone')
      },
      { retry: { attempts: 9, delay: 0, when } },
    )
    equal(
      ((await thrown(() => executorOf([failing]).run('x', {}))) as Error).message,
      'gone',
      'error',
    )
    equal(entered, 3, 'attempts')
  },

  async 'an abort in a backoff ends the call at once with its reason, and the tool is not tried again'() {
    let entered = 0
    const failing = does(
      'x',
      () => {
        entered++
        throw new Error('busy')
      },
      { retry: { attempts: 5, delay: 5000 } },
    )
    const { clock, executor } = byClock([failing])
    const caller = new AbortController()
    const error = thrown(() => executor.run('x', {}, { signal: caller.signal }))
    await clock.advance(0)
    equal(clock.pending, 1, 'timers')
    const reason = new Error('changed my mind')
    caller.abort(reason)
    equal((await error) === reason, true, 'the reason')
    equal([entered, clock.pending], [1, 0], 'attempts, timers')
    await clock.advance(60_000)
    equal(entered, 1, 'attempts')
  },

  async 'a late attempt is given up at once: its signal aborts, what it does then is dropped'() {
    const signals: AbortSignal[] = []
    let end: (value: string) => void = () => {}
    const deaf = does(
      'deaf',
      (_, { signal }) => {
        signals.push(signal)
        return new Promise<string>((resolve) => (end = resolve))
      },
      { timeout: 1000 },
    )
    const { clock, executor } = byClock([deaf])
    const caller = new AbortController()
    const state = watched(executor.run('deaf', {}, { signal: caller.signal }))
    await clock.advance(999)
    equal([state.at, signals[0]!.aborted], [undefined, false], 'in time')
    await clock.advance(1)
    const { error } = state.at as { error: Error }
    equal(
      [error.name, error.message],
      ['TimeoutError', 'Tool "deaf" took longer than 1000 ms'],
      'error',
    )
    equal(signals[0]!.reason === error, true, 'what the tool is told')
    equal(caller.signal.aborted, false, "the caller's signal")
    end('late')
    await clock.advance(10_000)
    equal((state.at as { error: Error }).error === error, true, 'what came of it')
    equal(clock.pending, 0, 'timers')
  },

  async 'every attempt has its time and a signal of its own'() {
    const signals: AbortSignal[] = []
    const slow = does(
      'slow',
      (_, { signal }) => {
        signals.push(signal)
        return signals.length < 3 ? never() : 'done'
      },
      { timeout: 100, retry: { attempts: 3, delay: 50, jitter: 0 } },
    )
    const { clock, executor } = byClock([slow])
    const result = executor.run('slow', {})
    // 100 and 50, then 100 and 100.
    await clock.advance(350)
    equal(await result, 'done', 'value')
    equal(
      signals.map(({ aborted }) => aborted),
      [true, true, false],
      'signals',
    )
    equal(new Set(signals).size, 3, 'signals of their own')
    equal(clock.pending, 0, 'timers')
  },

  async 'a schema that never settles is late by its tool'() {
    const stuck = schemaOf<unknown>(() => undefined)
    const schema = { '~standard': { ...stuck['~standard'], validate: () => never() } }
    for (const [member, what] of [
      ['input', 'The input schema of tool "x"'],
      ['output', 'Tool "x"'],
    ] as const) {
      const { clock, executor } = byClock([does('x', () => 1, { [member]: schema, timeout: 20 })])
      const error = thrown(() => executor.run('x', {}))
      await clock.advance(20)
      equal(((await error) as Error).message, `${what} took longer than 20 ms`, member)
      equal(clock.pending, 0, `timers of ${member}`)
    }
  },

  async 'an abort reaches the body, its attempts and the tools it calls, and ends the call at once'() {
    const signals: AbortSignal[] = []
    const wait = (_: unknown, { signal }: ToolContext): Promise<never> => {
      signals.push(signal)
      return never()
    }
    const leaf = does('leaf', wait, { timeout: 60_000 })
    const tree = does(
      'tree',
      (args, ctx) => {
        signals.push(ctx.signal)
        return ctx.call('leaf', args)
      },
      { retry: { attempts: 3 } },
    )
    const { clock, executor } = byClock([leaf, tree])
    const caller = new AbortController()
    const results = executor.runAll(
      [
        { tool: 'tree', args: {} },
        { tool: 'leaf', args: {} },
      ],
      { signal: caller.signal },
    )
    await clock.advance(10)
    equal(signals.length, 3, 'bodies')
    const reason = { why: 'enough' }
    caller.abort(reason)
    equal(
      (await results).map((one) => (one as { error?: unknown }).error === reason),
      [true, true],
      'errors',
    )
    equal(
      signals.map((signal) => signal.reason === reason),
      [true, true, true],
      'signals',
    )
    equal(clock.pending, 0, 'timers')
  },

  async 'a call with an aborted signal runs nothing'() {
    let entered = 0
    const hooks = [{ beforeTool: () => void entered++ }]
    const executor = executorOf([does('x', () => entered++)], { hooks })
    const reason = new Error('no')
    const signal = AbortSignal.abort(reason)
    equal((await thrown(() => executor.run('x', {}, { signal }))) === reason, true, 'the reason')
    const results = await executor.runAll([{ tool: 'x', args: {} }], { signal })
    equal((results[0] as { error?: unknown }).error === reason, true, 'the reason')
    equal(entered, 0, 'what ran')
  },

  async 'four calls run at a time, or as many as were asked for; results keep the order of the calls'() {
    for (const [concurrency, most] of [
      [undefined, 4],
      [1, 1],
      [7, 7],
      [Infinity, 9],
    ] as const) {
      let live = 0
      let top = 0
      const clocks: { clock?: Clock } = {}
      const wait = does('wait', async (args) => {
        top = Math.max(top, ++live)
        await new Promise<void>((resolve) => clocks.clock!.after(args as number, resolve))
        live--
        return args
      })
      const made = byClock([wait], concurrency === undefined ? {} : { concurrency })
      clocks.clock = made.clock
      const delays = [90, 10, 80, 20, 70, 30, 60, 40, 50]
      const calls = delays.map((args) => ({ tool: 'wait', args }))
      const results = await passing(made.clock, made.executor.runAll(calls))
      equal(
        results.map((one) => (one as { value?: unknown }).value),
        delays,
        `values of ${concurrency}`,
      )
      equal(top, most, `at a time, of ${concurrency}`)
    }
  },

  async 'a failure neither stops the others nor is lost'() {
    const fails = does('fails', () => {
      throw new Error('no')
    })
    let ended = 0
    const slow = does('slow', async () => {
      for (let n = 0; n < 20; n++) await turn()
      return ++ended
    })
    const results = await executorOf([fails, slow]).runAll([
      { tool: 'fails', args: {} },
      { tool: 'slow', args: {} },
      { tool: 'fails', args: {} },
    ])
    equal(short(results), ['error: no', 'success', 'error: no'], 'outcomes')
    equal(ended, 1, 'bodies that ended')
    equal(await executorOf([]).runAll([]), [], 'no calls')
  },

  async 'neither listeners nor timers outlive a call'() {
    const caller = new AbortController()
    const { signal } = caller
    let listeners = 0
    const add = signal.addEventListener.bind(signal)
    const remove = signal.removeEventListener.bind(signal)
    Object.assign(signal, {
      addEventListener: (...args: Parameters<typeof add>) => (listeners++, add(...args)),
      removeEventListener: (...args: Parameters<typeof remove>) => (listeners--, remove(...args)),
    })
    let tries = 0
    const flaky = does(
      'flaky',
      () => {
        if (++tries % 2 === 1) throw new Error('once more')
        return tries
      },
      { timeout: 30_000, retry: { attempts: 2, delay: 0 } },
    )
    const { clock, executor } = byClock([flaky], { hooks: [{ beforeTool() {}, afterTool() {} }] })
    const calls = Array.from({ length: 6 }, () => ({ tool: 'flaky', args: {} }))
    await passing(clock, executor.runAll(calls, { signal }))
    equal([listeners, clock.pending], [0, 0], 'listeners, timers')
  },
}
