// Scopes and contexts of calls outside threads.
import { expect, it } from 'vitest'
import { currentContext, LoopRunner, scoped, scopeLocal, type Hook, type Scope } from 'heddle'
import { keepBooks } from '../behaviours/books.ts'
import { does, executorOf, thrown } from './parts.ts'

keepBooks()

/** Notes what is opened and closed. */
function clients(): { readonly log: string[]; readonly get: (scope?: Scope) => number } {
  const log: string[] = []
  let made = 0
  const local = scopeLocal(() => (log.push(`open ${++made}`), made), {
    close: (n) => void log.push(`close ${n}`),
  })
  return { log, get: (scope) => local.get(scope) }
}

it('a call has a scope of its own, closed before it settles: after a failure too', async () => {
  const { log, get } = clients()
  const use = does('use', (args, { scope }) => {
    log.push(`use ${get(scope)}`)
    if (args === 'fail') throw new Error('no')
    return get(scope)
  })
  const executor = executorOf([use])
  expect(await executor.run('use', {})).toBe(1)
  expect(log.splice(0)).toEqual(['open 1', 'use 1', 'close 1'])
  await thrown(() => executor.run('use', 'fail'))
  expect(log.splice(0)).toEqual(['open 2', 'use 2', 'close 2'])
  // Hooks share the scope of their call.
  const hooks: Hook[] = [{ beforeTool: ({ ctx }) => void get(ctx.scope) }]
  await executorOf([use], { hooks }).run('use', {})
  expect(log).toEqual(['open 3', 'use 3', 'close 3'])
})

it('what is deferred by a call runs when it ends, last in first out', async () => {
  const log: string[] = []
  const use = does('use', (_, { scope }) => {
    scope.defer(() => void log.push('first'))
    scope.defer(async () => void log.push('second'))
    log.push('body')
  })
  await executorOf([use]).run('use', {})
  expect(log).toEqual(['body', 'second', 'first'])
})

it('a scope that is given outlives the call, and is shared', async () => {
  const { log, get } = clients()
  const use = does('use', (_, { scope }) => get(scope))
  const results = await scoped(async (scope) => {
    const executor = executorOf([use])
    const given = [
      await executor.run('use', {}, { scope }),
      await executor.run('use', {}, { scope }),
    ]
    // The executor's scope is for calls that bring none.
    const shared = await executorOf([use], { scope }).run('use', {})
    expect(log).toEqual(['open 1'])
    return [...given, shared]
  })
  expect(results).toEqual([1, 1, 1])
  expect(log).toEqual(['open 1', 'close 1'])
})

it('a runner that closes stops the tools of its work', async () => {
  const runner = new LoopRunner({ graceMs: 1000 })
  let signal: AbortSignal | undefined
  let started: () => void = () => {}
  const running = new Promise<void>((resolve) => (started = resolve))
  const wait = does('wait', (_, ctx) => {
    signal = ctx.signal
    started()
    return new Promise(() => {})
  })
  const executor = executorOf([wait])
  const result = thrown(() => runner.run((scope) => executor.run('wait', {}, { scope })))
  await running
  await runner.close({ timeout: 1 })
  expect(signal?.aborted).toBe(true)
  expect(await result).toMatchObject({ code: 'tool_usage_error' })
})

it('an ended scope is refused', async () => {
  const ended = await scoped((scope) => scope)
  const { get } = clients()
  const use = does('use', (_, { scope }) => get(scope))
  expect(await thrown(() => executorOf([use]).run('use', {}, { scope: ended }))).toMatchObject({
    code: 'tool_usage_error',
  })
})

it('the current context is the own call, in hooks and in the body, across awaits', async () => {
  const seen: boolean[] = []
  const is = async (ctx: unknown): Promise<void> => {
    seen.push(currentContext() === ctx)
    await new Promise((resolve) => setImmediate(resolve))
    seen.push(currentContext() === ctx)
  }
  const hooks: Hook[] = [
    {
      beforeTool: ({ ctx }) => is(ctx),
      afterTool: ({ ctx }) => is(ctx),
      onToolError: ({ ctx }) => is(ctx),
    },
  ]
  const tools = ['a', 'b', 'c'].map((name) =>
    does(name, async (_, ctx) => {
      await is(ctx)
      if (name === 'c') throw new Error('no')
    }),
  )
  await executorOf(tools, { hooks }).runAll(tools.map(({ name }) => ({ tool: name, args: {} })))
  expect(seen).toEqual(Array.from({ length: 18 }, () => true))
  expect(currentContext()).toBeUndefined()
})
