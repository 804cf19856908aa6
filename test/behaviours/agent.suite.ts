// A whole agent (B09, B32, B36) on every store of every place. Every pass is a new process; and a journey with an approval in
// the middle is told with whatever failing at whatever operation.
import {
  agent,
  approval,
  compile,
  tool,
  type CompiledGraph,
  type Message,
  type Store,
  type Tool,
} from 'heddle'
import { scriptedModel, type Fault, type Operation, type ScriptedModel } from 'heddle/testing'
import { z } from 'zod'
import { noting, read, say, short, told as said, wants } from '../agent/parts.ts'
import { silent } from '../fakes/silent.ts'
import { of } from './approvals-parts.ts'
import { atEveryOperation, LEASE, machine, told, type Way } from './faults-tools.ts'
import { casesOf, equal, refusedWith, type Case, type Cases, type Open } from './portable.ts'

const WAYS: readonly Way[] = ['crash before', 'crash after', 'lost reply', 'error']

const cases: Cases = {
  async 'what finished beside an approval stays finished, and each call has one answer (B09, B36)'(
    reopen,
  ) {
    const ran: unknown[] = []
    const model = scriptedModel([
      { text: 'One moment.', calls: [wants('send', 1), wants('list', 2), wants('drop', 3)] },
      { text: 'Sent.', usage: { input: 3, output: 2 } },
    ])
    const tools = [
      noting('send', ran, { approve: true }),
      noting('list', ran),
      noting('drop', ran, { approve: true }),
    ]
    const open = async (): Promise<CompiledGraph> => desk(await reopen(), model, tools)
    const live = (await open()).stream({ thread: 't', input: say('Send it'), user: 'ann' })
    const events = []
    for await (const event of live) events.push(event)
    equal(short(events).at(-1), 'result list success', 'what is told before the pause')
    const asked = await (await open()).interruptions()
    const answers = {
      ...approval.reply(of(asked, 'send'), { approve: true, args: { n: 7 } }),
      ...approval.reply(of(asked, 'drop'), { approve: false, reason: 'no' }),
    }
    await refusedWith('approval_pending', async () =>
      (await open()).run({ thread: 't', input: say('Hello?') }),
    )
    const { state, usage } = await (await open()).run({ thread: 't', answers, user: 'bob' })
    equal(
      ran,
      [
        ['list', 2],
        ['send', 7],
      ],
      'effects',
    )
    equal(
      read(model.requests[1]),
      [
        'send success: {"did":"send","n":7}',
        'list success: {"did":"list","n":2}',
        'drop denied: Denied: no',
      ],
      'what the model reads',
    )
    equal(said(state['messages']).at(-1), 'assistant: Sent.', 'the last message')
    equal(usage.total, 5, 'tokens of the run')
    equal(model.requests.length, 2, 'requests')
  },

  async 'ids that a provider repeats bind no approval to another call (B32)'(reopen) {
    const ran: unknown[] = []
    const model = scriptedModel([
      { calls: [wants('send', 1, '0')] },
      { calls: [wants('drop', 2, '0')] },
      { text: 'Both.' },
    ])
    const tools = ['send', 'drop'].map((name) => noting(name, ran, { approve: true }))
    const open = async (): Promise<CompiledGraph> => desk(await reopen(), model, tools)
    const ids = []
    await (await open()).run({ thread: 't', input: say('Go') })
    for (const name of ['send', 'drop']) {
      const asked = of(await (await open()).interruptions(), name)
      ids.push(asked.id)
      await (await open()).run({ thread: 't', answers: approval.reply(asked, { approve: true }) })
    }
    equal(new Set(ids).size, 2, 'ids of approvals')
    equal(
      ran,
      [
        ['send', 1],
        ['drop', 2],
      ],
      'effects',
    )
  },

  async 'a stream that breaks leaves what was said, and no call of it runs'(reopen) {
    const ran: unknown[] = []
    const model = scriptedModel([
      { text: 'I will', calls: [wants('drop')], broken: true },
      { text: 'Here.' },
    ])
    const open = async (): Promise<CompiledGraph> =>
      desk(await reopen(), model, [noting('drop', ran)])
    await refusedWith('model_error', async () =>
      (await open()).run({ thread: 't', input: say('Go') }),
    )
    const broken = (await (await open()).state('t'))!
    equal(said(broken.state['messages']), ['user: Go', 'assistant: I will'], 'what is left')
    equal((broken.state['messages'] as readonly Message[])[1]?.role, 'assistant', 'whose it is')
    const { state } = await (await open()).run({ thread: 't', input: say('And?') })
    const whole = ['user: Go', 'assistant: I will', 'user: And?', 'assistant: Here.']
    equal(said(state['messages']), whole, 'the history')
    equal(said(model.requests[1]?.messages), whole.slice(0, 3), 'what the model reads')
    equal(ran, [], 'effects')
  },

  async 'an agent inside a tool pauses the thread, and is not asked again'(reopen) {
    const inner = scriptedModel([{ calls: [wants('send')] }, { text: 'It is sent.' }])
    const outer = scriptedModel([{ calls: [{ tool: 'ask' }] }, { text: 'Done.' }])
    const ran: unknown[] = []
    const open = async (): Promise<CompiledGraph> => {
      const helper = agent({
        name: 'helper',
        model: inner,
        tools: [noting('send', ran, { approve: true })],
      })
      const ask = tool({
        name: 'ask',
        description: 'Asks a helper',
        input: z.object({}),
        run: async (_, ctx) => (await ctx.child(helper, say('Send'))).messages.at(-1)?.text,
      })
      return desk(await reopen(), outer, [ask])
    }
    const { status } = await (await open()).run({ thread: 't', input: say('Go') })
    equal(status, 'interrupted', 'how it stands')
    const { state } = await (await open()).run({ thread: 't', answer: { approve: true } })
    equal(read(outer.requests[1]), ['ask success: It is sent.'], 'what the outer model reads')
    equal(said(state['messages']).at(-1), 'assistant: Done.', 'the last message')
    equal([inner.requests.length, outer.requests.length, ran.length], [2, 2, 1], 'how often')
  },

  ...Object.fromEntries(
    WAYS.map((way) => [
      `each message once, each call under one id, in spite of: ${way}`,
      async (reopen) => atEveryOperation(await reopen(), way, journey),
    ]),
  ),
}

