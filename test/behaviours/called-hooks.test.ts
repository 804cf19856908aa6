// What hooks around a tool ask, store and call in a thread is kept apart from what the tool does (SPEC 2, 6; B40).
import { expect, test } from 'vitest'
import {
  ApprovalDenied,
  compile,
  createExecutor,
  field,
  graph,
  memory,
  type Context,
  type Hook,
  type RunContext,
  type Tool,
} from 'heddle'
import { manualClock } from 'heddle/testing'
import { silent } from '../fakes/silent.ts'
import { calling, counted, Counts, openIn, resultOf, Thread } from './calls-parts.ts'
import { keepBooks } from './harness.ts'

keepBooks()

const ask: Hook = {
  async afterTool(inv, value) {
    return `${String(value)}/${String(await inv.ctx.interrupt('ok?'))}`
  },
}

test.each([
  ['asks', (ctx: RunContext) => ctx.interrupt('keep it?'), { answer: 'yes' }],
  ['sleeps', (ctx: RunContext) => ctx.sleep(1_000), {}],
  [
    'calls a tool that asks',
    (ctx: RunContext) => ctx.call('asks', {}),
    { answer: { approve: true } },
  ],
])('a hook after a tool that %s does not have the tool run again', async (_, pauses, more) => {
  const clock = manualClock()
  const counts = new Counts()
  const tools = [
    counted(counts, 'pay', () => counts.of('pay')),
    counted(counts, 'asks', () => 'done', { approve: true }),
  ]
  const hook: Hook = {
    async afterTool({ spec, ctx }) {
      if (spec.name === 'pay') await pauses(ctx)
    },
  }
  const work = calling((ctx) => ctx.call('pay', {}))
  const options = { store: memory(), tools, hooks: [hook], clock, logger: silent }
  await compile(work, options).run({ thread: 't', input: {} })
  await clock.advance(1_000)
  const end = await compile(work, options).run({ thread: 't', ...more })
  expect([resultOf(end), counts.of('pay')]).toEqual([1, 1])
})

test('the hook gets the answer to its own question, the tool that to its own', async () => {
  const counts = new Counts()
  const thread = threadOn([counted(counts, 't', (_, ctx) => ctx.interrupt('ok?'))], [ask])
  openIn(await thread.start())
  openIn(await thread.answerOne('BODY'))
  expect(resultOf(await thread.answerOne('HOOK'))).toBe('BODY/HOOK')
  expect(counts.of('t')).toBe(2)
})

test('a tool that is tried again asks for itself, whatever a hook before it was told', async () => {
  const counts = new Counts()
  const flaky = counted(
    counts,
    't',
    (_, ctx) => {
      if (counts.of('t') === 1) throw new Error('flaky')
      return ctx.interrupt('ok?')
    },
    { retry: { attempts: 3, delay: 1 } },
  )
  const hook: Hook = {
    async beforeTool(inv) {
      await inv.ctx.interrupt('ok?')
    },
  }
  const thread = threadOn([flaky], [hook])
  openIn(await thread.start())
  openIn(await thread.answerOne('HOOK'))
  expect(resultOf(await thread.answerOne('BODY'))).toBe('BODY')
})

test('what a hook calls and stores after a failure is its own, not what the tool called', async () => {
  const counts = new Counts()
  const said: string[] = []
  const tools = [
    counted(counts, 't', async (_, ctx) => {
      await ctx.call('log', { at: 'body' })
      return ctx.once('k', () => 'body')
    }),
    counted(counts, 'log', ({ at }) => {
      said.push(at)
      return at
    }),
  ]
  let first = true
  const hook: Hook = {
    async beforeTool({ spec, ctx }) {
      if (spec.name === 't') await ctx.once('k', () => 'hook')
    },
    async afterTool({ spec, ctx }, value) {
      if (spec.name !== 't') return undefined
      if (first) {
        first = false
        throw new Error('net')
      }
      return [value, await ctx.call('log', { at: 'after' })]
    },
  }
  const thread = threadOn(tools, [hook])
  await thread.start().catch(() => {})
  expect(resultOf(await thread.goOn())).toEqual(['body', 'after'])
  expect([said, counts.of('t')]).toEqual([['body', 'after'], 1])
})

