import { agent, compile, memory, ModelError, type Message } from 'heddle'
import { manualClock, scriptedModel } from 'heddle/testing'
import { describe, expect, it } from 'vitest'
import { pause } from '../behaviours/portable.ts'
import { eachWay, failure, keepBooks } from '../behaviours/harness.ts'
import { silent } from '../fakes/silent.ts'
import { emitted, noting, read, say, told, wants } from './parts.ts'

keepBooks()

const partial = (messages: unknown): string[] =>
  (messages as readonly Message[]).flatMap((one) =>
    one.role === 'assistant' && one.partial ? [one.text] : [],
  )

describe('a stream that breaks', () => {
  for (const [how, end] of [
    ['fails', { error: new Error('reset') }],
    ['ends too early', { broken: true }],
  ] as const) {
    eachWay(`and ${how} leaves what was said, and no call of it ever runs`, async (open) => {
      const ran: unknown[] = []
      const model = scriptedModel([
        { text: 'I will', calls: [wants('drop')], ...end },
        { text: 'Here I am.' },
        { text: 'You are welcome.' },
      ])
      const story = open(() => agent({ name: 'a', model, tools: [noting('drop', ran)] }))
      const error = await failure(story.start(say('Go')))
      expect(error).toMatchObject({ code: 'model_error' })
      const broken = await story.snapshot()
      expect(broken.status).toBe('error')
      expect(partial(broken.state['messages'])).toEqual(['I will'])
      expect(broken.state['messages']).toHaveLength(2)
      expect((broken.state['messages'] as readonly Message[])[1]).not.toHaveProperty('calls')
      const spoken = emitted(story.passes[0]!).flatMap((one) =>
        'message' in one ? [one.message] : [],
      )
      expect([...new Set(spoken)]).toEqual([
        (broken.state['messages'] as readonly Message[])[1]?.id,
      ])
      // Nobody has spoken since: the model begins anew.
      const again = await story.goOn()
      expect(told(model.requests[1]?.messages)).toEqual(['user: Go'])
      expect(told(again.state['messages'])).toEqual([
        'user: Go',
        'assistant: I will',
        'assistant: Here I am.',
      ])
      await story.start(say('Thanks'))
      // The model that spoke after it hadn't read it.
      expect(told(model.requests[2]?.messages)).toEqual([
        'user: Go',
        'assistant: Here I am.',
        'user: Thanks',
      ])
      expect(ran).toEqual([])
    })
  }

  eachWay('is read as text once somebody has spoken after it', async (open) => {
    const model = scriptedModel([
      { text: 'First', calls: [wants('drop')], broken: true },
      { text: 'Second.' },
    ])
    const story = open(() => agent({ name: 'a', model, tools: [noting('drop', [])] }))
    await failure(story.start(say('Go')))
    await story.start(say('Go on'))
    expect(told(model.requests[1]?.messages)).toEqual([
      'user: Go',
      'assistant: First',
      'user: Go on',
    ])
    expect(model.requests[1]?.messages[1]).not.toHaveProperty('calls')
    model.assertComplete()
  })

  it('leaves nothing if nothing was said', async () => {
    const model = scriptedModel([{ error: new Error('down') }, { text: 'Up.' }])
    const app = compile(agent({ name: 'a', model }), { logger: silent })
    await failure(app.run({ thread: 't', input: say('Go') }))
    expect((await app.state('t'))?.state.messages).toHaveLength(1)
    const { state } = await app.run({ thread: 't' })
    expect(told(state.messages)).toEqual(['user: Go', 'assistant: Up.'])
  })
})