/** The cases, against stores of the place we run in. */
export function suite(open: Open): readonly Case[] {
  return casesOf('agents', open, cases)
}

const desk = (store: Store, model: ScriptedModel, tools: readonly Tool[]): CompiledGraph =>
  compile(agent({ name: 'desk', model, tools }), { store, logger: silent })

/** Two turns with tools, one of which waits for a person, and the answer. */
async function journey(
  store: Store,
  name: string,
  faults: readonly Fault[],
): Promise<readonly Operation[]> {
  const runs = new Map<string, number>()
  const count = (does: string) => (n: number, ctx: { readonly callId: string }) => {
    runs.set(ctx.callId, (runs.get(ctx.callId) ?? 0) + 1)
    return `${does} ${n}`
  }
  const model = scriptedModel((request) => {
    const answers = read(request).length
    if (answers === 0) return { text: 'First.', calls: [wants('send'), wants('list')] }
    return answers === 2 ? { text: 'Then.', calls: [wants('list', 2)] } : { text: 'Done.' }
  })
  const tools = [
    noting('send', [], { approve: true }, count('sent')),
    noting('list', [], {}, count('listed')),
  ]
  const whole = agent({ name, model, tools })
  const here = machine(store, whole, faults)
  const { store: faulty } = here
  const look = machine(store, whole).app
  let crashed = false
  for (let round = 0; (await look.state(name))?.status !== 'success'; round++) {
    if (round === 10) throw new Error("it doesn't end")
    const now = await look.state(name)
    const asks = now?.status === 'interrupted'
    // Its owner may be dead; a thread that was only taken is absent.
    if (round > 0 && !asks) here.later(LEASE + 1)
    const request = asks ? { answer: { approve: true } } : now ? {} : { input: say('Go') }
    await told(here.app, { thread: name, ...request })
    if (!here.store.crashed) continue
    crashed = true
    here.later(0)
  }
  const log = [...faulty.log]
  const { state } = (await here.app.state(name))!
  const messages = state['messages'] as readonly Message[]
  equal(
    said(messages),
    [
      'user: Go',
      'assistant: First.',
      'tool: sent 1',
      'tool: listed 1',
      'assistant: Then.',
      'tool: listed 2',
      'assistant: Done.',
    ],
    'the history',
  )
  equal(new Set(messages.map(({ id }) => id)).size, 7, 'ids')
  const answers = messages.flatMap((one) => (one.role === 'tool' ? [one.call] : []))
  equal([...runs.keys()].toSorted(), answers.toSorted(), 'calls that ran')
  const most = crashed ? 2 : 1
  if ([...runs.values()].some((times) => times > most)) throw new Error('A call ran too often')
  if (model.requests.length > 3 + (crashed ? 1 : 0)) throw new Error('It was asked too often')
  await here.app.delete(name)
  return log
}
