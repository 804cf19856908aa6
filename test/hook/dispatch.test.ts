import { expect, describe, it } from 'vitest'
import {
  BudgetExceeded,
  Cancelled,
  type HeddleError,
  LeaseLost,
  ToolUsageError,
} from '../../src/errors.ts'
import {
  isShortCircuit,
  runAfter,
  runBefore,
  runBeforeOrUndo,
  runOnError,
  shortCircuit,
} from '../../src/hook/dispatch.ts'
import type { Hook } from '../../src/hook/hook.ts'
import { INSIDE } from '../../src/hook/mark.ts'
import { isControlFlow } from '../../src/hook/outcome.ts'
import { keepBooks } from '../behaviours/books.ts'

keepBooks()

/** What a promise rejects with. */
const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => {
      throw new Error('It was not refused')
    },
    (error: unknown) => error,
  )

/** An invocation whose logger keeps what is logged. */
function logged(signal?: AbortSignal): {
  readonly inv: object
  readonly lines: (readonly [level: string, message: string, data: unknown])[]
} {
  const lines: [string, string, unknown][] = []
  const level =
    (name: string) =>
    (message: string, data?: object): void =>
      void lines.push([name, message, data])
  const logger = { debug: level('debug'), warn: level('warn'), error: level('error') }
  return { inv: { ctx: { [INSIDE]: { host: { logger, hooks: [] } }, signal } }, lines }
}

const budget = (): HeddleError =>
  new BudgetExceeded('Cannot go on', { limit: 'tokens', used: 2, allowed: 1 })

/** Every way in which a hook may fail. */
const ways: Readonly<Record<string, (error: unknown) => () => never>> = {
  throws: (error) => () => {
    throw error
  },
  rejects: (error) => (() => Promise.reject(error)) as never,
  'gives back a thenable that throws': (error) =>
    (() => ({
      // oxlint-disable-next-line unicorn/no-thenable -- that is the case
      then() {
        throw error
      },
    })) as never,
  'has a method that cannot be read': (error) => ({ error }) as never,
}

/** A hook whose method fails in one of these ways. */
function failing(method: string, way: string, error: unknown): Hook {
  const fail = ways[way]!(error)
  if (typeof fail === 'function') return { name: 'bad', [method]: fail }
  return Object.defineProperty({ name: 'bad' }, method, {
    get() {
      throw error
    },
  })
}

describe('runBefore', () => {
  it('asks in the given order, with one frozen record, and waits for each', async () => {
    const seen: unknown[] = []
    const { inv } = logged()
    const hook = (name: string): Hook => ({
      async beforeTool(one) {
        seen.push([name, one === inv, Object.isFrozen(one)])
        await Promise.resolve()
        seen.push(name)
      },
    })
    expect(await runBefore([hook('a'), {}, hook('b')], 'beforeTool', inv)).toBeUndefined()
    expect(seen).toEqual([['a', true, true], 'a', ['b', true, true], 'b'])
  })

  it('ends at the first short circuit, whatever its value', async () => {
    for (const value of [1, undefined, null]) {
      let asked = 0
      const hooks: Hook[] = [
        { beforeNode: () => shortCircuit(value) },
        { beforeNode: () => void asked++ },
      ]
      const verdict = await runBefore(hooks, 'beforeNode', {})
      expect(verdict).toEqual(shortCircuit(value))
      expect(isShortCircuit(verdict)).toBe(true)
      expect(asked).toBe(0)
    }
  })

  it.each(Object.keys(ways))('raises the same object when a hook %s', async (way) => {
    for (const error of [new Error('secret'), 'text', undefined, Object.freeze({})]) {
      const { inv, lines } = logged()
      let asked = 0
      const hooks = [failing('beforeTool', way, error), { beforeTool: () => void asked++ }]
      expect(await failure(runBefore(hooks, 'beforeTool', inv))).toBe(error)
      expect(asked).toBe(0)
      const type = error instanceof Error ? 'Error' : typeof error
      const data = { method: 'beforeTool', error: type }
      expect(lines).toEqual([['error', 'A hook failed: beforeTool of hook "bad"', data]])
    }
  })

  it.each([null, 0, true, {}, { shortCircuit: 1 }, { '~heddle': 'other', shortCircuit: 1 }])(
    'refuses %j for a verdict',
    async (verdict) => {
      const { inv, lines } = logged()
      const hooks = [{}, { beforeLlm: () => verdict as never }]
      const error = await failure(runBefore(hooks, 'beforeLlm', inv))
      expect(error).toBeInstanceOf(ToolUsageError)
      expect((error as Error).message).toContain('beforeLlm of hook 2')
      expect(lines).toHaveLength(1)
    },
  )
})

