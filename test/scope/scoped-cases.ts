import { LoopRunner, scoped, type Scope } from 'heddle'
import { manualClock } from 'heddle/testing'
import { equal, refusedWith } from '../behaviours/portable.ts'
import { listening, rejection, turn, untilAborted, watch } from './tools.ts'
import { listenedSignal } from '../fakes/listened-signal.ts'
import { gate } from '../fakes/gate.ts'

const DAYS_60 = 60 * 24 * 3_600_000

export const scopedCases = {
  async 'scoped gives each call a fresh scope, calls its work at once, and hands over what comes of it'() {
    const scopes: Scope[] = []
    const first = scoped((scope) => scopes.push(scope))
    equal(scopes.length, 1, 'scopes before anything was awaited')
    equal(await first, 1, 'the value')
    equal(await scoped(async (scope) => scopes.push(scope)), 2, 'the value of a promise')
    equal(scopes[0] === scopes[1], false, 'the same scope twice')
    equal(scopes[0]!.signal.aborted, false, 'aborted without a cause')
  },

  async 'what was deferred runs newest first, one after the other, before scoped settles'() {
    const log: string[] = []
    const slow = gate()
    const call = scoped((scope) => {
      scope.defer(() => void log.push('first'))
      scope.defer(async () => {
        log.push('second')
        await slow.promise
        log.push('second is done')
      })
      scope.defer(() => void log.push('third'))
      log.push('work')
      return 'value'
    })
    const watched = watch(call)
    await turn(manualClock())
    equal(log, ['work', 'third', 'second'], 'what happened while one waits')
    equal(watched.outcome(), undefined, 'the outcome while one waits')
    slow.open()
    equal(await call, 'value', 'the value')
    equal(log, ['work', 'third', 'second', 'second is done', 'first'], 'what happened')
  },

  async 'a failure is the very error of the work, after everything was closed'() {
    const thrown = new Error('thrown')
    const work = [
      () => {
        throw thrown
      },
      () => Promise.reject(thrown),
    ]
    for (const fail of work) {
      const log: string[] = []
      const call = scoped((scope) => {
        scope.defer(() => void log.push('closed'))
        return fail()
      })
      equal((await rejection(call)) === thrown, true, 'the same error')
      equal(log, ['closed'], 'what happened')
    }
  },

  async 'what fails to close is logged, the rest still closes, and the value counts'() {
    const { logger, errors } = listening()
    const log: string[] = []
    const [sync, late] = [new Error('sync'), new Error('late')]
    const call = scoped(
      (scope) => {
        scope.defer(() => void log.push('oldest'))
        scope.defer(() => {
          throw sync
        })
        scope.defer(() => Promise.reject(late))
        return 7
      },
      { logger },
    )
    equal(await call, 7, 'the value')
    equal(log, ['oldest'], 'what closed')
    equal(errors.length === 2 && errors[0] === late && errors[1] === sync, true, 'what was logged')
  },

  async 'a logger that throws keeps nothing open'() {
    const log: string[] = []
    const logger = { ...listening().logger, error: () => void JSON.parse('{') }
    await scoped(
      (scope) => {
        scope.defer(() => void log.push('closed'))
        scope.defer(() => Promise.reject(new Error('fails')))
      },
      { logger },
    )
    equal(log, ['closed'], 'what closed')
  },

  async 'a scope that has ended takes nothing, nor does one that is being closed'() {
    let kept!: Scope
    const inside: unknown[] = []
    await scoped((scope) => {
      kept = scope
      scope.defer(async () => {
        inside.push(await refusedWith('tool_usage_error', () => scope.defer(() => {})))
      })
    })
    equal(inside.length, 1, 'refusals while closing')
    const { message } = await refusedWith('tool_usage_error', () => kept.defer(() => {}))
    equal(message, 'Cannot use a scope: it has ended', 'the message')
  },

  async 'what is deferred is a function'() {
    let error: unknown
    await scoped((scope) => {
      try {
        scope.defer(Promise.resolve() as never)
      } catch (wrong) {
        error = wrong
      }
    })
    equal(error instanceof TypeError, true, 'a TypeError')
  },

  async 'a timeout aborts the signal with TimeoutError, and work that hears it ends at once'() {
    const clock = manualClock()
    const log: string[] = []
    const work = (scope: Scope): Promise<never> => {
      scope.defer(() => void log.push('closed'))
      return untilAborted(scope.signal)
    }
    const call = watch(scoped(work, { timeout: 300, clock }))
    await clock.advance(299)
    equal(call.outcome(), undefined, 'the outcome before')
    await clock.advance(1)
    const { error } = call.outcome() as { readonly error: DOMException }
    equal([error.name, error.message], ['TimeoutError', 'The work took longer than 300 ms'], 'it')
    equal(log, ['closed'], 'what happened')
    equal(clock.pending, 0, 'timers')
  },

  async 'work that ignores its signal is given up after the grace; what comes of it later is dropped'() {
    for (const ending of ['resolves', 'rejects'] as const) {
      const clock = manualClock()
      const stuck = gate<string>()
      const log: string[] = []
      const call = watch(
        scoped(
          (scope) => {
            scope.defer(() => void log.push('closed'))
            return stuck.promise
          },
          { timeout: 100, clock },
        ),
      )
      await clock.advance(5099)
      equal(call.outcome(), undefined, 'the outcome within the grace of 5 s')
      await clock.advance(1)
      const { error } = call.outcome() as { readonly error: DOMException }
      equal(error.name, 'TimeoutError', 'the error')
      equal(log, ['closed'], 'what happened')
      equal(clock.pending, 0, 'timers')
      if (ending === 'resolves') stuck.open('late')
      else stuck.fail(new Error('late'))
      await turn(clock)
      equal((call.outcome() as { readonly error: unknown }).error === error, true, 'the outcome')
    }
  },

  async 'after a timeout the outcome is TimeoutError, whatever the work does within its grace'() {
    for (const end of ['resolve', 'throw'] as const) {
      const clock = manualClock()
      const work = async ({ signal }: Scope): Promise<string> => {
        await untilAborted(signal).catch(() => undefined)
        if (end === 'throw') throw new Error('while cleaning up')
        return 'late'
      }
      const call = watch(scoped(work, { timeout: 1, graceMs: 10, clock }))
      await clock.advance(1)
      equal((call.outcome() as { error: DOMException }).error.name, 'TimeoutError', 'the error')
      equal(clock.pending, 0, 'timers')
    }
  },

  async 'a grace of 0 gives up at once, and one may be set'() {
    for (const graceMs of [0, 70]) {
      const clock = manualClock()
      const call = watch(
        scoped(() => new Promise<never>(() => {}), { timeout: 10, graceMs, clock }),
      )
      await clock.advance(10 + graceMs - 1)
      equal(call.outcome(), undefined, 'the outcome before')
      await clock.advance(1)
      equal((call.outcome() as { error: DOMException }).error.name, 'TimeoutError', 'the error')
      equal(clock.pending, 0, 'timers')
    }
  },

  async "the caller's signal aborts the work, and its reason is what is thrown, whatever it is"() {
    for (const reason of [new Error('enough'), null, 0, 'words']) {
      const clock = manualClock()
      const caller = listenedSignal()
      let inner!: AbortSignal
      const work = ({ signal }: Scope): Promise<never> => untilAborted((inner = signal))
      const options = { signal: caller.signal, timeout: 1000, clock }
      const call = watch(scoped(work, options))
      equal(caller.listeners(), 1, 'listeners while it runs')
      caller.abort(reason)
      await turn(clock)
      equal((call.outcome() as { error: unknown }).error === reason, true, 'the reason')
      equal(inner.reason === reason, true, 'the reason inside')
      equal([caller.listeners(), clock.pending], [0, 0], 'listeners and timers')
    }
  },

  async "work that ignores the caller's abort is given up after the grace, too"() {
    const clock = manualClock()
    const caller = listenedSignal()
    const options = { signal: caller.signal, timeout: 1000, graceMs: 50, clock }
    const call = watch(scoped(() => new Promise<never>(() => {}), options))
    caller.abort(new Error('enough'))
    await clock.advance(49)
    equal(call.outcome(), undefined, 'the outcome within the grace')
    await clock.advance(1)
    equal((call.outcome() as { error: Error }).error.message, 'enough', 'the error')
    equal([caller.listeners(), clock.pending], [0, 0], 'listeners and timers')
  },

  async 'what stopped the work first counts, and its grace is not begun again'() {
    const clock = manualClock()
    const caller = listenedSignal()
    const options = { signal: caller.signal, timeout: 100, graceMs: 50, clock }
    const call = watch(scoped(() => new Promise<never>(() => {}), options))
    await clock.advance(149)
    caller.abort(new Error('too late'))
    await clock.advance(1)
    equal((call.outcome() as { error: DOMException }).error.name, 'TimeoutError', 'the error')
    equal([caller.listeners(), clock.pending], [0, 0], 'listeners and timers')
  },

  async 'a signal that was aborted before lets nothing run'() {
    const caller = listenedSignal()
    caller.abort('over')
    let ran = false
    const call = scoped(() => void (ran = true), { signal: caller.signal })
    equal(await rejection(call), 'over', 'the reason')
    equal([ran, caller.listeners()], [false, 0], 'what ran and listens')
  },

  async 'no timer and no listener outlives the work, however it ends'() {
    const endings = [() => 1, async () => 1, () => Promise.reject(new Error('fails'))]
    for (const work of endings) {
      const clock = manualClock()
      const caller = listenedSignal()
      const options = { timeout: 30_000, signal: caller.signal, clock }
      await scoped<unknown>(work, options).catch(() => undefined)
      equal([caller.listeners(), clock.pending], [0, 0], 'listeners and timers')
    }
  },

  async 'a timeout beyond what timers take at once is kept, to the millisecond'() {
    const clock = manualClock()
    const call = watch(
      scoped(() => new Promise<never>(() => {}), { timeout: DAYS_60, graceMs: DAYS_60, clock }),
    )
    await clock.advance(2 * DAYS_60 - 1)
    equal(call.outcome(), undefined, 'the outcome before')
    await clock.advance(1)
    equal((call.outcome() as { error: DOMException }).error.name, 'TimeoutError', 'the error')
  },

  async 'work that is no function, and what is no positive, finite number of milliseconds, are refused'() {
    let ran = 0
    const work = (): void => void ran++
    for (const wrong of [undefined, null, 'work', Promise.resolve(1), {}])
      await refusedWith('tool_usage_error', () => scoped(wrong as never))
    for (const timeout of [0, -1, NaN, Infinity, '30', null, 5n])
      await refusedWith('tool_usage_error', () => scoped(work, { timeout: timeout as never }))
    for (const graceMs of [-1, NaN, Infinity, '5', null])
      await refusedWith('tool_usage_error', () => scoped(work, { graceMs: graceMs as never }))
    const { message } = await refusedWith('tool_usage_error', () =>
      scoped(work, { timeout: Infinity }),
    )
    const why = 'timeout is Infinity, no positive, finite number of milliseconds'
    equal(message, `Cannot run work: ${why}`, 'the message')
    equal(ran, 0, 'how often the work ran')
  },

  async 'options that are not known are refused, and nothing runs'() {
    let ran = 0
    const work = (): void => void ran++
    const runner = new LoopRunner()
    const wrong: readonly [string, string, () => unknown][] = [
      ['run work', 'timeOut', () => scoped(work, { timeOut: 5 } as never)],
      ['run work', 'grace', () => runner.run(work, { grace: 5 } as never)],
      ['make a LoopRunner', 'timeout', () => new LoopRunner({ timeout: 5 } as never)],
      ['close a LoopRunner', 'graceMs', () => runner.close({ graceMs: 5 } as never)],
    ]
    for (const [what, name, call] of wrong)
      equal(
        String(await rejection((async () => call())())),
        `TypeError: Cannot ${what}: "${name}" is not known here`,
        what,
      )
    equal(ran, 0, 'how often the work ran')
    await runner.run(work)
    await runner.close()
  },
}
