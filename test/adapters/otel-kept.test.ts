// What tracing must not do: change a run, or keep what is over.
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { trace, type Span, type Tracer } from '@opentelemetry/api'
import { BasicTracerProvider, type SpanProcessor } from '@opentelemetry/sdk-trace-base'
import { agent, compile, createExecutor, each, field, graph, memory, scoped } from 'heddle'
import { otel } from 'heddle/otel'
import { scriptedModel } from 'heddle/testing'
import { expect, it } from 'vitest'
import { silent } from '../fakes/silent.ts'
import { does, traced, tree } from './otel.tools.ts'

const say = (text: string) => ({ messages: [{ role: 'user' as const, text }] })

/** Runs that end in each way there is: well, with a question, with a wait, with an error, cancelled. */
function fates() {
  const model = scriptedModel(() => ({ calls: [] }))
  return graph({
    name: 'fates',
    state: { fate: field<string>('') },
    nodes: {
      async meet({ fate }, ctx) {
        await ctx.generate(model, { messages: 'Well?' })
        await ctx.call(greet, {})
        if (fate === 'ask') await ctx.interrupt('Go on?')
        if (fate === 'wait') await ctx.sleep(60_000)
        if (fate === 'fail') throw new RangeError('Bad luck')
        return {}
      },
    },
    edges: { start: 'meet', meet: 'end' },
  })
}
const greet = does('greet', () => 'Hello')

it('nothing of 1,000 runs is left open, and nothing but the names of some that may go on is kept', async () => {
  const seen: WeakRef<object>[] = []
  let [open, most] = [0, 0]
  const watch: SpanProcessor = {
    onStart(span) {
      seen.push(new WeakRef(span))
      most = Math.max(most, ++open)
    },
    onEnd: () => void open--,
    shutdown: async () => {},
    forceFlush: async () => {},
  }
  const provider = new BasicTracerProvider({ spanProcessors: [watch] })
  const tracing = otel({ tracer: provider.getTracer('test') })
  const options = { logger: silent, hooks: [tracing], monitor: tracing }
  await scoped(async (scope) => {
    // Of an app with a scope of its own no run ends with its scope.
    const apps = [compile(fates(), { ...options, store: memory() })]
    apps.push(compile(fates(), { ...options, store: memory(), scope }))
    for (let n = 0; n < 1000; n++) {
      const fate = ['end', 'ask', 'wait', 'fail'][n % 4]!
      const app = apps[fate === 'wait' ? 0 : n % 2]!
      const stop = new AbortController()
      await app
        .run({ thread: `t${n}`, input: { fate }, signal: stop.signal })
        .catch((error: unknown) => expect(error).toBeInstanceOf(RangeError))
    }
    expect(open).toBe(0)
  })
  expect(seen.length).toBe(3000)
  expect(most).toBeLessThan(5)
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let n = 0; n < 3; n++) {
    await turn()
    collect()
  }
  expect(seen.filter((ref) => ref.deref()).length).toBeLessThan(10)
})

it('a tracer or a span that throws changes nothing', async () => {
  const fail = (): never => {
    throw new Error('The tracer is broken')
  }
  const broken = new Proxy({}, { get: () => fail }) as Span
  const late = new Proxy({} as Span, {
    get: (_, name) => (name === 'end' || name === 'setAttributes' ? fail : () => late),
  })
  for (const startSpan of [fail, () => broken, () => late, () => undefined as never]) {
    const tracer = { startSpan, startActiveSpan: fail } as Tracer
    const tracing = otel({ tracer, content: true })
    const logged: string[] = []
    const logger = { ...silent, warn: (text: string) => void logged.push(text) }
    const model = scriptedModel([{ calls: [{ tool: 'greet' }] }, { text: 'Done' }])
    const app = compile(agent({ name: 'a', model, tools: [greet] }), {
      store: memory(),
      logger,
      hooks: [tracing],
      monitor: tracing,
    })
    const outcome = await app.run({ thread: 't', input: say('Go') })
    expect([outcome.status, logged]).toEqual(['success', []])
    model.assertComplete()
  }
})

it('a hook alone traces as well, for it ends with the scope of the run', async () => {
  const { app, spans } = traced(fates(), { monitor: undefined as never })
  await app.run({ thread: 't', input: { fate: 'end' } })
  await expect(app.run({ thread: 'u', input: { fate: 'fail' } })).rejects.toThrow(RangeError)
  // How they ended nobody has told it.
  const line = ['invoke_workflow fates', '  chat script', '  execute_tool greet']
  const found = spans()
  expect(tree(found)).toEqual([...line, ...line])
  expect(found.filter(({ attributes }) => 'heddle.run.status' in attributes)).toEqual([])
})

it('items of an each that run beside each other have agents of their own', async () => {
  const helper = agent({ name: 'helper', model: scriptedModel(() => ({ text: 'Yes' })), tools: [] })
  const fan = graph({
    name: 'fan',
    state: {},
    nodes: {
      split: () => ({}),
      async work(_, ctx) {
        await ctx.child(helper, say('Go'), { emit: () => undefined })
        return {}
      },
    },
    edges: {
      start: 'split',
      split: { to: ['work'], pick: () => each('work', [1, 2, 3]) },
      work: 'end',
    },
  })
  const { app, spans } = traced(fan)
  await app.run({ thread: 't', input: {} })
  const helped = ['  invoke_agent helper', '    chat script']
  expect(tree(spans())).toEqual(['invoke_workflow fan', ...helped, ...helped, ...helped])
})

it('calls outside of threads have spans of their own', async () => {
  const spans: string[] = []
  const tracing = traced(fates())
  const executor = createExecutor({ tools: [greet], hooks: [tracing.trace], logger: silent })
  await executor.run(greet, {})
  spans.push(...tree(tracing.spans()))
  expect(spans).toEqual(['execute_tool greet'])
})

it('without a tracer the global one counts, when it comes', async () => {
  const tracing = otel()
  const names: string[] = []
  const watch: SpanProcessor = {
    onStart: (span) => void names.push(`${span.instrumentationScope.name}: ${span.name}`),
    onEnd: () => {},
    shutdown: async () => {},
    forceFlush: async () => {},
  }
  const app = compile(fates(), { store: memory(), hooks: [tracing], monitor: tracing })
  await app.run({ thread: 't', input: {} })
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [watch] }))
  try {
    await app.run({ thread: 'u', input: {} })
  } finally {
    trace.disable()
  }
  expect(names.toSorted()).toEqual(
    ['chat script', 'execute_tool greet', 'invoke_workflow'].map((name) => `heddle: ${name}`),
  )
})

it('a wrong option is refused at once', () => {
  for (const options of [{ contents: true }, { content: 1 }, { tracer: {} }])
    expect(() => otel(options as never)).toThrow(TypeError)
})