describe('runAfter', () => {
  it('keeps a value for undefined and takes anything else', async () => {
    for (const other of [null, 0, '', false, 'new']) {
      const seen: unknown[] = []
      const hooks: Hook[] = [
        { afterTool: () => undefined },
        { afterTool: (_, value) => (seen.push(value), Promise.resolve(other)) },
        {},
        { afterTool: (_, value) => void seen.push(value) },
      ]
      expect(await runAfter(hooks, 'afterTool', {}, 'old' as unknown)).toBe(other)
      expect(seen).toEqual(['old', other])
    }
  })

  it('takes a short circuit for the value that it is', async () => {
    const value = shortCircuit(1)
    expect(await runAfter<unknown>([{ afterTool: () => value }], 'afterTool', {}, 2)).toBe(value)
  })

  it.each(Object.keys(ways))('raises the same object when a hook %s', async (way) => {
    const error = new TypeError('secret')
    const { inv, lines } = logged()
    const hooks = [failing('afterNode', way, error)]
    expect(await failure(runAfter(hooks, 'afterNode', inv, {}))).toBe(error)
    const data = { method: 'afterNode', error: 'TypeError' }
    expect(lines).toEqual([['error', 'A hook failed: afterNode of hook "bad"', data]])
  })
})

describe('runOnError', () => {
  it('recovers by the first short circuit', async () => {
    const seen: unknown[] = []
    const error = new Error('primary')
    const hooks: Hook[] = [
      { onToolError: (_, one) => void seen.push(one) },
      { onToolError: () => shortCircuit(7) },
      { onToolError: () => void seen.push('late') },
    ]
    expect(await runOnError(hooks, 'onToolError', {}, error)).toEqual(shortCircuit(7))
    expect(seen).toEqual([error])
  })

  it.each(Object.keys(ways))('keeps the error of a hook that %s with the primary', async (way) => {
    const primary = new Error('primary')
    const [one, two] = [new Error('secret'), new Error('secret')]
    const { inv, lines } = logged()
    const hooks = [failing('onNodeError', way, one), failing('onNodeError', way, two)]
    expect(await runOnError(hooks, 'onNodeError', inv, primary)).toBeUndefined()
    expect((primary as { suppressed?: unknown }).suppressed).toEqual([one, two])
    expect(Object.keys(primary)).toEqual([])
    expect(JSON.stringify(lines)).not.toContain('secret')
    expect(lines.map(([level]) => level)).toEqual(['error', 'error'])
  })

  it('leaves a primary error alone that takes nothing', async () => {
    const taken = Object.assign(new Error('primary'), { suppressed: 'mine' })
    for (const primary of [
      'text',
      undefined,
      null,
      5,
      Object.freeze(new Error('primary')),
      taken,
    ]) {
      const { inv, lines } = logged()
      const hooks = [failing('onToolError', 'throws', new Error('another'))]
      expect(await runOnError(hooks, 'onToolError', inv, primary)).toBeUndefined()
      expect(lines).toHaveLength(1)
    }
    expect(taken.suppressed).toBe('mine')
  })

  it('does not attach the primary error to itself', async () => {
    const primary = new Error('primary')
    const { inv } = logged()
    await runOnError([failing('onToolError', 'throws', primary)], 'onToolError', inv, primary)
    expect(primary).not.toHaveProperty('suppressed')
  })

  it('takes anything but a verdict for a failure of the hook', async () => {
    const primary = new Error('primary')
    const { inv, lines } = logged()
    const hooks: Hook[] = [{ onLlmError: () => 'fine' as never }]
    expect(await runOnError(hooks, 'onLlmError', inv, primary)).toBeUndefined()
    expect((primary as { suppressed?: unknown[] }).suppressed?.[0]).toBeInstanceOf(ToolUsageError)
    expect(lines).toHaveLength(1)
  })
})

describe('runBeforeOrUndo', () => {
  const methods = ['beforeTool', 'onToolError'] as const

  it('tells the hooks before the one that failed, last first, and lets none make it good', async () => {
    const seen: string[] = []
    const error = new Error('no')
    const hook = (name: string): Hook => ({
      beforeTool: () => void seen.push(`before ${name}`),
      onToolError: (_, one) => {
        seen.push(`error ${name} ${one === error}`)
        return shortCircuit('good')
      },
    })
    const bad = { ...failing('beforeTool', 'rejects', error), onToolError: () => shortCircuit(0) }
    // It was asked nothing, and so has begun nothing.
    const other: Hook = { onToolError: () => void seen.push('other') }
    const hooks = [hook('a'), other, hook('b'), bad, hook('c')]
    const { inv, lines } = logged()
    expect(await failure(runBeforeOrUndo(hooks, methods, inv))).toBe(error)
    expect(seen).toEqual(['before a', 'before b', 'error b true', 'error a true'])
    expect(lines).toHaveLength(1)
  })

  it('tells nobody of what a policy decided and of an abort', async () => {
    const controller = new AbortController()
    controller.abort('enough')
    for (const error of [budget(), new Cancelled('stop', {}), 'enough']) {
      const told: unknown[] = []
      const { inv } = logged(controller.signal)
      const hooks: Hook[] = [
        { beforeTool() {}, onToolError: (_, one) => void told.push(one) },
        failing('beforeTool', 'throws', error),
      ]
      expect(await failure(runBeforeOrUndo(hooks, methods, inv))).toBe(error)
      expect(told).toEqual([])
    }
  })
})