describe('a run that is stopped', () => {
  it('in the middle of a stream keeps what was said, and nothing is said after it', async () => {
    const store = memory()
    const model = scriptedModel([{ text: 'one two three four' }, { text: 'Again.' }])
    const app = compile(agent({ name: 'a', model }), { store, logger: silent })
    const live = app.stream({ thread: 't', input: say('Count') })
    let words = 0
    const reason = new Error('enough')
    const error = await failure(
      (async () => {
        for await (const event of live)
          if (event.kind === 'backend' && event.data.kind === 'text' && ++words === 2)
            live.abort(reason)
      })(),
    )
    expect(error).toBe(reason)
    const stopped = await app.state('t')
    expect(stopped?.status).toBe('cancelled')
    const [said] = partial(stopped?.state.messages)
    expect(['one two', 'one two three']).toContain(said)
    const { state } = await app.run({ thread: 't', input: say('Go on') })
    expect(told(state.messages)).toEqual([
      'user: Count',
      `assistant: ${said}`,
      'user: Go on',
      'assistant: Again.',
    ])
    expect(told(model.requests[1]?.messages)).toEqual(told(state.messages).slice(0, 3))
  })

  for (const durability of ['step', 'exit'] as const)
    for (const at of ['tool_call', 'message'] as const)
      it(`at "${at}", before its message is stored, keeps what was said, and its usage (${durability})`, async () => {
        const ran: unknown[] = []
        const usage = { input: 10, output: 3 }
        const model = scriptedModel([
          { text: 'one two three', calls: [wants('drop')], usage },
          { text: 'Again.' },
        ])
        const options = { durability, logger: silent }
        const app = compile(agent({ name: 'a', model, tools: [noting('drop', ran)] }), options)
        const live = app.stream({ thread: 't', input: say('Count') })
        const reason = new Error('enough')
        const ids = new Set<string>()
        const watching = async (): Promise<void> => {
          for await (const { kind, ...event } of live) {
            const { data } = event as { data?: { kind: string; message?: string } }
            if (kind === 'backend' && data?.message) ids.add(data.message)
            if (kind === 'backend' && data?.kind === at) live.abort(reason)
          }
        }
        expect(await failure(watching())).toBe(reason)
        const said = (await app.state('t'))!.state.messages.slice(1)
        expect(said).toMatchObject([{ text: 'one two three', partial: true, usage }])
        expect(said[0]).not.toHaveProperty('calls')
        expect([...ids]).toEqual(said.map(({ id }) => id))
        for await (const run of app.runs('t')) expect(run.usage).toMatchObject(usage)
        await app.run({ thread: 't', input: say('Go on') })
        expect(told(model.requests[1]?.messages)).toEqual([
          ...['user: Count', 'assistant: one two three', 'user: Go on'],
        ])
        expect(ran).toEqual([])
      })

  it('among its tools keeps the answers that were there, and the others count as cancelled', async () => {
    const ran: unknown[] = []
    const model = scriptedModel([{ calls: [wants('quick'), wants('slow')] }, { text: 'I see.' }])
    const slow = noting('slow', ran, {}, (_, { signal }) => {
      setTimeout(() => live.abort(), 5)
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
      })
    })
    const app = compile(agent({ name: 'a', model, tools: [noting('quick', ran), slow] }), {
      logger: silent,
    })
    const live = app.stream({ thread: 't', input: say('Go') })
    expect(await failure(live.outcome)).toMatchObject({ code: 'cancelled' })
    const stopped = await app.state('t')
    expect(told(stopped?.state.messages).slice(2)).toEqual(['tool: {"did":"quick","n":1}'])
    const { state } = await app.run({ thread: 't', input: say('And?') })
    expect(read(model.requests[1])).toEqual([
      'quick success: {"did":"quick","n":1}',
      'slow error: Cancelled: what came of it is not known',
    ])
    expect(ran).toEqual([
      ['quick', 1],
      ['slow', 1],
    ])
    expect(state.messages.filter(({ role }) => role === 'tool')).toHaveLength(2)
  })

  it('and goes on runs only what had not ended', async () => {
    const ran: unknown[] = []
    const model = scriptedModel([{ calls: [wants('quick'), wants('once')] }, { text: 'Done.' }])
    const once = noting('once', ran, {}, () => {
      if (ran.filter((one) => (one as unknown[])[0] === 'once').length > 1) return 'now'
      setTimeout(() => live.abort(), 5)
      return new Promise(() => {})
    })
    const app = compile(agent({ name: 'a', model, tools: [noting('quick', ran), once] }), {
      logger: silent,
      graceMs: 1,
    })
    const live = app.stream({ thread: 't', input: say('Go') })
    await failure(live.outcome)
    const { state } = await app.run({ thread: 't' })
    expect(ran.map((one) => (one as unknown[])[0])).toEqual(['quick', 'once', 'once'])
    expect(read(model.requests[1])).toEqual([
      'quick success: {"did":"quick","n":1}',
      'once success: now',
    ])
    expect(state.messages).toHaveLength(5)
  })
})

