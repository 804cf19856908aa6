// What is on record of a step that new input drops: the model is told of it, and none of it runs again.
import { agent, compile, memory, type Store } from 'heddle'
import { manualClock, scriptedModel, withFaults } from 'heddle/testing'
import { describe, expect, it, test } from 'vitest'
import { everyWay, failure, keepBooks } from '../behaviours/harness.ts'
import { silent } from '../fakes/silent.ts'
import { noting, read, say, told, wants } from './parts.ts'

keepBooks()

const IDS = expect.stringMatching(/^msg_/)

everyWay(
  'a pause that is cancelled: what ran is told, and that the others never did',
  async (open) => {
    const ran: unknown[] = []
    const model = scriptedModel([
      { calls: [wants('mail'), wants('drop'), wants('fail')] },
      { text: 'Mailed.' },
      { text: 'As I said.' },
    ])
    const fail = noting('fail', ran, {}, () => {
      throw new Error('no line')
    })
    const tools = [noting('mail', ran), noting('drop', ran, { approve: true }), fail]
    const story = open(() => agent({ name: 'a', model, tools }))
    expect((await story.start(say('Go'))).status).toBe('interrupted')
    await story.app.cancel('t1', 'never mind')
    const { state } = await story.app.run({ thread: 't1', input: say('And?') })
    const known = [
      'tool: {"did":"mail","n":1}',
      'tool: Cancelled: it never ran',
      'tool: Failed: no line',
    ]
    expect(told(state['messages'])).toEqual([
      ...['user: Go', 'assistant: ', ...known, 'user: And?', 'assistant: Mailed.'],
    ])
    expect(told(model.requests[1]?.messages)).toEqual(told(state['messages']).slice(0, -1))
    const ids = (state['messages'] as { id: string }[]).map(({ id }) => id)
    expect(ids).toEqual(ids.map(() => IDS))
    expect(new Set(ids).size).toBe(ids.length)
    await story.app.run({ thread: 't1', input: say('Again?') })
    expect(told(model.requests[2]?.messages).slice(0, 7)).toEqual(told(state['messages']))
    expect(ran).toEqual([
      ['mail', 1],
      ['fail', 1],
    ])
  },
)

for (const durability of ['step', 'exit'] as const) {
  test(`an approved call that a stop found running: nobody knows (${durability})`, async () => {
    const model = scriptedModel([{ calls: [wants('drop'), wants('mail')] }, { text: 'Hm.' }])
    const drop = noting('drop', [], { approve: true }, (_, { signal }) => {
      setTimeout(() => controller.abort(new Error('enough')))
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
      })
    })
    const controller = new AbortController()
    const options = { durability, logger: silent }
    const app = compile(agent({ name: 'a', model, tools: [drop, noting('mail', [])] }), options)
    await app.run({ thread: 't', input: say('Go') })
    const { signal } = controller
    await failure(app.run({ thread: 't', answer: { approve: true }, signal }))
    await app.run({ thread: 't', input: say('And?') })
    expect(read(model.requests[1])).toEqual([
      'drop error: Cancelled: what came of it is not known',
      'mail success: {"did":"mail","n":1}',
    ])
  })
}

describe('a process that died among its tools', () => {
  it('new input finds what was stored of them, wherever it died', async () => {
    for (let at = 3; ; at++) {
      const clock = manualClock()
      const ran: unknown[] = []
      const model = scriptedModel(({ messages }) =>
        messages.length === 1 ? { calls: [wants('one'), wants('two')] } : { text: 'I see.' },
      )
      const tools = [noting('one', ran), noting('two', ran)]
      const open = (store: Store) =>
        compile(agent({ name: 'a', model, tools, concurrency: 1 }), {
          ...{ store, clock, logger: silent },
        })
      const faulty = withFaults(memory(), [{ at, crash: 'after' }])
      await open(faulty)
        .run({ thread: 't', input: say('Go') })
        .catch(() => {})
      if (!faulty.crashed) break
      await clock.advance(61_000)
      const store = faulty.restart()
      const app = open(store)
      const before = ran.length
      const asked = model.requests.length
      const { state } = await app.run({ thread: 't', input: say('And?') })
      if (asked !== 1) continue
      expect(ran).toHaveLength(before)
      const stored = faulty.log.filter(({ keys }) => keys.some((key) => key.includes('/w/'))).length
      const answers = read(model.requests.at(-1))
      expect(answers.filter((one) => one.includes('success'))).toHaveLength(Math.min(stored, 2))
      expect(new Set(state.messages.map(({ id }) => id)).size).toBe(state.messages.length)
    }
  })
})

it('what deep tools changed counts, a hand-over does not', async () => {
  const calls = [
    { tool: 'write_file', args: { path: 'a', text: 'A' } },
    { tool: 'transfer_to_desk', args: {} },
    wants('drop'),
  ]
  const model = scriptedModel([{ calls }, { text: 'I see.' }])
  const tools = [noting('drop', [], { approve: true })]
  const spec = { name: 'a', model, tools, handoffs: { desk: 'always' }, deep: true }
  const app = compile(agent(spec))
  await app.run({ thread: 't', input: say('Go') })
  await app.cancel('t')
  const { state } = await app.run({ thread: 't', input: say('And?') })
  expect([state.handoff, 'files' in state && state.files]).toEqual([undefined, { a: 'A' }])
  expect(read(model.requests[1])).toEqual([
    'write_file success: Wrote "a": 1 line',
    'transfer_to_desk error: Cancelled: nobody was handed over to',
    'drop error: Cancelled: it never ran',
  ])
})

it('what a node returned counts, though its step never closed', async () => {
  const model = scriptedModel([{ calls: [wants('mail')] }, { text: 'Mailed.' }])
  const ran: unknown[] = []
  let breaks = true
  const app = compile(
    agent({
      ...{ name: 'a', model, tools: [noting('mail', ran)] },
      stopWhen() {
        if (breaks) throw new Error('broke')
        return false
      },
    }),
    { logger: silent },
  )
  await failure(app.run({ thread: 't', input: say('Go') }))
  breaks = false
  const { state } = await app.run({ thread: 't', input: say('And?') })
  expect(told(state.messages)).toEqual([
    ...['user: Go', 'assistant: ', 'tool: {"did":"mail","n":1}', 'user: And?'],
    'assistant: Mailed.',
  ])
  expect(told(model.requests[1]?.messages)).toEqual(told(state.messages).slice(0, -1))
  expect(ran).toHaveLength(1)
})

it('input from an older checkpoint has nothing of it', async () => {
  const model = scriptedModel([
    { text: 'Hello.' },
    { calls: [wants('mail'), wants('drop')] },
    { text: 'Anew.' },
  ])
  const tools = [noting('mail', []), noting('drop', [], { approve: true })]
  const app = compile(agent({ name: 'a', model, tools }))
  const { checkpoint } = await app
    .run({ thread: 't', input: say('Hi') })
    .then(async () => (await app.state('t'))!)
  await app.run({ thread: 't', input: say('Go') })
  await app.cancel('t')
  const { state } = await app.run({ thread: 't', input: say('Else'), from: checkpoint })
  expect(told(state.messages)).toEqual([
    ...['user: Hi', 'assistant: Hello.', 'user: Else', 'assistant: Anew.'],
  ])
})