test('a hook that failed once may ask something else when it is asked again', async () => {
  let first = true
  const hook: Hook = {
    async afterTool({ ctx }, value) {
      if (first) {
        first = false
        throw new Error('network')
      }
      return [value, await ctx.interrupt('hook?')]
    },
  }
  const thread = threadOn([counted(new Counts(), 't', (_, ctx) => ctx.interrupt('body?'))], [hook])
  await thread.start()
  await thread.answerOne('B').catch(() => {})
  openIn(await thread.goOn())
  expect(resultOf(await thread.answerOne('H'))).toEqual(['B', 'H'])
})

test('a denial that a hook throws is thrown on as it is, inside a thread and outside', async () => {
  const mine = new ApprovalDenied('not on Sundays', { tool: 't', reason: 'sunday' })
  const hook: Hook = {
    beforeTool() {
      throw mine
    },
  }
  const tools = [counted(new Counts(), 't', () => 1)]
  const seen: unknown[] = []
  const thread = threadOn(tools, [hook], async (ctx) => {
    seen.push(await ctx.call('t', {}).catch((error: unknown) => error))
    const [one] = await ctx.callAll([{ id: 'c', tool: 't', args: {} }])
    return one
  })
  const denied = { id: 'c', tool: 't', status: 'denied', reason: 'sunday' }
  expect(resultOf(await thread.start())).toEqual(denied)
  const executor = createExecutor({ tools, hooks: [hook], logger: silent })
  seen.push(await executor.run('t', {}).catch((error: unknown) => error))
  expect(seen.map((one) => one === mine)).toEqual([true, true])
  expect(await executor.runAll([{ id: 'c', tool: 't', args: {} }])).toEqual([denied])
})

test('hooks of one request count for what is recorded', async () => {
  const store = memory()
  const tools = [counted(new Counts(), 't', () => 'orig')]
  const work = calling(async (ctx) => {
    const v = await ctx.call('t', {})
    return [v, await ctx.interrupt({ v })]
  })
  const app = compile(work, { store, tools, logger: silent })
  await app.run({ thread: 't', input: {}, hooks: [{ afterTool: () => 'changed' }] })
  expect(resultOf(await app.run({ thread: 't', answer: 1 }))).toEqual(['changed', 1])
})

test('a thread whose tool runs a graph that waits goes over to another store', async () => {
  const child = graph({
    name: 'kid',
    state: { r: field<unknown>('') },
    nodes: { k: async (_, ctx) => ({ r: await ctx.interrupt('q') }) },
    edges: { start: 'k', k: 'end' },
  })
  const tools = [counted(new Counts(), 'c', async (_, ctx) => (await ctx.child(child, {})).r)]
  const work = calling((ctx) => ctx.call('c', {}))
  const app = compile(work, { tools })
  await app.run({ thread: 't', input: {} })
  const other = compile(work, { tools })
  await other.importThread(await app.exportThread('t'), { to: 'u' })
  expect(resultOf(await other.run({ thread: 'u', answer: 'moved' }))).toBe('moved')
})

test('an id that a provider gave is never taken for one of ours', async () => {
  const ids: string[] = []
  const wires: unknown[] = []
  const hook: Hook = { beforeTool: ({ call }) => void wires.push(call.wireId) }
  const tools = [counted(new Counts(), 'a', (_, ctx) => void ids.push(ctx.callId))]
  const work = calling(async (ctx) => {
    const [one, two] = await ctx.callAll([
      { id: 'call_0', tool: 'a', args: {} },
      { id: 'call_0', tool: 'a', args: { x: 1 } },
    ])
    return [one?.id, two?.id]
  })
  const app = compile(work, { tools, hooks: [hook] })
  for (const thread of ['t', 'u']) {
    const end = await app.run({ thread, input: {} })
    expect(resultOf(end)).toEqual(['call_0', 'call_0-2'])
  }
  expect(new Set(ids).size).toBe(4)
  expect(wires).toEqual(['call_0', 'call_0', 'call_0', 'call_0'])
})

function threadOn(
  tools: readonly Tool[],
  hooks: readonly Hook[],
  work = (ctx: Context): unknown => ctx.call('t', {}),
): Thread {
  const store = memory()
  return new Thread(async () => store, tools, work, { hooks, logger: silent })
}
