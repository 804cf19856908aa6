import { SpanKind } from '@opentelemetry/api'
import { agent, field, graph, ModelError } from 'heddle'
import { manualClock, scriptedModel } from 'heddle/testing'
import { describe, expect, it } from 'vitest'
import { pause } from '../behaviours/portable.ts'
import { does, traced, tree } from './otel.tools.ts'

const say = (text: string) => ({ messages: [{ role: 'user' as const, text }] })

/** An agent that reads and sends, where sending asks first. */
function desk() {
  const model = scriptedModel([
    { calls: [{ tool: 'send' }, { tool: 'read' }], usage: { input: 30, output: 4, cacheRead: 20 } },
    { text: 'Sent', usage: { input: 40, output: 2, reasoning: 1 } },
  ])
  const tools = [does('send', () => 'sent', { approve: true }), does('read', () => 'a letter')]
  return agent({ name: 'desk', model, tools, settings: { temperature: 0.5, maxTokens: 99 } })
}

describe('a run', () => {
  it('is one trace; what waits for an answer is paused, and what was done before is not there again', async () => {
    const { app, spans } = traced(desk())
    await app.run({ thread: 't1', input: say('Answer it') })
    const first = spans()
    expect(tree(first)).toEqual([
      'invoke_workflow desk (interrupted)',
      '  invoke_agent desk',
      '    chat script',
      '    execute_tool read',
      '    execute_tool send (paused)',
    ])
    await app.run({ thread: 't1', answer: { approve: true } })
    const second = spans()
    expect(tree(second)).toEqual([
      'invoke_workflow desk',
      '  invoke_agent desk',
      '    execute_tool send',
      '    chat script',
    ])
    const resumed = second.find(({ name }) => name === 'invoke_agent desk')!
    expect(resumed.attributes).toMatchObject({
      'gen_ai.provider.name': 'scripted',
      'gen_ai.request.model': 'script',
    })
    const traces = [first, second].map((each) => new Set(each.map(traceOf)))
    expect(traces.map(({ size }) => size)).toEqual([1, 1])
    expect(traces[0]).not.toEqual(traces[1])
    const [before, after] = [root(first), root(second)]
    expect(after.links.map(({ context }) => context)).toEqual([before.spanContext()])
    expect(after.attributes['heddle.run.continues']).toBe(before.attributes['heddle.run.id'])
    expect([before.links, before.status.code]).toEqual([[], 0])
  })

  it('says what the conventions ask for, and nothing that was not reported', async () => {
    const { app, spans } = traced(desk())
    await app.run({ thread: 't1', input: say('Answer it') })
    const [chat, read, , helper, run] = spans()
    expect(run!.attributes).toEqual({
      'gen_ai.operation.name': 'invoke_workflow',
      'gen_ai.workflow.name': 'desk',
      'gen_ai.conversation.id': 't1',
      'heddle.run.id': expect.stringMatching(/^run_/),
      'heddle.run.status': 'interrupted',
    })
    expect(helper!.attributes).toEqual({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'desk',
      'gen_ai.conversation.id': 't1',
      'gen_ai.provider.name': 'scripted',
      'gen_ai.request.model': 'script',
    })
    expect(chat!.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'scripted',
      'gen_ai.request.model': 'script',
      'gen_ai.request.stream': true,
      'gen_ai.request.temperature': 0.5,
      'gen_ai.request.max_tokens': 99,
      'gen_ai.conversation.id': 't1',
      'gen_ai.response.finish_reasons': ['tool_call'],
      'gen_ai.usage.input_tokens': 30,
      'gen_ai.usage.output_tokens': 4,
      'gen_ai.usage.cache_read.input_tokens': 20,
    })
    expect(read!.attributes).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'read',
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.call.id': expect.stringMatching(/^call_/),
      'gen_ai.tool.description': 'Does read',
    })
    expect([chat, read, helper, run].map((span) => span!.kind)).toEqual([
      SpanKind.CLIENT,
      SpanKind.INTERNAL,
      SpanKind.INTERNAL,
      SpanKind.INTERNAL,
    ])
  })

  it('that is a new turn is linked to none', async () => {
    const model = scriptedModel(() => ({ text: 'Yes' }))
    const { app, spans } = traced(agent({ name: 'a', model }))
    await app.run({ thread: 't1', input: say('One') })
    await app.run({ thread: 't1', input: say('Two') })
    const roots = spans().filter(({ name }) => name === 'invoke_workflow a')
    expect(roots.map(({ links }) => links.length)).toEqual([0, 0])
  })

  it('has no spans for requests that are replayed', async () => {
    const model = scriptedModel([{ text: 'Why?' }, { text: 'I see' }])
    const asks = graph({
      name: 'asks',
      state: { said: field<string>('') },
      nodes: {
        async ask(_, ctx) {
          const { text } = await ctx.generate(model, { messages: 'Ask' })
          const answer = await ctx.interrupt(text)
          const { text: said } = await ctx.generate(model, { messages: String(answer) })
          return { said }
        },
      },
      edges: { start: 'ask', ask: 'end' },
    })
    const { app, spans } = traced(asks)
    await app.run({ thread: 't1', input: {} })
    expect(tree(spans())).toEqual(['invoke_workflow asks (interrupted)', '  chat script'])
    await app.run({ thread: 't1', answer: 'Because' })
    expect(tree(spans())).toEqual(['invoke_workflow asks', '  chat script'])
    model.assertComplete()
  })

  it('that waits for a clock, or is cancelled, ends too', async () => {
    const clock = manualClock()
    const naps = graph({
      name: 'naps',
      state: {},
      nodes: {
        nap: (_, ctx) => ctx.sleep(1000).then(() => ({})),
        hang: (_, ctx) =>
          new Promise((_resolve, reject) => {
            ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))
            hung()
          }),
      },
      edges: { start: 'nap', nap: 'hang', hang: 'end' },
    })
    let hung = (): void => {}
    const hanging = new Promise<void>((resolve) => (hung = resolve))
    const { app, spans } = traced(naps, { clock })
    await app.run({ thread: 't1', input: {} })
    expect(tree(spans())).toEqual(['invoke_workflow naps (waiting)'])
    await clock.advance(1000)
    const ticked = app.tick()
    await hanging
    await app.cancel('t1')
    await ticked
    const [cancelled] = spans()
    expect(tree([cancelled!])).toEqual(['invoke_workflow naps (cancelled)'])
    expect(cancelled!.links).toHaveLength(1)
  })
})

