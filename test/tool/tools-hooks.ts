// Hooks around tools (B40), and what ends a call in their place.
import {
  ApprovalDenied,
  budget,
  GuardrailBlocked,
  shortCircuit,
  type Hook,
  type ToolInvocation,
} from 'heddle'
import { equal, refusedWith } from '../behaviours/portable.ts'
import { byClock, does, executorOf, short, thrown, turn } from './parts.ts'

type Cases = Readonly<Record<string, () => Promise<void>>>

const never = (): Promise<never> => new Promise(() => {})

/** Hooks that note what they are asked. */
function noting(log: string[], ...names: readonly string[]): Hook[] {
  return names.map((name) => ({
    name,
    beforeTool: () => void log.push(`before ${name}`),
    afterTool: (_, value) => void log.push(`after ${name} ${JSON.stringify(value)}`),
    onToolError: (_, error) => void log.push(`error ${name} ${(error as Error).message}`),
  }))
}

const boom = new Error('boom')
const fails = (): never => {
  throw boom
}

export const hookCases: Cases = {
  async 'hooks nest around the body'() {
    const log: string[] = []
    const body = does('x', () => log.push('body'))
    const executor = executorOf([body], { hooks: noting(log, 'h1', 'h2') })
    await executor.run('x', {})
    equal(log, ['before h1', 'before h2', 'body', 'after h2 3', 'after h1 3'], 'a success')
    log.length = 0
    await thrown(() =>
      executorOf([does('x', fails)], { hooks: noting(log, 'h1', 'h2') }).run('x', {}),
    )
    equal(log, ['before h1', 'before h2', 'error h2 boom', 'error h1 boom'], 'a failure')
  },

  async 'a hook that throws before the body fails the call with that object; those before it clean up'() {
    const log: string[] = []
    const [h1, h3] = noting(log, 'h1', 'h3') as [Hook, Hook]
    const recovering: Hook = {
      ...h1,
      onToolError: (inv, error) => (h1.onToolError!(inv, error), shortCircuit('saved')),
    }
    const body = does('x', () => log.push('body'))
    for (const beforeTool of [fails, async () => fails()]) {
      log.length = 0
      const executor = executorOf([body], { hooks: [recovering, { name: 'h2', beforeTool }, h3] })
      equal((await thrown(() => executor.run('x', {}))) === boom, true, 'the same object')
      equal(log, ['before h1', 'error h1 boom'], 'what ran')
    }
  },

  async 'a hook that throws after the body fails the call; the effect happened once'() {
    let effects = 0
    const cache = new Map<string, string>()
    const port = {
      get: async (key: string) => cache.get(key),
      set: async (key: string, text: string) => void cache.set(key, text),
      delete: async (key: string) => void cache.delete(key),
    }
    const told: unknown[] = []
    const hooks: Hook[] = [
      { onToolError: (_, error) => void told.push(error) },
      { afterTool: fails },
    ]
    const body = does('x', () => ++effects, { cache: { scope: 'global' } })
    const executor = executorOf([body], { hooks, cache: port })
    equal((await thrown(() => executor.run('x', {}))) === boom, true, 'the same object')
    equal((await thrown(() => executor.run('x', {}))) === boom, true, 'the same object')
    equal([effects, cache.size, told], [1, 1, []], 'effects, entries, errors told')
  },

  async 'an error-hook that fails cannot hide the error: its own is attached'() {
    const second = new Error('second')
    const told: unknown[] = []
    const hooks: Hook[] = [
      { onToolError: (_, error) => void told.push(error) },
      {
        onToolError: async () => {
          throw second
        },
      },
    ]
    const first = new Error('first')
    const body = does('x', () => {
      throw first
    })
    const error = await thrown(() => executorOf([body], { hooks }).run('x', {}))
    equal(error === first, true, 'the error')
    equal(
      (error as { suppressed?: unknown[] }).suppressed?.[0] === second,
      true,
      'what is attached',
    )
    equal(told, [first], 'what the next hook is told')
  },

  async 'a short circuit before the body is the value: hooks after it see it, nothing else counts'() {
    const log: string[] = []
    const value = { list: [1] }
    const [h1, h3] = noting(log, 'h1', 'h3') as [Hook, Hook]
    const hooks = [h1, { beforeTool: () => shortCircuit(value) }, h3, budget({ calls: 1 })]
    const executor = executorOf([does('x', () => log.push('body'))], { hooks })
    for (let n = 0; n < 3; n++) {
      const result = (await executor.run('x', {})) as typeof value
      equal([result, result === value], [value, false], 'a copy')
    }
    equal(
      log.slice(0, 3),
      ['before h1', 'after h3 {"list":[1]}', 'after h1 {"list":[1]}'],
      'what ran',
    )
    equal(log.includes('body'), false, 'the body')
  },

  async 'a short circuit in place of an error is the value'() {
    const log: string[] = []
    const [h1] = noting(log, 'h1') as [Hook]
    const hooks = [h1, { onToolError: () => shortCircuit(undefined) }]
    const [result] = await executorOf([does('x', fails)], { hooks }).runAll([
      { tool: 'x', args: {} },
    ])
    equal([result?.status, (result as { value?: unknown }).value], ['success', undefined], 'result')
    equal(log, ['before h1'], 'hooks behind it')
  },

  async 'after-hooks may replace the value: null does, undefined keeps it'() {
    const after = (value: unknown): Hook => ({ afterTool: () => value })
    const table: [hooks: Hook[], value: unknown][] = [
      [[after(undefined)], 'body'],
      [[after(null)], null],
      // The one that was registered first has the last word.
      [[after('first'), after('second')], 'first'],
      [[after(undefined), after('second')], 'second'],
    ]
    for (const [hooks, value] of table)
      equal(await executorOf([does('x', () => 'body')], { hooks }).run('x', {}), value, 'value')
    await refusedWith('unserializable_value', () =>
      executorOf([does('x', () => 1)], { hooks: [after(() => 1)] }).run('x', {}),
    )
  },

  async 'a hook gives back a short circuit or nothing'() {
    const forged = { '~heddle': 'heddle.short_circuit', shortCircuit: 'forged' }
    for (const value of [null, 0, {}, forged]) {
      const executor = executorOf([does('x', () => 1)], {
        hooks: [{ beforeTool: () => value as never }],
      })
      await refusedWith('tool_usage_error', () => executor.run('x', {}))
    }
  },

  async 'a denial by a hook, thrown or short-circuited, is the end of its call and no error'() {
    const denied = new ApprovalDenied('Cannot', { tool: 'x', reason: 'not now' })
    const told: unknown[] = []
    const watch: Hook = {
      afterTool: (_, value) => void told.push(value),
      onToolError: (_, error) => void told.push(error),
    }
    let entered = 0
    for (const beforeTool of [
      () => shortCircuit(denied),
      () => {
        throw denied
      },
    ]) {
      const executor = executorOf([does('x', () => entered++)], { hooks: [watch, { beforeTool }] })
      equal(
        (await executor.runAll([{ id: 'call_1', tool: 'x', args: {} }]))[0],
        { id: 'call_1', tool: 'x', status: 'denied', reason: 'not now' },
        'result',
      )
      const error = await refusedWith('approval_denied', () => executor.run('x', {}))
      equal(error.details, { tool: 'x', reason: 'not now' }, 'details')
      equal(Object.is(error, denied), true, 'the same object')
    }
    equal([entered, told], [0, []], 'bodies, hooks that were told')
  },

  async 'what a policy decided is an error result, which no error-hook hears of'() {
    const told: unknown[] = []
    const blocked = new GuardrailBlocked('Cannot', { guardrail: 'g', reason: 'r' })
    const hooks: Hook[] = [
      { onToolError: (_, error) => void told.push(error) },
      {
        beforeTool: ({ call }) => {
          if (call.tool === 'bad') throw blocked
        },
      },
    ]
    let tries = 0
    const inner = does(
      'inner',
      () => {
        tries++
        throw blocked
      },
      { retry: { attempts: 3, delay: 0 } },
    )
    const executor = executorOf([does('bad', () => 1), does('good', () => 2), inner], { hooks })
    const results = await executor.runAll(
      ['bad', 'good', 'inner'].map((name) => ({ tool: name, args: {} })),
    )
    equal(
      short(results),
      ['error: guardrail_blocked', 'success', 'error: guardrail_blocked'],
      'outcomes',
    )
    equal([told, tries], [[], 1], 'errors told, attempts')
  },

  async 'a budget counts calls that ran, once each, per run and per thread'() {
    const hooks = [budget({ calls: 2 }), budget({ calls: 3, per: 'thread' })]
    const executor = executorOf([does('x', () => 1)], { hooks, concurrency: 1 })
    const call = { tool: 'x', args: {} }
    const of = async (run: string, count: number): Promise<readonly string[]> =>
      short(
        await executor.runAll(
          [...Array.from({ length: count }, () => call), { tool: 'none', args: {} }],
          {
            run,
            thread: 't',
          },
        ),
      ).slice(0, count)
    equal(await of('r1', 3), ['success', 'success', 'error: budget_exceeded'], 'the first run')
    equal(await of('r2', 2), ['success', 'error: budget_exceeded'], 'the second run')
    equal(short(await executor.runAll([call], { run: 'r3' })), ['success'], 'no thread')
  },

  async 'calls side by side have hooks of their own: each is asked once per call'() {
    const seen: string[] = []
    const hooks: Hook[] = ['h1', 'h2'].map((name) => ({
      name,
      async beforeTool(inv) {
        for (let n = 0; n < 5; n++) await turn()
        seen.push(`before ${name} ${idOf(inv)}`)
      },
      async afterTool(inv) {
        for (let n = 0; n < 5; n++) await turn()
        seen.push(`after ${name} ${idOf(inv)}`)
      },
    }))
    const ours = (name: string): string => `call_${name.repeat(32)}`
    const tools = ['a', 'b', 'c'].map((name) => does(name, (_, ctx) => ctx.callId))
    const calls = tools.map(({ name }) => ({ id: ours(name), tool: name, args: {} }))
    const results = await executorOf(tools, { hooks }).runAll(calls)
    const expected = calls.flatMap(({ id }) =>
      ['before h1', 'before h2', 'after h2', 'after h1'].map((what) => `${what} ${id} ${id}`),
    )
    equal(seen.toSorted(), expected.toSorted(), 'hooks')
    equal(
      results.map((one) => (one as { value?: unknown }).value),
      ['a', 'b', 'c'].map(ours),
      'values',
    )
  },

  async 'a hook that never settles is late by its tool, and ends with an abort'() {
    const methods = ['beforeTool', 'afterTool'] as const
    for (const method of methods) {
      const hooks: Hook[] = [{ name: 'stuck', [method]: never }]
      const { clock, executor } = byClock([does('x', () => 1, { timeout: 20 })], { hooks })
      const error = thrown(() => executor.run('x', {}))
      await clock.advance(20)
      equal(
        ((await error) as Error).message,
        'Hook "stuck" of tool "x" took longer than 20 ms',
        method,
      )
      equal(((await error) as Error).name, 'TimeoutError', method)
      const caller = new AbortController()
      const aborted = thrown(() => executor.run('x', {}, { signal: caller.signal }))
      await clock.advance(1)
      caller.abort(boom)
      equal((await aborted) === boom, true, method)
      equal(clock.pending, 0, `timers of ${method}`)
    }
  },

  async 'an abort is told to no error-hook'() {
    const told: unknown[] = []
    const hooks: Hook[] = [{ onToolError: (_, error) => void told.push(error) }]
    const caller = new AbortController()
    const stops = does('x', async (_, { signal }) => {
      caller.abort(boom)
      signal.throwIfAborted()
    })
    const { signal } = caller
    equal(
      (await thrown(() => executorOf([stops], { hooks }).run('x', {}, { signal }))) === boom,
      true,
      'error',
    )
    equal(told, [], 'errors told')
  },
}

/** The id by the call, and by its context. */
const idOf = ({ call, ctx }: ToolInvocation): string => `${call.id} ${ctx.callId}`
