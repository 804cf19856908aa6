import { LoopRunner, scopeLocal, scoped, withContext, type Scope } from 'heddle'
import { manualClock } from 'heddle/testing'
import { equal, refusedWith } from '../behaviours/portable.ts'
import { listening, rejection, turn, untilAborted, watch } from './tools.ts'
import { listenedSignal } from '../fakes/listened-signal.ts'
import { gate } from '../fakes/gate.ts'

type Failed = { readonly error: Error }
const never = (): Promise<never> => new Promise(() => {})

export const runnerCases = {
  async 'a runner keeps one scope warm for all its calls, at once and one after the other'() {
    const log: string[] = []
    let made = 0
    const clients = scopeLocal(() => ++made, {
      close: (client) => void log.push(`close ${client}`),
    })
    const runner = new LoopRunner()
    const both = gate()
    const work = async (scope: Scope): Promise<number> => {
      await both.promise
      return clients.get(scope)
    }
    const calls = Promise.all([runner.run(work), runner.run(work)])
    both.open()
    equal(await calls, [1, 1], 'the values at once')
    equal(await runner.run((scope) => clients.get(scope)), 1, 'the value later')
    equal(await runner.run(() => clients.get()), 1, 'the value of the current scope')
    equal(log, [], 'what was closed before')
    await runner.close()
    equal(log, ['close 1'], 'what was closed')
  },

  async 'what is deferred to a runner waits for its end'() {
    const log: string[] = []
    const runner = new LoopRunner()
    for (const n of [1, 2])
      await runner.run((scope) => scope.defer(() => void log.push(`close ${n}`)))
    equal(log, [], 'what happened before')
    await runner.close()
    equal(log, ['close 2', 'close 1'], 'what happened')
  },

  async 'a timeout and an abort are those of one call: others and what is warm go on'() {
    const clock = manualClock()
    const runner = new LoopRunner({ clock })
    const signals: AbortSignal[] = []
    const locals = scopeLocal((scope) => scope.signal)
    const work = ({ signal }: Scope): Promise<never> => {
      signals.push(locals.get(), signal)
      return untilAborted(signal)
    }
    const caller = listenedSignal()
    const [late, left] = [
      watch(runner.run(work, { timeout: 10 })),
      watch(runner.run(work, { signal: caller.signal })),
    ]
    await clock.advance(10)
    equal(
      (late.outcome() as Failed).error.name,
      'TimeoutError',
      'the error of the one that is late',
    )
    equal(left.outcome(), undefined, 'the other')
    caller.abort(new Error('enough'))
    await turn(clock)
    equal((left.outcome() as Failed).error.message, 'enough', 'the reason')
    equal(signals[0] === signals[2], true, 'the signal of what is warm')
    equal(signals[0]!.aborted, false, 'aborted')
    equal([caller.listeners(), clock.pending], [0, 0], 'listeners and timers')
    await runner.close()
  },

  async 'work that ignores its signal is given up after the grace of the runner, or its own'() {
    for (const [options, own] of [
      [{ graceMs: 20 }, {}],
      [{}, { graceMs: 20 }],
      [{ graceMs: 99 }, { graceMs: 20 }],
    ] as const) {
      const clock = manualClock()
      const runner = new LoopRunner({ ...options, clock })
      const call = watch(runner.run(never, { timeout: 10, ...own }))
      await clock.advance(29)
      equal(call.outcome(), undefined, 'the outcome within the grace')
      await clock.advance(1)
      equal((call.outcome() as Failed).error.name, 'TimeoutError', 'the error')
      await runner.close()
      equal(clock.pending, 0, 'timers')
    }
  },

  async 'close lets work finish, and closes the values after it'() {
    const clock = manualClock()
    const log: string[] = []
    const runner = new LoopRunner({ clock })
    const local = scopeLocal(({ signal }) => signal, {
      close: ({ aborted }) => void log.push(aborted ? 'closed after an abort' : 'closed'),
    })
    const slow = gate()
    const call = runner.run(async (scope) => {
      local.get(scope)
      await slow.promise
      log.push('finished')
      return local.get(scope).aborted
    })
    const closing = watch(runner.close())
    await clock.advance(29_999)
    equal([log, closing.outcome()], [[], undefined], 'what happened before')
    slow.open()
    equal(await call, false, 'the value')
    await turn(clock)
    equal([log, closing.outcome()], [['finished', 'closed'], { value: undefined }], 'what happened')
    equal(clock.pending, 0, 'timers')
  },

  async 'close stops what takes longer than its timeout: callers get ToolUsageError'() {
    const clock = manualClock()
    const log: string[] = []
    const runner = new LoopRunner({ clock, graceMs: 10 })
    const local = scopeLocal(({ signal }) => signal, {
      close: (signal) => void log.push(signal.aborted ? 'closed after an abort' : 'closed'),
    })
    const polite = watch(
      runner.run(async ({ signal }) => {
        local.get()
        await untilAborted(signal).catch(() => undefined)
        log.push('stopped')
      }),
    )
    const deaf = watch(runner.run(never))
    const closing = watch(runner.close({ timeout: 100 }))
    await clock.advance(99)
    equal([polite.outcome(), deaf.outcome()], [undefined, undefined], 'the outcomes before')
    await clock.advance(1)
    const { error } = polite.outcome() as Failed
    equal(
      [error.name, error.message],
      ['ToolUsageError', 'Cannot finish the work: its LoopRunner was closed'],
      'the error',
    )
    equal([deaf.outcome(), closing.outcome()], [undefined, undefined], 'the deaf one, in its grace')
    await clock.advance(10)
    equal((deaf.outcome() as Failed).error.name, 'ToolUsageError', 'the error of the deaf one')
    equal(log, ['stopped', 'closed after an abort'], 'what happened')
    equal(closing.outcome(), { value: undefined }, 'the outcome of close')
    equal(clock.pending, 0, 'timers')
  },

  async 'a runner that is closed, or is being closed, runs nothing more'() {
    const runner = new LoopRunner()
    const slow = gate()
    const call = runner.run(() => slow.promise)
    const closing = runner.close()
    let ran = false
    const work = (): void => void (ran = true)
    const { message } = await refusedWith('tool_usage_error', () => runner.run(work))
    equal(message, 'Cannot run work: this LoopRunner is closed', 'the message')
    slow.open()
    await Promise.all([call, closing])
    await refusedWith('tool_usage_error', () => runner.run(work))
    equal(ran, false, 'whether it ran')
  },

  async 'calls of close share one closing, and closing again does nothing'() {
    let closed = 0
    const runner = new LoopRunner()
    await runner.run((scope) => scope.defer(() => void closed++))
    await Promise.all([runner.close(), runner.close({ timeout: 5 }), runner.close()])
    await runner.close()
    equal(closed, 1, 'how often it closed')
    const clock = manualClock()
    const patient = new LoopRunner({ clock })
    const slow = gate()
    const call = patient.run(() => slow.promise)
    const both = Promise.all([patient.close(), patient.close({ timeout: 5 })])
    await clock.advance(20_000)
    slow.open()
    await Promise.all([call, both])
    const unused = new LoopRunner()
    await unused.close()
    await refusedWith('tool_usage_error', () => unused.run(() => 1))
  },

  async 'a value that fails to close is logged, and closing succeeds, even if the logger throws'() {
    const { logger, errors } = listening()
    const error = (message: string, data?: object): void => {
      logger.error(message, data)
      throw new Error('no log')
    }
    const runner = new LoopRunner({ logger: { ...logger, error } })
    const broken = scopeLocal(() => 1, { close: () => Promise.reject(new Error('stuck')) })
    await runner.run(() => broken.get())
    await runner.close()
    equal(errors.map(String), ['Error: stuck'], 'what was logged')
  },

  async 'from the synchronous part of its own work a runner is refused; from that of another it is not'() {
    const [runner, other] = [new LoopRunner(), new LoopRunner()]
    const messages = await runner.run(async () => {
      const inside = [
        runner.run(() => 1),
        runner.close(),
        scoped(() => runner.run(() => 1)),
        other.run(() => runner.run(() => 1)),
        withContext({}, () => runner.run(() => 1)),
      ]
      const fine = other.run(() => 'fine')
      const errors = await Promise.all(inside.map((call) => rejection(call)))
      return [...errors.map((error) => (error as Error).message), await fine]
    })
    equal(
      messages,
      [
        'Cannot run work: this is inside the work of the same LoopRunner',
        'Cannot close a LoopRunner: this is inside the work of the same LoopRunner',
        ...Array<string>(3).fill('Cannot run work: this is inside the work of the same LoopRunner'),
        'fine',
      ],
      'what came of them',
    )
    await Promise.all([runner.close(), other.close()])
  },

  async 'work that is no function and wrong timeouts are refused, and open nothing'() {
    const runner = new LoopRunner()
    await refusedWith('tool_usage_error', () => runner.run(undefined as never))
    for (const timeout of [0, -1, NaN, Infinity, '30' as never]) {
      await refusedWith('tool_usage_error', () => runner.run(() => 1, { timeout }))
      await refusedWith('tool_usage_error', () => runner.close({ timeout }))
    }
    const caller = listenedSignal()
    caller.abort('over')
    equal(await rejection(runner.run(() => 1, { signal: caller.signal })), 'over', 'the reason')
    equal(await runner.run(() => 1), 1, 'the value, after all that')
    await runner.close()
  },

  async 'a runner is disposed of by closing it, where the platform has a symbol for that'() {
    const log: string[] = []
    const runner = new LoopRunner()
    await runner.run((scope) => scope.defer(() => void log.push('closed')))
    equal('undefined' in runner, false, 'a method by the name of what is not there')
    const symbol: typeof Symbol.asyncDispose | undefined = Symbol.asyncDispose
    await (symbol === undefined ? runner.close() : runner[symbol]())
    equal(log, ['closed'], 'what happened')
  },
}