describe('what fails', () => {
  it('is marked by its kind, and its message is nowhere', async () => {
    const details = { provider: 'p', model: 'm', status: 503 }
    const error = new ModelError('Cannot ask: SECRET', details)
    const model = scriptedModel([{ calls: [{ tool: 'break' }] }, { text: 'SECRET half', error }])
    const tools = [
      does('break', () => {
        throw new RangeError('SECRET')
      }),
    ]
    const { app, spans } = traced(agent({ name: 'a', model, tools, instructions: 'SECRET' }))
    await expect(app.run({ thread: 't1', input: say('SECRET') })).rejects.toBe(error)
    const found = spans()
    expect(tree(found)).toEqual([
      'invoke_workflow a (error ModelError ERROR)',
      '  invoke_agent a (503 ERROR)',
      '    chat script',
      '    execute_tool break (RangeError ERROR)',
      '    chat script (503 ERROR)',
    ])
    expect(JSON.stringify(found.map(plain))).not.toContain('SECRET')
  })

  it('before the first node ends its trace', async () => {
    const broken = graph({
      name: 'broken',
      state: {},
      nodes: { never: () => ({}) },
      edges: {
        start: {
          to: ['never'],
          pick() {
            throw new TypeError('No way')
          },
        },
        never: 'end',
      },
    })
    const { app, spans } = traced(broken)
    await expect(app.run({ thread: 't1', input: {} })).rejects.toThrow()
    expect(spans().map(({ status }) => status.code)).toEqual([2])
  })

  it('a call that is denied never was', async () => {
    const { app, spans } = traced(desk())
    await app.run({ thread: 't1', input: say('Answer it') })
    spans()
    await app.run({ thread: 't1', answer: { approve: false, reason: 'no' } })
    expect(tree(spans())).toEqual([
      'invoke_workflow desk',
      '  invoke_agent desk',
      '    chat script',
    ])
  })
})

