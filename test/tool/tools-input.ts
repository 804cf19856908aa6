// What calls may look like, and what their arguments come to.
import { isHeddleError, tool, type Call, type Schema, type Tool } from 'heddle'
import { equal, refusedWith } from '../behaviours/portable.ts'
import { anything, does, executorOf, numbered, schemaOf, short, thrown, turn } from './parts.ts'

type Cases = Readonly<Record<string, () => Promise<void>>>

const double = (): Tool<{ n: number }, number> =>
  tool({ name: 'double', description: 'twice', input: numbered(), run: ({ n }) => 2 * n })

/** A model's call. */
const wire = (name: string, raw: string, id = ''): Call => ({ id, tool: name, raw })

export const inputCases: Cases = {
  async 'a batch keeps the order of its calls, and each call its own outcome'() {
    const entered: unknown[] = []
    const note = does('note', (args) => entered.push(args))
    const results = await executorOf([double(), note]).runAll([
      { tool: 'double', args: { n: 2 } },
      wire('double', '{"n":'),
      { tool: 'double', args: { n: 'two' } },
      { tool: 'constructor', args: {} },
      { tool: '__proto__', args: {} },
      { tool: 'toString', args: {} },
      wire('double', '{"n":4}'),
    ])
    equal(
      short(results),
      [
        'success',
        'error: schema_error',
        'error: schema_error',
        'error: tool_usage_error',
        'error: tool_usage_error',
        'error: tool_usage_error',
        'success',
      ],
      'outcomes',
    )
    equal(
      results.flatMap((one) => (one.status === 'success' ? [one.value] : [])),
      [4, 8],
      'values',
    )
    equal(entered, [], 'bodies that nobody called')
  },

  async 'the error of an unknown tool names those there are'() {
    const error = await refusedWith('tool_usage_error', () =>
      executorOf([double(), does('note', () => 0)]).run('dubble', {}),
    )
    equal(
      error.message,
      'Cannot call tool "dubble": there is no such tool; there are "double", "note"',
      'message',
    )
    equal(error.details, { tool: 'dubble' }, 'details')
    const none = await refusedWith('tool_usage_error', () => executorOf([]).run('x', {}))
    equal(none.message, 'Cannot call tool "x": there is no such tool; there are none', 'message')
  },

  async 'no arguments are an empty object: empty text, blank text and undefined'() {
    const seen: unknown[] = []
    const ping = does('ping', (args) => seen.push(args))
    const executor = executorOf([ping])
    await executor.runAll([
      wire('ping', ''),
      wire('ping', ' \n'),
      { tool: 'ping', args: undefined },
    ])
    await executor.run('ping', undefined)
    equal(seen, [{}, {}, {}, {}], 'arguments')
    // Anything else is itself.
    await executor.runAll([wire('ping', 'null'), { tool: 'ping', args: null }, wire('ping', '[1]')])
    equal(seen.slice(4), [null, null, [1]], 'arguments')
  },

  async 'arguments that are no JSON stay out of the error'() {
    const [result] = await executorOf([double()]).runAll([wire('double', '{"secret":"hunter2')])
    const error = (result as { error: Error }).error
    equal(
      error.message,
      'Cannot accept the arguments of tool "double": they are not JSON',
      'message',
    )
    if (!isHeddleError(error, 'schema_error')) throw new Error('It is no schema_error')
    equal(error.details, { tool: 'double', issues: [{ message: 'they are not JSON' }] }, 'details')
  },

  async 'a schema may take its time, change the arguments, or break'() {
    const slow = schemaOf(
      () => undefined,
      ({ n }: { n: number }) => ({ n: n + 1 }),
    )
    const later: Schema<{ n: number }, { n: number }> = {
      '~standard': {
        ...slow['~standard'],
        validate: async (value) => (await turn(), slow['~standard'].validate(value)),
      },
    }
    const up = tool({ name: 'up', description: '', input: later, run: ({ n }) => n })
    equal(await executorOf([up]).run(up, { n: 1 }), 2, 'value')
    const broken = new Error('the schema broke')
    for (const validate of [
      () => {
        throw broken
      },
      () => Promise.reject(broken),
    ]) {
      const input = { '~standard': { version: 1 as const, vendor: 'test', validate } }
      let entered = 0
      const bad = tool({ name: 'bad', description: '', input, run: () => entered++ })
      equal((await thrown(() => executorOf([bad]).run('bad', {}))) === broken, true, 'the same')
      equal(entered, 0, 'bodies')
    }
  },

  async 'neither hooks nor other attempts share the arguments that a body may change'() {
    const args = { list: [1], inner: { n: 1 } }
    const seen: string[] = []
    let tries = 0
    const spoil = does(
      'spoil',
      (given) => {
        const { list, inner } = given as typeof args
        seen.push(JSON.stringify(given))
        list.push(9)
        inner.n = 9
        if (++tries === 1) throw new Error('once more')
        return given
      },
      { retry: { attempts: 2, delay: 0 } },
    )
    const frozen: boolean[] = []
    const hooks = [
      {
        beforeTool({ call }: { readonly call: { readonly args?: unknown } }) {
          const { list, inner } = call.args as typeof args
          frozen.push(Object.isFrozen(call), Object.isFrozen(list), Object.isFrozen(inner))
        },
      },
    ]
    const result = await executorOf([spoil], { hooks }).run('spoil', args)
    equal(frozen, [true, true, true], 'frozen')
    equal(seen, ['{"list":[1],"inner":{"n":1}}', '{"list":[1],"inner":{"n":1}}'], 'attempts')
    equal(args, { list: [1], inner: { n: 1 } }, 'what the caller gave')
    equal(result, { list: [1, 9], inner: { n: 9 } }, 'result')
  },

  async 'what a hook does to dates, maps and bytes stays with the hook'() {
    const seen: unknown[] = []
    const take = does('take', (args) => void seen.push(args))
    const args = { at: new Date(5), all: new Map([[1, 2]]), bytes: new Uint8Array([1]) }
    const hooks = [
      {
        beforeTool({ call }: { readonly call: { readonly args?: unknown } }) {
          const given = call.args as typeof args
          given.at.setTime(9)
          given.all.clear()
          given.bytes[0] = 9
        },
      },
    ]
    await executorOf([take], { hooks }).run('take', args)
    const fresh = { at: new Date(5), all: new Map([[1, 2]]), bytes: new Uint8Array([1]) }
    equal([seen[0], args], [fresh, fresh], 'what the body and the caller have')
  },

  async 'arguments that cannot be stored are refused, with the path'() {
    let entered = 0
    const executor = executorOf([does('open', () => entered++)])
    const error = await refusedWith('unserializable_value', () =>
      executor.run('open', { deep: [{ fn() {} }] }),
    )
    equal(error.details.path, 'open(args).deep[0].fn', 'path')
    const round: { self?: unknown } = {}
    round.self = round
    await refusedWith('unserializable_value', () => executor.run('open', round))
    equal(entered, 0, 'bodies')
    equal(
      await executor.run('open', { at: new Date(5), all: new Map([[1, 2n]]) }),
      0,
      'dates, maps',
    )
  },

  async 'a member named __proto__ is data'() {
    const seen: unknown[] = []
    const take = does('take', (args) => seen.push(args))
    await executorOf([take]).runAll([wire('take', '{"__proto__":{"admin":true},"n":1}')])
    equal(Object.keys(seen[0] as object), ['__proto__', 'n'], 'keys')
    equal((seen[0] as { admin?: unknown }).admin, undefined, 'what it inherits')
  },

  async 'ids of ours are used, others are kept for the wire, and repeats are told apart'() {
    const ours = 'call_0123456789abcdef0123456789abcdef'
    const ids: unknown[] = []
    const note = does('note', (_, ctx) => void ids.push(ctx.callId))
    const wired: unknown[] = []
    const hooks = [
      {
        beforeTool: ({ call }: { readonly call: { readonly wireId?: string } }) =>
          void wired.push(call.wireId),
      },
    ]
    const calls = [
      wire('note', '{}', 'x'),
      wire('note', '{}', 'x'),
      wire('note', '{}', ours),
      wire('note', '{}', ''),
      wire('note', '{}', 'x'),
    ]
    const results = await executorOf([note], { hooks, concurrency: 1 }).runAll(calls)
    equal(
      results.map(({ id }, at) => (at === 3 ? id.slice(0, 5) : id)),
      ['x', 'x-2', ours, 'call_', 'x-3'],
      'ids of results',
    )
    equal(wired, ['x', 'x', undefined, undefined, 'x'], 'ids of the wire')
    equal(
      ids.every((id) => String(id).startsWith('call_')),
      true,
      'ids of calls',
    )
    equal([ids[2], ids[3], new Set(ids).size], [ours, results[3]?.id, 5], 'ids of calls')
  },

  async 'a repeat never gets an id that another call has'() {
    const ids = ['x', 'x', 'x-2', 'x', 'x-2']
    const results = await executorOf([does('note', () => 0)]).runAll(
      ids.map((id) => wire('note', '{}', id)),
    )
    equal(
      results.map(({ id }) => id),
      ['x', 'x-2', 'x-2-2', 'x-3', 'x-2-3'],
      'ids',
    )
  },

  async 'a tool can be called that the executor has not, by the tool itself'() {
    const other = double()
    equal(await executorOf([]).run(other, { n: 3 }), 6, 'value')
    await refusedWith('tool_usage_error', () => executorOf([]).run('double', { n: 3 }))
  },

  async 'what comes in beside the arguments is what the tool sees'() {
    const look = does('look', (_, ctx) => ({
      ids: [ctx.run, ctx.thread, ctx.user, ctx.step, ctx.node, ctx.task, ctx.tenant, ctx.agent],
      ns: ctx.ns,
      metadata: ctx.metadata,
      has: 'step' in ctx,
    }))
    const executor = executorOf([look])
    const metadata = { desk: 'refunds' }
    equal(
      await executor.run('look', {}, { run: 'r', thread: 't', user: 'ada', metadata }),
      {
        ids: ['r', 't', 'ada', undefined, undefined, undefined, undefined, undefined],
        ns: [],
        metadata,
        has: false,
      },
      'context',
    )
    equal(
      ((await executor.run('look', {})) as { metadata: unknown }).metadata,
      {},
      'metadata that nobody gave',
    )
  },

  async 'mistakes in calling are refused before anything runs'() {
    let entered = 0
    const executor = executorOf([does('x', () => entered++, { input: anything() })])
    const wrong: unknown[] = [
      () => executor.run('x', {}, { thred: 't' } as never),
      () => executor.run('x', {}, { thread: 5 } as never),
      () => executor.run('x', {}, { signal: {} } as never),
      () => executor.runAll([{ tool: 'x', args: {} }], { run: null } as never),
    ]
    for (const call of wrong)
      equal((await thrown(call as () => unknown)) instanceof TypeError, true, String(call))
    await refusedWith('tool_usage_error', () => executor.runAll('x' as never))
    await refusedWith('tool_usage_error', () => executor.run('x', {}, { scope: {} as never }))
    await refusedWith('unserializable_value', () =>
      executor.run('x', {}, { metadata: { fn() {} } as never }),
    )
    equal(entered, 0, 'bodies')
  },
}