const tell = (hooks: readonly Hook[], method: never, inv: object): Promise<unknown> =>
  runOnError(hooks, method, inv, new Error('no'))
const after = (hooks: readonly Hook[], method: never, inv: object): Promise<unknown> =>
  runAfter(hooks, method, inv, 1)

it.each([
  ['beforeTol', runBefore],
  ['afterTool', runBefore],
  ['onEvent', runBefore],
  ['aftertool', after],
  ['beforeTool', after],
  ['onToolEror', tell],
  ['onEvent', tell],
] as const)('"%s" is refused where it is no method of that kind', async (method, run) => {
  let called = 0
  const hook = { [method]: () => void called++ }
  const error = await failure(run([hook], method as never, {}))
  expect(error).toBeInstanceOf(TypeError)
  expect(error).toHaveProperty('message', `Cannot call hooks: "${method}" is not known here`)
  expect(called).toBe(0)
})

describe('what is logged', () => {
  it('is at debug what a policy decided', async () => {
    const { inv, lines } = logged()
    await failure(runBefore([failing('beforeTool', 'throws', budget())], 'beforeTool', inv))
    const data = { method: 'beforeTool', error: 'BudgetExceeded' }
    expect(lines).toEqual([['debug', 'A hook decided: beforeTool of hook "bad"', data]])
  })

  it('is nothing of control flow', async () => {
    const controller = new AbortController()
    const reason = new Error('the reason of the signal')
    controller.abort(reason)
    const errors = [
      new Cancelled('stop', {}),
      new LeaseLost('lost', { thread: 't' }),
      new DOMException('aborted', 'AbortError'),
      reason,
    ]
    for (const error of errors) {
      const { inv, lines } = logged(controller.signal)
      const hooks = [failing('onToolError', 'throws', error)]
      const primary = new Error('primary')
      await runOnError(hooks, 'onToolError', inv, primary)
      await failure(runAfter([failing('afterTool', 'throws', error)], 'afterTool', inv, 1))
      expect(lines).toEqual([])
      expect(primary).not.toHaveProperty('suppressed')
    }
  })

  it('goes to a logger that may itself break', async () => {
    const error = new Error('no')
    const logger = {
      error() {
        throw new Error('the logger')
      },
    }
    const inv = { ctx: { [INSIDE]: { host: { logger, hooks: [] } } } }
    expect(
      await failure(runBefore([failing('beforeTool', 'throws', error)], 'beforeTool', inv)),
    ).toBe(error)
  })

  it('names a hook by its place in the app, in whatever order hooks are called', async () => {
    const { inv, lines } = logged()
    const bad: Hook = { afterTool: () => Promise.reject(new Error('no')) }
    const ctx = (inv as { ctx: { [INSIDE]: { host: { hooks: Hook[] } } } }).ctx
    ctx[INSIDE].host.hooks = [bad, {}, {}]
    await failure(runAfter([{}, {}, bad], 'afterTool', inv, 1))
    expect(lines[0]?.[1]).toBe('A hook failed: afterTool of hook 1')
  })
})

describe('isControlFlow', () => {
  it('knows aborts by their marks, never by a class name', () => {
    class GraphInterrupt extends Error {}
    class AbortError extends Error {
      override name = 'AbortError'
    }
    // As another copy of the package makes it.
    const copy = Object.assign(new Error('stop'), {
      code: 'cancelled',
      [Symbol.for('heddle.error')]: true,
    })
    expect(isControlFlow(new Cancelled('stop', {}))).toBe(true)
    expect(isControlFlow(copy)).toBe(true)
    expect(isControlFlow(new LeaseLost('lost', { thread: 't' }))).toBe(true)
    expect(isControlFlow(new DOMException('aborted', 'AbortError'))).toBe(true)
    expect(isControlFlow(AbortSignal.abort().reason)).toBe(true)
    for (const error of [
      new DOMException('late', 'TimeoutError'),
      new GraphInterrupt('pause'),
      new AbortError('aborted'),
      Object.assign(new Error('stop'), { code: 'cancelled' }),
      budget(),
      undefined,
      null,
      'AbortError',
    ])
      expect(isControlFlow(error)).toBe(false)
  })
})

it('a short circuit of another copy of the package counts', async () => {
  const other = { '~heddle': Symbol.for('heddle.short_circuit'), shortCircuit: 3 }
  expect(isShortCircuit(other)).toBe(true)
  expect(await runBefore([{ beforeTool: () => other }], 'beforeTool', {})).toBe(other)
  for (const value of [
    undefined,
    null,
    3,
    {},
    { shortCircuit: 3 },
    Symbol.for('heddle.short_circuit'),
  ])
    expect(isShortCircuit(value)).toBe(false)
})
