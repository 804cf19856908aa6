// The current context and scope: what a platform carries across an await, and what one does that can't.
import {
  currentContext,
  LoopRunner,
  scoped,
  scopeLocal,
  withContext,
  type RunContext,
} from 'heddle'
import { equal, refusedWith, type Case } from '../behaviours/portable.ts'
import { gate } from '../fakes/gate.ts'

const LOST =
  'Cannot tell the current context: this platform loses it at the first await. Pass ctx on instead'

/** What holds in the synchronous part of work, on every platform. */
const synchronous: Readonly<Record<string, () => unknown>> = {
  'outside everything there is no context'() {
    equal(currentContext(), undefined, 'the context')
  },
  'the innermost context counts, until its work returns or throws'() {
    const [outer, inner] = [context('outer'), context('inner')]
    const value = withContext(outer, () => {
      equal(currentContext() === outer, true, 'outer')
      withContext(inner, () => equal(currentContext() === inner, true, 'inner'))
      try {
        withContext(inner, () => JSON.parse('{'))
      } catch {
        equal(currentContext() === outer, true, 'outer after a throw')
      }
      return 'value'
    })
    equal([value, currentContext()], ['value', undefined], 'the value, and the context after it')
  },
  async 'a context without a scope has that which it was opened in'() {
    const values = scopeLocal((scope) => scope)
    await scoped((scope) => {
      withContext({ run: 'a' }, () => equal(values.get() === values.get(scope), true, 'the scope'))
    })
    await refusedWith('tool_usage_error', () => withContext({ run: 'a' }, () => values.get()))
  },
  async 'the work of a runner has the context that it was called in'() {
    const runner = new LoopRunner()
    const ctx = context('a')
    const run = withContext(ctx, () => runner.run(() => currentContext()?.run))
    equal(await run, 'a', 'the context')
    await runner.close()
  },
  async 'scoped work has the context that it was called in, and its own scope'() {
    const values = scopeLocal((scope) => scope)
    const ctx = context('a')
    await withContext(ctx, () => {
      equal(values.get() === ctx.scope, true, 'the scope of the context')
      return scoped((scope) => {
        equal(currentContext() === ctx, true, 'the context')
        equal(values.get().signal === scope.signal, true, 'the scope')
        withContext(ctx, () => equal(values.get() === ctx.scope, true, 'the scope of the context'))
      })
    })
  },
}

/** Where AsyncLocalStorage is. */
export const carried: readonly Case[] = cases({
  ...synchronous,

  async 'the context gets past an await, each to its own work'() {
    const order = gate()
    const work = async (name: string): Promise<boolean> => {
      await order.promise
      return currentContext()?.run === name
    }
    const calls = ['a', 'b'].map((name) => withContext(context(name), () => work(name)))
    equal(currentContext(), undefined, 'the context outside, while both are open')
    order.open()
    equal(await Promise.all(calls), [true, true], 'whether each has its own')
  },

  async 'child tasks see the context of their parent, and what they open never flows back up'() {
    const [parent, child] = [context('parent'), context('child')]
    const seen: (string | undefined)[] = []
    await withContext(parent, async () => {
      const task = (async () => {
        await Promise.resolve()
        seen.push(currentContext()?.run)
        await withContext(child, async () => {
          await Promise.resolve()
          seen.push(currentContext()?.run)
        })
      })()
      await task
      seen.push(currentContext()?.run)
    })
    equal(seen, ['parent', 'child', 'parent'], 'what was seen')
  },

  async 'the current scope gets past an await, and one that has ended is refused'() {
    const values = scopeLocal((scope) => scope)
    const after = gate()
    let left!: Promise<unknown>
    await scoped(async (scope) => {
      await Promise.resolve()
      equal(values.get() === values.get(scope), true, 'the same value')
      left = after.promise.then(() => refusedWith('tool_usage_error', () => values.get()))
    })
    after.open()
    equal(
      ((await left) as Error).message,
      'Cannot use a scope: it has ended',
      'of work that was left behind',
    )
  },

  async 'a runner is refused in its own work after an await, and not in what the work left behind'() {
    const runner = new LoopRunner()
    const after = gate()
    let left!: Promise<number>
    await runner.run(async () => {
      await Promise.resolve()
      await refusedWith('tool_usage_error', () => runner.run(() => 1))
      await refusedWith('tool_usage_error', () => runner.close())
      left = after.promise.then(() => runner.run(() => 2))
    })
    after.open()
    equal(await left, 2, 'what was left behind')
    await runner.close()
  },
})