describe('agents in agents', () => {
  it('a sub-agent that is a tool runs in its call, one that is a node in its graph', async () => {
    const helper = agent({
      name: 'helper',
      model: scriptedModel(() => ({ text: 'Found' }), { model: 'small' }),
      tools: [],
    })
    const model = scriptedModel([{ calls: [{ tool: 'look' }] }, { text: 'It is there' }])
    const look = does('look', (_, ctx) => ctx.child(helper, say('Look')))
    const boss = agent({ name: 'boss', model, tools: [look] })
    const office = graph({
      name: 'office',
      state: { round: field<number>(0) },
      nodes: {
        async work(_, ctx) {
          await ctx.child(boss, say('Find it'), { emit: () => undefined })
          return {}
        },
        async check({ round }, ctx) {
          // Spans are put in order by their milliseconds.
          await pause(2)
          await ctx.child(helper, say('Check it'), { emit: () => undefined })
          return { round: round + 1 }
        },
      },
      edges: {
        start: 'work',
        work: 'check',
        check: { to: ['check', 'end'], pick: ({ round }) => (round < 2 ? 'check' : 'end') },
      },
    })
    const { app, spans } = traced(office)
    await app.run({ thread: 't1', input: {} })
    expect(tree(spans())).toEqual([
      'invoke_workflow office',
      '  invoke_agent boss',
      '    chat script',
      '    execute_tool look',
      '      invoke_agent helper',
      '        chat small',
      '    chat script',
      '  invoke_agent helper',
      '    chat small',
      '  invoke_agent helper',
      '    chat small',
    ])
  })
})

it('content is told of only where it is asked for', async () => {
  const run = async (content: boolean) => {
    const model = scriptedModel([
      { reasoning: 'Hm', calls: [{ tool: 'read', args: { page: 'SECRET 1' } }] },
      { text: 'SECRET 2' },
    ])
    const tools = [does('read', () => ({ letter: 'SECRET 3' }))]
    const secretary = agent({ name: 'a', model, tools, instructions: 'SECRET 4' })
    const { app, spans } = traced(secretary, { content })
    await app.run({ thread: 't1', input: say('SECRET 5') })
    return spans()
  }
  expect(JSON.stringify((await run(false)).map(plain))).not.toContain('SECRET')
  const [chat, read, last] = (await run(true)).map(({ attributes }) => attributes)
  expect(JSON.parse(String(chat!['gen_ai.system_instructions']))).toEqual([
    { type: 'text', content: 'SECRET 4' },
  ])
  expect(JSON.parse(String(chat!['gen_ai.tool.definitions']))).toMatchObject([
    { type: 'function', name: 'read', description: 'Does read' },
  ])
  expect(read!['gen_ai.tool.call.arguments']).toBe('{"page":"SECRET 1"}')
  expect(read!['gen_ai.tool.call.result']).toBe('{"letter":"SECRET 3"}')
  const id = read!['gen_ai.tool.call.id']
  const call = { type: 'tool_call', id, name: 'read', arguments: { page: 'SECRET 1' } }
  const response = expect.stringContaining('SECRET 3')
  expect(JSON.parse(String(last!['gen_ai.input.messages']))).toEqual([
    { role: 'user', parts: [{ type: 'text', content: 'SECRET 5' }] },
    { role: 'assistant', parts: [{ type: 'reasoning', content: 'Hm' }, call] },
    { role: 'tool', parts: [{ type: 'tool_call_response', id, response }] },
  ])
  expect(JSON.parse(String(last!['gen_ai.output.messages']))).toEqual([
    { role: 'assistant', parts: [{ type: 'text', content: 'SECRET 2' }], finish_reason: 'stop' },
  ])
})

const plain = ({ name, attributes, events, status }: ReturnType<typeof root>) => ({
  name,
  attributes,
  events,
  status,
})
type Spans = ReturnType<ReturnType<typeof traced>['spans']>
const traceOf = (span: Spans[number]): string => span.spanContext().traceId
const root = (spans: Spans): Spans[number] =>
  spans.find(({ parentSpanContext }) => !parentSpanContext)!
