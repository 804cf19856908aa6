// B09, B32 and B36 through a whole agent.
import {
  agent,
  approval,
  ApprovalDenied,
  approvals,
  compile,
  shortCircuit,
  type Message,
} from 'heddle'
import { scriptedModel } from 'heddle/testing'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { of } from '../behaviours/approvals-parts.ts'
import { eachWay, failure, keepBooks } from '../behaviours/harness.ts'
import { silent } from '../fakes/silent.ts'
import { emitted, noting, read, say, short, told, wants } from './parts.ts'

keepBooks()

const answers = (messages: unknown): string[] =>
  (messages as readonly Message[]).flatMap((one) => (one.role === 'tool' ? [one.call] : []))

eachWay('B09: what finished beside a pause is neither repeated nor lost', async (open) => {
  const ran: unknown[] = []
  const model = scriptedModel([
    { calls: [wants('del'), wants('list'), wants('mail')] },
    { text: 'All done.' },
  ])
  const story = open(() =>
    agent({
      name: 'a',
      model,
      tools: [noting('del', ran, { approve: true }), noting('list', ran), noting('mail', ran)],
    }),
  )
  const first = await story.start(say('Clean up'))
  expect(first.status).toBe('interrupted')
  expect(ran).toEqual([
    ['list', 1],
    ['mail', 1],
  ])
  // They are told of before the pause is.
  expect(short(first.events).slice(-2)).toEqual(['result list success', 'result mail success'])
  expect(of(first.open, 'del').agent).toBe('a')
  const second = await story.answerOne({ approve: true })
  expect(ran).toEqual([
    ['list', 1],
    ['mail', 1],
    ['del', 1],
  ])
  expect(model.requests).toHaveLength(2)
  expect(read(model.requests[1])).toEqual([
    'del success: {"did":"del","n":1}',
    'list success: {"did":"list","n":1}',
    'mail success: {"did":"mail","n":1}',
  ])
  const calls = (second.state['messages'] as readonly Message[])[1]
  const ids = calls?.role === 'assistant' ? calls.calls?.map(({ id }) => id) : undefined
  expect(answers(second.state['messages'])).toEqual(ids)
  expect(short(second.events).slice(0, 3).toSorted()).toEqual([
    'replayed result list success',
    'replayed result mail success',
    'result del success',
  ])
})

eachWay('B09: of three that wait, the answer to one enters no other', async (open) => {
  const entered: unknown[] = []
  const calls = [wants('job', 1), wants('job', 2), wants('job', 3)]
  const model = scriptedModel([{ calls }, { text: 'All done.' }])
  const job = noting('job', entered, {}, (n, ctx) => ctx.interrupt(n))
  const story = open(() => agent({ name: 'a', model, tools: [job] }))
  const first = await story.start(say('Go'))
  expect(first.open.map(({ payload }) => payload)).toEqual([1, 2, 3])
  const [one, two, three] = first.open.map(({ id }) => id)
  await story.answer({ [two!]: 'two' })
  expect(entered).toHaveLength(4)
  const last = await story.answer({ [one!]: 'one', [three!]: 'three' })
  expect(entered).toHaveLength(6)
  expect(told(last.state['messages']).slice(2)).toEqual([
    'tool: one',
    'tool: two',
    'tool: three',
    'assistant: All done.',
  ])
  expect(model.requests).toHaveLength(2)
})

eachWay('B32: ids that a provider repeats from turn to turn keep approvals apart', async (open) => {
  const ran: unknown[] = []
  const model = scriptedModel([
    { calls: [wants('a', 1, '0')] },
    { calls: [wants('b', 1, '0')] },
    { text: 'Both.' },
  ])
  const tools = ['a', 'b'].map((name) => noting(name, ran, { approve: true }))
  const story = open(() => agent({ name: 'both', model, tools }))
  const first = await story.start(say('Go'))
  const [a] = first.open
  const second = await story.answer({ [a!.id]: { approve: true } })
  expect(ran).toEqual([['a', 1]])
  const [b] = second.open
  expect(b!.id).not.toBe(a!.id)
  expect(b!.id).toMatch(/^apr_/)
  const third = await story.answer({ [b!.id]: { approve: true } })
  expect(third.status).toBe('success')
  expect(ran).toEqual([
    ['a', 1],
    ['b', 1],
  ])
  expect(new Set(answers(third.state['messages'])).size).toBe(2)
})

eachWay(
  'B32: ids that a provider repeats in a batch, or leaves out, are told apart',
  async (open) => {
    const ran: unknown[] = []
    const calls = [wants('x', 1, 'x'), wants('x', 2, 'x'), wants('x', 3, ''), wants('ask', 4, 'x')]
    const model = scriptedModel([{ calls }, { text: 'Done.' }])
    const tools = [noting('x', ran), noting('ask', ran, { approve: true })]
    const story = open(() => agent({ name: 'a', model, tools }))
    const asked = await story.start(say('Go'))
    const batch = (asked.state['messages'] as readonly Message[])[1]
    const { state } = await story.answerOne({ approve: true })
    expect(ran).toHaveLength(4)
    // The same message before and after the pause, and so the same ids.
    expect((state['messages'] as readonly Message[])[1]).toEqual(batch)
    const made = batch?.role === 'assistant' ? (batch.calls ?? []) : []
    expect(made.every(({ id }) => id.startsWith('call_'))).toBe(true)
    expect(answers(state['messages'])).toEqual(made.map(({ id }) => id))
    expect(new Set(made.map(({ id }) => id)).size).toBe(4)
    expect(made.map(({ wireId }) => wireId).slice(0, 2)).toEqual(['x', 'x-2'])
  },
)