it('a model that is asked again begins a message anew, and only one is kept', async () => {
  const model = scriptedModel([
    { text: 'One and', error: new Error('reset') },
    { text: 'One and two.' },
  ])
  const patient = agent({ name: 'a', model, retry: { attempts: 2, delay: 0 } })
  const app = compile(patient, { logger: silent })
  const live = app.stream({ thread: 't', input: say('Count') })
  const events = []
  for await (const event of live) events.push(event)
  const { state } = await live.outcome
  expect(told(state.messages)).toEqual(['user: Count', 'assistant: One and two.'])
  const ids = emitted(events).flatMap((one) => ('message' in one ? [one.message] : []))
  expect(new Set(ids).size).toBe(2)
  const history = []
  for await (const { source } of app.history('t')) history.push(source)
  expect(history).toEqual(['step', 'input'])
})

describe('an agent that asks its model again', () => {
  const asked = async (
    error: Error,
    more: { readonly when?: (error: unknown) => boolean } = {},
  ): Promise<number> => {
    const model = scriptedModel([{ error }, { text: 'Here' }])
    const patient = agent({ name: 'a', model, retry: { attempts: 2, delay: 0, ...more } })
    await compile(patient, { logger: silent })
      .run({ thread: 't', input: say('Hi') })
      .catch(() => {})
    return model.requests.length
  }
  const failed = (status?: number): ModelError =>
    new ModelError('Cannot ask', { provider: 'p', model: 'm', ...(status && { status }) })

  it('does so for what may pass', async () => {
    for (const status of [undefined, 408, 409, 425, 429, 500, 503, 529])
      expect([status, await asked(failed(status))]).toEqual([status, 2])
    expect(await asked(new TypeError('fetch failed'))).toBe(2)
  })

  it('does not for a request that is refused as it is, nor against `when`', async () => {
    for (const status of [400, 401, 403, 404, 413, 422])
      expect([status, await asked(failed(status))]).toEqual([status, 1])
    expect(await asked(failed(500), { when: () => false })).toBe(1)
  })

  it('does not for mistakes of its own', async () => {
    let picked = 0
    const patient = agent({
      name: 'a',
      retry: { attempts: 3, delay: 0 },
      model: () => {
        picked++
        throw new Error('no such model')
      },
    })
    await expect(
      compile(patient, { logger: silent }).run({ thread: 't', input: say('Hi') }),
    ).rejects.toMatchObject({
      code: 'no_model',
      message: 'Cannot ask the model of agent "a": its function failed: no such model',
      details: { agent: 'a' },
      cause: new Error('no such model'),
    })
    expect(picked).toBe(1)
  })

  it('waits as long as the provider says, whatever its own delays are', async () => {
    const clock = manualClock()
    const late = new ModelError('Cannot ask', {
      ...{ provider: 'p', model: 'm', status: 429, retryAfterMs: 45_000 },
    })
    const model = scriptedModel([{ error: late }, { text: 'Here' }], { clock })
    const patient = agent({ name: 'a', model, retry: { attempts: 2, maxDelay: 1000 } })
    const running = compile(patient, { clock, logger: silent, random: () => 0.5 }).run({
      ...{ thread: 't', input: say('Hi') },
    })
    // The lease has one timer, the next attempt another.
    while (clock.pending < 2) await pause(1)
    await clock.advance(44_999)
    expect(model.requests).toHaveLength(1)
    await clock.advance(1)
    expect((await running).status).toBe('success')
  })

  it('is refused with a rule that makes no sense', () => {
    const model = scriptedModel([])
    expect(() => agent({ name: 'a', model, retry: { attempts: 0 } })).toThrow(RangeError)
    expect(() => agent({ name: 'a', model, retry: {} as never })).toThrow(RangeError)
  })
})