/** Where it isn't. */
export const lost: readonly Case[] = cases({
  ...synchronous,

  async 'after an await the context is refused, whoever asks, as long as one is open'() {
    const order = gate()
    const refused = async (): Promise<string> =>
      (await refusedWith('tool_usage_error', () => currentContext())).message
    const call = withContext(context('a'), async () => {
      equal(currentContext()?.run, 'a', 'the context before')
      await order.promise
      return refused()
    })
    equal(await refused(), LOST, 'what somebody else gets')
    withContext(context('b'), () => equal(currentContext()?.run, 'b', 'in a synchronous part'))
    order.open()
    equal(await call, LOST, 'what the work gets')
    equal(currentContext(), undefined, 'the context when none is open')
  },

  async 'a context is open until its promise is settled, and its rejection is that of the work'() {
    const order = gate()
    const failure = new Error('fails')
    const call = withContext(context('a'), () => order.promise)
    await refusedWith('tool_usage_error', () => currentContext())
    order.fail(failure)
    const error: unknown = await call.catch((reason: unknown) => reason)
    equal(error === failure, true, 'the error')
    equal(currentContext(), undefined, 'the context')
  },

  async 'what is more than a promise comes back as it is'() {
    class Handle extends Promise<void> {
      readonly id = 7
    }
    const order = gate()
    const handle = withContext(context('a'), () => Handle.resolve(order.promise) as Handle)
    equal(handle.id, 7, 'what it is more')
    const own = new Handle((resolve) => void order.promise.then(resolve))
    equal(withContext(context('b'), () => own) === own, true, 'the same object')
    await refusedWith('tool_usage_error', () => currentContext())
    order.open()
    await Promise.all([handle, own])
    await Promise.resolve()
    equal(currentContext(), undefined, 'the context when both are settled')
  },

  async "scoped work that begins after an await doesn't take another's context for its own"() {
    const order = gate()
    const other = withContext(context('other'), () => order.promise)
    await Promise.resolve()
    await scoped(() => refusedWith('tool_usage_error', () => currentContext()))
    order.open()
    await other
    await scoped(() => equal(currentContext(), undefined, 'the context when none is open'))
  },

  async 'after an await the current scope is not known'() {
    const values = scopeLocal((scope) => scope)
    await scoped(async (scope) => {
      await Promise.resolve()
      const { message } = await refusedWith('tool_usage_error', () => values.get())
      equal(
        message,
        'Cannot find the current scope: none is known here. Pass scope on',
        'the message',
      )
      values.get(scope)
    })
  },

  async 'a runner that is closed by its own work after an await waits for its timeout, no longer'() {
    const runner = new LoopRunner({ graceMs: 1 })
    const call = runner.run(async () => {
      await Promise.resolve()
      await runner.close({ timeout: 1 })
    })
    await refusedWith('tool_usage_error', () => call)
    await runner.close()
  },
})

function cases(table: Readonly<Record<string, () => unknown>>): readonly Case[] {
  return Object.entries(table).map(([name, check]) => ({
    name,
    run: async () => void (await check()),
  }))
}

/** A context with a scope of its own. */
function context(run: string): RunContext {
  let ctx!: RunContext
  void scoped((scope) => {
    ctx = { run, scope, signal: scope.signal } as unknown as RunContext
  })
  return ctx
}
