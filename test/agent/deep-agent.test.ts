// A whole deep agent: what it plans and keeps is in its state, and tasks are done by agents inside it.
import { agent, compile, memory, ToolUsageError, type AgentEvent, type CompiledGraph } from 'heddle'
import { scriptedModel } from 'heddle/testing'
import { expect, it } from 'vitest'
import { eachWay, keepBooks } from '../behaviours/harness.ts'
import { emitted, noting, read, say, told, wants } from './parts.ts'

keepBooks()

const DEEP = ['write_todos', 'list_files', 'read_file', 'write_file', 'edit_file', 'task']
const call = (tool: string, args: object): { tool: string; args: unknown } => ({ tool, args })

eachWay('what a deep agent plans and keeps is in its state, turn by turn', async (open) => {
  const ran: unknown[] = []
  const model = scriptedModel([
    {
      calls: [
        call('write_todos', { todos: [{ text: 'look', status: 'doing' }] }),
        call('write_file', { path: 'a', text: 'one' }),
        wants('look'),
      ],
    },
    {
      calls: [
        call('edit_file', { path: 'a', old: 'one', new: 'two' }),
        call('read_file', { path: 'a' }),
      ],
    },
    { calls: [call('read_file', { path: 'a' })] },
    { text: 'Done.' },
    { calls: [call('list_files', {})] },
    { text: 'One file.' },
  ])
  const story = open(() =>
    agent({
      name: 'a',
      model,
      instructions: 'Be brief.',
      tools: [noting('look', ran, { approve: true })],
      deep: true,
    }),
  )
  const asked = await story.start(say('Go'))
  // What ran beside the approval changes the state with the rest of its turn.
  expect(asked.state['files']).toBeUndefined()
  const first = await story.answerOne({ approve: true })
  expect(first.state['todos']).toEqual([{ text: 'look', status: 'doing' }])
  expect(first.state['files']).toEqual({ a: 'two' })
  expect(read(model.requests[3])).toEqual([
    'write_todos success: The list has 1 to-dos, 0 of them done',
    'write_file success: Wrote "a": 1 line',
    'look success: {"did":"look","n":1}',
    'edit_file success: Changed "a"',
    'read_file success: one',
    'read_file success: two',
  ])
  expect(model.requests[0]?.instructions).toMatch(/^Be brief\.\n\nYou can plan/)
  expect(model.requests[0]?.tools?.map(({ name }) => name)).toEqual(['look', ...DEEP])
  const second = await story.start(say('Files?'))
  expect(told(second.state['messages']).at(-2)).toBe('tool: a (1 line)')
  expect(second.state['files']).toEqual({ a: 'two' })
})

eachWay(
  'a task is done by another, with the tools, the model and the files of the first',
  async (open) => {
    const ran: unknown[] = []
    const model = scriptedModel([
      { calls: [call('write_file', { path: 'plan', text: 'look' })] },
      { calls: [call('task', { description: 'Look, as planned' })] },
      { calls: [call('read_file', { path: 'plan' }), wants('look')] },
      { calls: [call('write_file', { path: 'found', text: '3' })], usage: { input: 1, output: 1 } },
      { text: 'It is 3.' },
      { text: 'It is done.', usage: { input: 5, output: 5 } },
    ])
    const tools = [noting('look', ran, { approve: true })]
    const story = open(() =>
      agent({ name: 'a', model, tools, deep: true, handoffs: { b: 'never' } }),
    )
    const asked = await story.start(say('Go'))
    expect(asked.open).toMatchObject([{ agent: 'a.task', payload: { tool: 'look' } }])
    const { state, events, outcome } = await story.answerOne({ approve: true })
    expect(ran).toEqual([['look', 1]])
    expect(told(state['messages'])).toEqual([
      'user: Go',
      'assistant: ',
      'tool: Wrote "plan": 1 line',
      'assistant: ',
      'tool: It is 3.',
      'assistant: It is done.',
    ])
    expect(state['files']).toEqual({ plan: 'look', found: '3' })
    expect(told(model.requests[2]?.messages)).toEqual(['user: Look, as planned'])
    // Who does a task hands nothing on.
    expect(model.requests[2]?.tools?.map(({ name }) => name)).toEqual([
      'look',
      ...DEEP.slice(0, -1),
    ])
    const inner = emitted(events).flatMap((one) =>
      one.kind === 'tool_progress' ? [(one.data as AgentEvent).kind] : [],
    )
    expect(inner.filter((kind) => kind === 'message')).toHaveLength(2)
    expect(outcome.usage).toMatchObject({ input: 6, output: 6, total: 12, requests: 3 })
  },
)

it('a run may make an agent deep, and its model does the tasks, too', async () => {
  const own = scriptedModel([])
  const model = scriptedModel([
    { calls: [call('task', { description: 'Say 3' })] },
    { text: '3' },
    { text: 'Three.' },
  ])
  const app = compile(agent({ name: 'a', model: own }), { store: memory() })
  const { state } = await app.run({ thread: 't', input: say('Go'), model, deep: true })
  expect(told(state.messages)).toContain('tool: 3')
  expect(state).not.toHaveProperty('files')
  model.assertComplete()
  const plain = scriptedModel([{ text: 'Hi.' }])
  await app.run({ thread: 't', input: say('Hi'), model: plain })
  expect(plain.requests[0]).not.toHaveProperty('tools')
  expect(plain.requests[0]).not.toHaveProperty('instructions')
})

it('what a deep run has written counts when one that is not deep goes on', async () => {
  const model = scriptedModel([
    { calls: [call('write_file', { path: 'a', text: 'T' }), wants('look')] },
    { text: 'Done.' },
  ])
  const app = compile(agent({ name: 'a', model, tools: [noting('look', [], { approve: true })] }))
  await app.run({ thread: 't', input: say('Go'), deep: true })
  const { state } = await app.run({ thread: 't', answer: { approve: true } })
  expect(read(model.requests[1])[0]).toBe('write_file success: Wrote "a": 1 line')
  expect(state).toHaveProperty('files', { a: 'T' })
})

it('a tool of its own that is named as one of deep agents is returns what it returns', async () => {
  const model = scriptedModel([{ calls: [wants('write_file')] }, { text: 'Done.' }])
  const own = noting('write_file', [], {}, () => ({ path: 'a', text: 'T' }))
  const app = compile(agent({ name: 'a', model, tools: [own] }))
  const { state } = await app.run({ thread: 't', input: say('Go') })
  expect(read(model.requests[1])).toEqual(['write_file success: {"path":"a","text":"T"}'])
  expect(state).not.toHaveProperty('files')
})

it('a tool that is named as one of deep agents is is refused', async () => {
  const model = scriptedModel([])
  const tools = [noting('task', [])]
  const make = (deep: boolean): CompiledGraph => compile(agent({ name: 'a', model, tools, deep }))
  expect(() => make(true)).toThrow(ToolUsageError)
  expect(() => make(true)).toThrow('agent "a": its tool "task"')
  const late = make(false).run({ thread: 't', input: say('Go'), deep: true })
  await expect(late).rejects.toThrow('agent "a": there are two tools "task"')
})
