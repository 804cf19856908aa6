import { closeScope, scoped, scopeLocal, type Scope } from 'heddle'
import { manualClock } from 'heddle/testing'
import { equal, refusedWith } from '../behaviours/portable.ts'
import { listening, rejection, turn, watch } from './tools.ts'
import { gate } from '../fakes/gate.ts'

export const localCases = {
  async 'a value is made once per scope, on first use, and closed with the scope'() {
    const { clients, log } = numbered()
    await scoped(() => undefined)
    equal(log, [], 'what happened unasked')
    const [a, b] = await scoped((scope) => [clients.get(scope), clients.get(scope)])
    equal(a === b, true, 'the same value')
    equal(log, ['make 1', 'close 1'], 'what happened')
    await scoped((scope) => clients.get(scope))
    equal(log.slice(2), ['make 2', 'close 2'], 'what happened in the next scope')
  },

  async 'callers at the same time share one value, which may be a promise'() {
    const made = gate<string>()
    let makes = 0
    const closed: string[] = []
    const local = scopeLocal(() => (makes++, made.promise), {
      close: (value) => void closed.push(value),
    })
    const call = scoped((scope) => Promise.all([local.get(scope), local.get(scope)]))
    made.open('client')
    equal(await call, ['client', 'client'], 'what they got')
    equal([makes, closed], [1, ['client']], 'how often it was made, and what was closed')
  },

  async 'the end of a scope waits for a value that is still made, and closes it'() {
    const made = gate<string>()
    const closed: string[] = []
    const local = scopeLocal(() => made.promise, { close: (value) => void closed.push(value) })
    const call = watch(scoped((scope) => void local.get(scope)))
    await turn(manualClock())
    equal(call.outcome(), undefined, 'the outcome before')
    made.open('client')
    await turn(manualClock())
    equal([call.outcome(), closed], [{ value: undefined }, ['client']], 'the outcome')
  },

  async 'a factory that throws or rejects is asked again, and nothing of it is closed'() {
    for (const fail of ['throws', 'rejects'] as const) {
      const { logger, errors } = listening()
      let makes = 0
      const closed: number[] = []
      const local = scopeLocal(
        () => {
          makes++
          if (makes > 1) return Promise.resolve(makes)
          if (fail === 'rejects') return Promise.reject(new Error('not yet'))
          throw new Error('not yet')
        },
        { close: (value) => void closed.push(value) },
      )
      const work = async (scope: Scope): Promise<number> => {
        equal(String(await rejection((async () => local.get(scope))())), 'Error: not yet', 'first')
        return local.get(scope)
      }
      equal(await scoped(work, { logger }), 2, 'the value')
      equal([makes, closed, errors], [2, [2], []], 'what was made, closed and logged')
    }
  },

  async 'a promise may be of any kind: one that rejects is asked again, and what it comes to is closed'() {
    const closed: unknown[] = []
    let thens = 0
    const thenable = (settle: (done: (value: string) => void, no: (e: Error) => void) => void) => ({
      // oxlint-disable-next-line unicorn/no-thenable -- that is the case
      then: (done: (value: string) => void, no: (error: Error) => void) => (
        thens++,
        settle(done, no)
      ),
    })
    const values = [
      thenable((_, no) => no(new Error('not yet'))),
      thenable((done) => done('client')),
    ] as unknown as Promise<string>[]
    const local = scopeLocal(() => values.shift() as Promise<string>, {
      close: (value) => void closed.push(value),
    })
    const client = await scoped(async (scope) => {
      const failed = await rejection((async () => local.get(scope))())
      equal(String(failed), 'Error: not yet', 'the first')
      return local.get(scope)
    })
    equal(
      [client, closed, thens],
      ['client', ['client'], 4],
      'the value, what was closed, how often it was asked',
    )
  },

  async 'a value that bears no looking at is a value'() {
    const closed: unknown[] = []
    const odd = {
      // oxlint-disable-next-line unicorn/no-thenable -- that is the case
      get then(): never {
        throw new Error('do not look')
      },
    }
    const local = scopeLocal(() => odd, { close: (value) => void closed.push(value) })
    await scoped((scope) => equal(local.get(scope) === odd, true, 'the value'))
    equal([closed.length, closed[0] === odd], [1, true], 'what was closed')
  },

  async 'options that are not known, and a close that is no function, are refused'() {
    for (const [wrong, why] of [
      [{ dispose() {} }, '"dispose" is not known here'],
      [{ close: true }, 'close is not a function'],
    ] as const) {
      const error = await rejection((async () => scopeLocal(() => 1, wrong as never))())
      equal(String(error), `TypeError: Cannot make a scopeLocal: ${why}`, 'the error')
    }
  },

  async 'a value that never came has nothing to close, and its scope ends'() {
    const { logger, errors } = listening()
    const local = scopeLocal(() => Promise.reject(new Error('never')), { close: () => {} })
    await scoped((scope) => void local.get(scope).catch(() => undefined), { logger })
    equal(errors, [], 'what was logged')
  },

  async 'values close newest first, so that one may use what it was made of'() {
    const log: string[] = []
    const pool = scopeLocal(() => 'pool', { close: (value) => void log.push(`close ${value}`) })
    const user = scopeLocal((scope) => ({ scope, name: `user of ${pool.get(scope)}` }), {
      close: ({ scope, name }) => void log.push(`close ${name} with ${pool.get(scope)}`),
    })
    await scoped((scope) => user.get(scope))
    equal(log, ['close user of pool with pool', 'close pool'], 'what happened')
  },

  async 'one that fails to close is logged, and the rest still close, before scoped settles'() {
    const { logger, errors } = listening()
    const failure = new Error('stuck')
    const { clients, log } = numbered()
    const broken = scopeLocal(() => 'broken', { close: () => Promise.reject(failure) })
    const work = (scope: Scope): string => (clients.get(scope), broken.get(scope))
    equal(await scoped(work, { logger }), 'broken', 'the value')
    equal(log, ['make 1', 'close 1'], 'what happened')
    equal(errors.length === 1 && errors[0] === failure, true, 'what was logged')
  },

  async 'close forgets, then closes: the next get makes a new one'() {
    const { clients, log } = numbered()
    await scoped(async (scope) => {
      await clients.close(scope)
      equal(log, [], 'closing what was never made')
      const first = clients.get(scope)
      const closing = clients.close(scope)
      equal(clients.get(scope) === first, false, 'the same one while it closes')
      await closing
      equal(log, ['make 1', 'close 1', 'make 2'], 'what happened')
    })
    equal(log.slice(3), ['close 2'], 'what happened at the end')
  },

  async 'close tells its caller what failed, and the value is gone all the same'() {
    let makes = 0
    const failure = new Error('stuck')
    const close = (value: number): void => {
      if (value === 1) throw failure
    }
    const local = scopeLocal(() => ++makes, { close })
    await scoped(async (scope) => {
      local.get(scope)
      equal((await rejection(local.close(scope))) === failure, true, 'the error')
      equal(local.get(scope), 2, 'the next one')
    })
  },

  async 'the end of a scope waits for a value that is being closed'() {
    const slow = gate()
    let closed = 0
    const local = scopeLocal(() => 1, { close: () => (closed++, slow.promise) })
    const call = watch(
      scoped((scope) => {
        local.get(scope)
        void local.close(scope)
      }),
    )
    await turn(manualClock())
    equal(call.outcome(), undefined, 'the outcome before')
    slow.open()
    await turn(manualClock())
    equal([call.outcome(), closed], [{ value: undefined }, 1], 'the outcome, and how often')
  },

  async 'closeScope closes every value, logs what fails, and leaves the scope open'() {
    const { logger, errors } = listening()
    const { clients, log } = numbered()
    const broken = scopeLocal(() => 0, { close: () => Promise.reject(new Error('stuck')) })
    await scoped(
      async (scope) => {
        scope.defer(() => void log.push('deferred'))
        broken.get(scope)
        clients.get(scope)
        await closeScope(scope)
        equal(log, ['make 1', 'close 1'], 'what happened')
        equal(errors.map(String), ['Error: stuck'], 'what was logged')
        clients.get(scope)
      },
      { logger },
    )
    equal(log.slice(2), ['make 2', 'close 2', 'deferred'], 'what happened at the end')
  },

  async 'a scope that has ended, and what is no scope, are refused'() {
    const { clients, log } = numbered()
    let kept!: Scope
    await scoped((scope) => {
      kept = scope
      clients.get(scope)
    })
    const ended = await refusedWith('tool_usage_error', () => clients.get(kept))
    equal(ended.message, 'Cannot use a scope: it has ended', 'the message')
    const foreign = { signal: new AbortController().signal, defer() {} }
    for (const wrong of [foreign, null, 1])
      await refusedWith('tool_usage_error', () => clients.get(wrong as never))
    await refusedWith('tool_usage_error', () => closeScope(foreign))
    await closeScope(kept)
    await clients.close(kept)
    equal(log, ['make 1', 'close 1'], 'what happened')
  },

  async 'without an argument it is the current scope, in the synchronous part of the work'() {
    const { clients, log } = numbered()
    await scoped((outer) => {
      const mine = clients.get()
      equal(mine === clients.get(outer), true, 'of this scope')
      void scoped((inner) => {
        equal(clients.get() === clients.get(inner), true, 'of the inner scope')
        equal(clients.get() === mine, false, 'of both')
      })
      equal(clients.get() === mine, true, 'of this scope again')
    })
    const none = await refusedWith('tool_usage_error', () => clients.get())
    equal(
      none.message,
      'Cannot find the current scope: none is known here. Pass scope on',
      'the message',
    )
    equal(log.filter((line) => line.startsWith('make')).length, 2, 'how many were made')
  },

  async 'scopes at the same time share nothing'() {
    const { clients } = numbered()
    const first = gate()
    const work = async (scope: Scope): Promise<readonly object[]> => {
      const before = clients.get(scope)
      await first.promise
      return [before, clients.get(scope)]
    }
    const both = Promise.all([scoped(work), scoped(work)])
    first.open()
    const [[a, again], [b]] = (await both) as [[object, object], [object]]
    equal([a === again, a === b], [true, false], 'the same value')
  },
}

/** Values with a number each, and what happened to them. */
function numbered(): {
  readonly clients: ReturnType<typeof scopeLocal<{ readonly n: number }>>
  readonly log: string[]
} {
  const log: string[] = []
  let n = 0
  const make = (): { readonly n: number } => {
    log.push(`make ${++n}`)
    return { n }
  }
  const clients = scopeLocal(make, { close: (client) => void log.push(`close ${client.n}`) })
  return { clients, log }
}