eachWay('B36: a denial is an answer of its own, and what was denied never runs', async (open) => {
  const ran: unknown[] = []
  const model = scriptedModel([{ calls: [wants('read'), wants('send')] }, { text: 'Then not.' }])
  const failed: unknown[] = []
  const hook = { onToolError: (_: unknown, error: unknown): void => void failed.push(error) }
  const story = open(
    () =>
      agent({
        name: 'a',
        model,
        tools: [noting('read', ran), noting('send', ran, { approve: true })],
      }),
    { hooks: [hook] },
  )
  const { open: asked } = await story.start(say('Send it'))
  const [send] = asked
  await story.refuses({ input: say('Hello?') }, 'approval_pending')
  const no = { approve: false, reason: 'not now' }
  const { status, state, events } = await story.answer({ [send!.id]: no }, { user: 'bob' })
  expect(status).toBe('success')
  expect(ran).toEqual([['read', 1]])
  expect(read(model.requests[1])).toEqual([
    'read success: {"did":"read","n":1}',
    'send denied: Denied: not now',
  ])
  expect(told(state['messages']).at(-1)).toBe('assistant: Then not.')
  expect(emitted(events).find((one) => one.kind === 'tool_result' && one.tool === 'send')).toEqual(
    expect.objectContaining({ status: 'denied', value: 'Denied: not now' }),
  )
  expect(failed).toEqual([])
  const [record] = await story.app.interruptions({ thread: 't1', status: 'answered' })
  expect(record).toMatchObject({ answer: no, answeredBy: 'bob', agent: 'a' })
  await story.refuses({ answers: { [send!.id]: no } }, 'nothing_to_resume')
  await story.refuses({ answers: { [send!.id]: { approve: true } } }, 'nothing_to_resume')
  expect(ran).toHaveLength(1)
})

eachWay('B36: one of a batch is approved with other arguments, one is denied', async (open) => {
  const ran: unknown[] = []
  const model = scriptedModel([
    { calls: [wants('send', 1), wants('drop', 2)] },
    { text: 'One of two.' },
  ])
  const tools = ['send', 'drop'].map((name) => noting(name, ran, { approve: true }))
  const story = open(() => agent({ name: 'a', model, tools }))
  const { open: asked } = await story.start(say('Both'))
  await story.answer({
    ...approval.reply(of(asked, 'send'), { approve: true, args: { n: 7 } }),
    ...approval.reply(of(asked, 'drop'), { approve: false }),
  })
  expect(ran).toEqual([['send', 7]])
  expect(read(model.requests[1])).toEqual([
    'send success: {"did":"send","n":7}',
    'drop denied: Denied',
  ])
})

it('B36: a policy and a hook deny as a person does', async () => {
  const reason = 'never'
  const deny = approvals({ when: () => true, decide: () => ({ approve: false, reason }) })
  const hook = {
    beforeTool: () => shortCircuit(new ApprovalDenied('No', { tool: 'send', reason })),
  }
  const reads = []
  for (const hooks of [[deny], [hook]]) {
    const model = scriptedModel([{ calls: [wants('send')] }, { text: 'No, then.' }])
    const app = compile(agent({ name: 'a', model, tools: [noting('send', [])] }), {
      hooks,
      logger: silent,
    })
    const { state } = await app.run({ thread: 't', input: say('Send') })
    reads.push([read(model.requests[1]), state.messages[2]?.role])
  }
  expect(reads).toEqual([
    [['send denied: Denied: never'], 'tool'],
    [['send denied: Denied: never'], 'tool'],
  ])
})

eachWay('a bad answer leaves the question open, and the next one is taken', async (open) => {
  const model = scriptedModel([{ calls: [wants('ask')] }, { text: 'Thanks.' }])
  const ask = noting('ask', [], {}, (_, ctx) => ctx.interrupt('age?', { schema: z.number() }))
  const story = open(() => agent({ name: 'a', model, tools: [ask] }))
  await story.start(say('Go'))
  expect(await failure(story.answerOne('old'))).toMatchObject({ code: 'schema_error' })
  const { state } = await story.answerOne(42)
  expect(told(state['messages'])).toContain('tool: 42')
  expect(model.requests).toHaveLength(2)
})

it('calls run so many at a time', async () => {
  let most = 0
  let now = 0
  const model = scriptedModel([{ calls: [1, 2, 3, 4, 5].map((n) => wants('work', n)) }, {}])
  const work = noting('work', [], {}, async () => {
    most = Math.max(most, ++now)
    await new Promise((resolve) => setTimeout(resolve, 2))
    now--
  })
  const app = compile(agent({ name: 'a', model, tools: [work], concurrency: 2 }))
  await app.run({ thread: 't', input: say('Go') })
  expect(most).toBe(2)
})
