// What goes in and out of tools in threads: hooks around them, what they show, branches, names that are none (B40).
import { field, graph, isHeddleError, shortCircuit, type Hook, type StreamEvent } from 'heddle'
import { silent } from '../fakes/silent.ts'
import { calling, counted, Counts, openIn, resultOf, Thread } from './calls-parts.ts'
import { all, casesOf, equal, refusedWith, type Case, type Cases, type Open } from './portable.ts'

const cases: Cases = {
  async 'what a hook after a tool breaks is not paid for twice (B40)'(reopen) {
    const counts = new Counts()
    const pays = counted(counts, 'pays', async () => 'receipt')
    const hook: Hook = {
      beforeTool: () => void counts.add('before'),
      afterTool(_, value) {
        if (counts.add('after') === 1) throw new TypeError('books are closed')
        return `${String(value)}, booked`
      },
    }
    const thread = new Thread(reopen, [pays], async (ctx) => ctx.call('pays', {}), {
      hooks: [hook],
      logger: silent,
    })
    const error = await thread.start().catch((thrown: Error) => thrown.message)
    equal(error, 'books are closed', 'the failure')
    equal(resultOf(await thread.goOn()), 'receipt, booked', 'what goes on')
    equal(counts.all, { after: 2, before: 1, pays: 1 }, 'what ran')
  },

  async 'hooks around a tool see it in order, and a short circuit stands in for it'(reopen) {
    const order: string[] = []
    const named = (name: string): Hook => ({
      name,
      beforeTool: ({ call }) => void order.push(`before ${name} ${call.tool}`),
      afterTool: ({ call }) => void order.push(`after ${name} ${call.tool}`),
    })
    const cached: Hook = {
      beforeTool: ({ call }) => (call.tool === 'b' ? shortCircuit('instead') : undefined),
    }
    const tools = ['a', 'b'].map((name) =>
      counted(new Counts(), name, async () => void order.push(`body ${name}`)),
    )
    const thread = new Thread(
      reopen,
      tools,
      async (ctx) => [await ctx.call('a', {}), await ctx.call('b', {})],
      { hooks: [named('1'), named('2'), cached] },
    )
    equal(resultOf(await thread.start()), [undefined, 'instead'], 'values')
    equal(
      order,
      [
        ...['before 1 a', 'before 2 a', 'body a', 'after 2 a', 'after 1 a'],
        ...['before 1 b', 'before 2 b', 'after 2 b', 'after 1 b'],
      ],
      'order',
    )
  },

  async 'tools begin in the order of their calls, however long that takes'(reopen) {
    const begun: unknown[] = []
    const hook: Hook = { beforeTool: ({ call }) => void begun.push(call.args) }
    const any = counted(new Counts(), 'any', async () => 1)
    const thread = new Thread(
      reopen,
      [any],
      async (ctx) => {
        const calls = Array.from({ length: 30 }, (_, n) => ctx.call('any', { n }))
        return (await Promise.all(calls)).length
      },
      { hooks: [hook] },
    )
    equal(resultOf(await thread.start()), 30, 'calls')
    equal(
      begun,
      Array.from({ length: 30 }, (_, n) => ({ n })),
      'order',
    )
  },

  async 'how far a tool is goes to whoever called it, not to the stream'(reopen) {
    const child = calling(async (ctx) => {
      await (ctx.emit as (event: unknown) => Promise<void>)('from the child')
      return 1
    })
    const works = counted(new Counts(), 'works', async (_, ctx) => {
      await ctx.emit({ done: 0.5 })
      await ctx.child(child, {})
      return 'done'
    })
    const heard: unknown[] = []
    const thread = new Thread(reopen, [works], async (ctx) =>
      ctx.call('works', {}, { emit: (data) => void heard.push(data) }),
    )
    const app = await thread.app()
    const events: StreamEvent[] = await all(app.stream({ thread: 't', input: {} }))
    equal(heard, [{ done: 0.5 }, 'from the child'], 'what was heard')
    equal(events.filter(({ kind }) => kind === 'backend').length, 0, 'events of the stream')
  },

  async 'a fork of a thread whose tool runs a graph asks again, from where that graph stood'(
    reopen,
  ) {
    const counts = new Counts()
    const child = graph({
      name: 'two',
      state: { a: field(0), b: field<unknown>(0) },
      nodes: {
        first: () => ({ a: counts.add('first') }),
        second: async (_, ctx) => ({ b: await ctx.interrupt('b?') }),
      },
      edges: { start: 'first', first: 'second', second: 'end' },
    })
    const delegates = counted(counts, 'delegates', (_, ctx) => ctx.child(child, {}))
    const thread = new Thread(reopen, [delegates], async (ctx) => ctx.call('delegates', {}))
    const first = await thread.start()
    const app = await thread.app()
    await app.fork('t', { from: first.checkpoint })
    const forked = await app.run({ thread: 't' })
    equal(counts.of('first'), 1, 'entries of its first node')
    const [mine] = Object.values(openIn(first))
    const [theirs] = Object.values(openIn(forked))
    equal(mine === theirs, false, 'the same question')
    equal(resultOf(await thread.answerOne(7)), { a: 1, b: 7 }, 'what it gives')
  },

  async 'names that are none, and tools of nowhere, are refused as what they are'(reopen) {
    const thread = new Thread(
      reopen,
      [counted(new Counts(), 'known', async () => 1)],
      async (ctx) => {
        const odd = await ctx.callAll(
          ['constructor', '__proto__', 'toString', ''].map((tool) => ({ tool, args: {} })),
        )
        const alone = await ctx.call('constructor', {}).catch((error: unknown) => error)
        return [
          ...odd.map(
            (one) => one.status === 'error' && isHeddleError(one.error, 'tool_usage_error'),
          ),
          isHeddleError(alone, 'tool_usage_error'),
        ]
      },
    )
    equal(resultOf(await thread.start()), [true, true, true, true, true], 'what they end with')
    const none = new Thread(reopen, [], async (ctx) => ctx.call('any', {}))
    await refusedWith('tool_usage_error', async () =>
      (await none.app()).run({ thread: 'n', input: {} }),
    )
  },
}

/** The cases, against stores of the place we run in. */
export function suite(open: Open): readonly Case[] {
  return casesOf('called', open, cases)
}
