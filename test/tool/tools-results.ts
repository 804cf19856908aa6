// What tools return and throw, and what callers get of it.
import { isHeddleError, type CallResult, type Tool } from 'heddle'
import { equal, refusedWith } from '../behaviours/portable.ts'
import { does, executorOf, schemaOf, short, thrown, turn } from './parts.ts'

type Cases = Readonly<Record<string, () => Promise<void>>>

/** What comes of a tool that returns a value. */
async function came(make: () => unknown): Promise<CallResult> {
  const [result] = await executorOf([does('x', make)]).runAll([{ tool: 'x', args: {} }])
  return result as CallResult
}

class Socket {
  open = true
}

export const resultCases: Cases = {
  async 'values come back as they are, as copies'() {
    const values = [
      undefined,
      null,
      0,
      -0,
      Number.NaN,
      Infinity,
      '',
      false,
      5n,
      [],
      {},
      [undefined, null],
      new Date(5),
      new Date(Number.NaN),
      new Map<unknown, unknown>([['a', new Set([1])]]),
      new Uint8Array([1, 2]),
      new TypeError('an error as a value'),
    ]
    for (const value of values) {
      const result = await came(() => value)
      const copy = Array.isArray(value) ? [...value] : value
      equal(result.status, 'success', String(value))
      equal((result as { value: unknown }).value, copy, String(value))
      if (typeof value === 'object' && value !== null)
        equal((result as { value: unknown }).value === value, false, 'the same object')
    }
  },

  async 'a result that cannot be stored is the error of its call, with the path'() {
    const round: { inner: { self?: unknown } } = { inner: {} }
    round.inner.self = round
    const table: [make: () => unknown, path: string, type: string][] = [
      [() => () => 1, 'x()', 'function'],
      [() => Symbol('s'), 'x()', 'symbol'],
      [() => new Socket(), 'x()', 'Socket'],
      [() => ({ deep: [new Socket()] }), 'x().deep[0]', 'Socket'],
      [() => round, 'x().inner.self', 'circular reference'],
      [() => new WeakMap(), 'x()', 'WeakMap'],
      [
        () => ({
          get broken() {
            throw new Error('no')
          },
        }),
        'x()',
        'unreadable object',
      ],
    ]
    for (const [make, path, type] of table) {
      const result = await came(make)
      const { error } = result as { error: unknown }
      if (!isHeddleError(error, 'unserializable_value'))
        throw new Error(`${path} ${type}: ${String(error)}`)
      equal(error.details, { path, type }, 'details')
    }
  },

  async 'text of 20 MB comes back whole'() {
    const text = 'é'.repeat(20 * 1024 * 1024)
    const { value } = (await came(() => text)) as { value?: unknown }
    equal(value === text, true, 'the text')
  },

  async 'whatever is thrown is the error, the same object'() {
    for (const reason of [
      new RangeError('r'),
      undefined,
      null,
      0,
      'text',
      { code: 5 },
      Symbol.iterator,
    ]) {
      for (const run of [
        () => {
          throw reason
        },
        () => Promise.reject(reason),
        async () => {
          await turn()
          throw reason
        },
      ]) {
        const executor = executorOf([does('x', run)])
        equal((await thrown(() => executor.run('x', {}))) === reason, true, String(reason))
        const [result] = await executor.runAll([{ tool: 'x', args: {} }])
        equal([result?.status, 'error' in result!], ['error', true], String(reason))
        equal((result as { error: unknown }).error === reason, true, String(reason))
      }
    }
  },

  async 'a thenable is awaited, whatever it does'() {
    const then = (how: (ok: (value: unknown) => void, no: (reason: unknown) => void) => void) => ({
      // oxlint-disable-next-line unicorn/no-thenable -- what a tool may return
      then: how,
    })
    const boom = new Error('boom')
    equal(((await came(() => then((ok) => ok(5)))) as { value?: unknown }).value, 5, 'a value')
    const table = [
      () =>
        then(() => {
          throw boom
        }),
      () => then((_, no) => no(boom)),
      () => ({
        // oxlint-disable-next-line unicorn/no-thenable -- what a tool may return
        get then() {
          throw boom
        },
      }),
    ]
    for (const make of table)
      equal(((await came(make)) as { error?: unknown }).error === boom, true, String(make))
    // The second word of a thenable doesn't count.
    const twice = await came(() =>
      then((ok, no) => {
        ok('first')
        no(boom)
        throw boom
      }),
    )
    equal((twice as { value?: unknown }).value, 'first', 'the first word')
  },

  async 'an output schema checks and changes the result'() {
    const output = schemaOf<unknown>(
      (value) => (typeof value === 'string' ? undefined : 'Expected text'),
      (value: string) => value.length,
    )
    const size = (value: unknown): Tool<unknown, unknown> => does('size', () => value, { output })
    equal(await executorOf([]).run(size('four'), {}), 4, 'value')
    const error = await refusedWith('schema_error', () => executorOf([]).run(size(4), {}))
    equal(error.message, 'Cannot accept the result of tool "size": Expected text', 'message')
    equal(error.details, { tool: 'size', issues: [{ message: 'Expected text' }] }, 'details')
  },

  async 'pausing outside a thread is refused, and the rest of the batch goes on'() {
    const verbs = ['interrupt', 'wait', 'sleep', 'child'] as const
    const tools = verbs.map((verb) =>
      does(verb, (_, ctx) => (ctx[verb] as (...args: unknown[]) => Promise<unknown>)(1)),
    )
    const executor = executorOf([...tools, does('fine', () => 1)])
    const results = await executor.runAll(
      [...verbs, 'fine'].map((name) => ({ tool: name, args: {} })),
    )
    equal(short(results), [...verbs.map(() => 'error: tool_usage_error'), 'success'], 'outcomes')
    const error = (results[0] as { error: Error }).error
    equal(
      error.message,
      'Cannot interrupt in tool "interrupt": it runs outside a thread, where nothing can wait',
      'message',
    )
  },

  async 'an approval outside a thread is pending, and nothing runs'() {
    let entered = 0
    const send = (approve: unknown): Tool<unknown, unknown> =>
      does('send', () => entered++, { approve })
    for (const approve of [true, () => true, async () => true]) {
      const error = await refusedWith('approval_pending', () =>
        executorOf([]).run(send(approve), {}, { thread: 't' }),
      )
      equal(error.details.thread, 't', 'thread')
      equal(error.details.interruptions[0]!.startsWith('apr_'), true, 'the id of the approval')
    }
    equal(entered, 0, 'bodies')
    equal(
      await executorOf([]).run(
        send(() => false),
        {},
      ),
      0,
      'a call that needs none',
    )
    // A predicate that breaks lets nothing through.
    const broken = new Error('broken')
    const fails = send(() => {
      throw broken
    })
    equal((await thrown(() => executorOf([]).run(fails, {}))) === broken, true, 'its error')
    equal(entered, 1, 'bodies')
  },

  async 'once holds for a call: its attempts share what is done, other calls do not'() {
    const done: string[] = []
    let tries = 0
    const pay = does(
      'pay',
      async (_, ctx) => {
        const value = await ctx.once('charge', () => ({ n: done.push('charge') }))
        value.n += 100
        if (++tries === 1) throw new Error('once more')
        return (await ctx.once('charge', () => ({ n: 0 }))).n
      },
      { retry: { attempts: 2, delay: 0 } },
    )
    equal(await executorOf([pay]).run('pay', {}), 1, 'value')
    equal(done, ['charge'], 'what was done')
    equal(await executorOf([pay]).run('pay', {}), 2, 'another call')
    // A failure isn't kept.
    let asked = 0
    const flaky = does('flaky', async (_, ctx) => {
      const get = (): Promise<number> =>
        ctx.once('get', () => {
          if (++asked === 1) throw new Error('once more')
          return asked
        })
      return get().catch(get)
    })
    equal(await executorOf([flaky]).run('flaky', {}), 2, 'value')
  },

  async 'tools call tools, under the same hooks, with what their caller gave'() {
    const seen: unknown[] = []
    const hooks = [
      {
        beforeTool: ({
          call,
          ctx,
        }: {
          readonly call: { readonly tool: string }
          readonly ctx: { readonly thread?: string }
        }) => void seen.push([call.tool, ctx.thread]),
      },
    ]
    const leaf = does('leaf', (args) => args)
    const told: unknown[] = []
    const tell = does('tell', async (_, ctx) => {
      await ctx.emit({ half: true })
      return 'told'
    })
    const tree = does('tree', async (_, ctx) => [
      await ctx.call(leaf, 1),
      await ctx.call('leaf', 2),
      short(
        await ctx.callAll([
          { tool: 'leaf', args: 3 },
          { tool: 'none', args: 4 },
        ]),
      ),
      await ctx.call('tell', {}, { emit: (data) => void told.push(data) }),
    ])
    const executor = executorOf([leaf, tell, tree], { hooks })
    equal(
      await executor.run('tree', {}, { thread: 't' }),
      [1, 2, ['success', 'error: tool_usage_error'], 'told'],
      'value',
    )
    equal(
      seen,
      ['tree', 'leaf', 'leaf', 'leaf', 'tell'].map((name) => [name, 't']),
      'hooks',
    )
    equal(told, [{ half: true }], 'what was emitted')
  },
}
