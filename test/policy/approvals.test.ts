// The policy that asks, by the executor and in threads: which calls, decided by whom, and what happens when a rule breaks.
import {
  approvals,
  compile,
  createExecutor,
  guardrail,
  memory,
  type ApprovalsOptions,
  type Call,
  type CallResult,
  type CompiledGraph,
  type Hook,
  type Logger,
  type ToolInvocation,
} from 'heddle'
import { describe, expect, it } from 'vitest'
import { batch, desk, Effects, outcomeOf, wants } from '../behaviours/approvals-parts.ts'
import { failure } from '../behaviours/harness.ts'
import { silent } from '../fakes/silent.ts'
import { keepBooks } from '../behaviours/books.ts'

keepBooks()

const always = { when: () => true } as const

describe('options', () => {
  it.each([
    [{}, 'when is not a function'],
    [{ when: true }, 'when is not a function'],
    [{ ...always, decide: {} }, 'decide is not a function'],
    [{ ...always, expires: 0 }, 'expires is not a positive number of milliseconds'],
    [{ ...always, expires: Infinity }, 'expires is not a positive number of milliseconds'],
    [{ ...always, shadow: 'yes' }, 'shadow is not true or false'],
    [{ ...always, who: 'ann' }, '"who" is not known here'],
    [undefined, 'what is given is undefined'],
  ])('%j make no sense', (options, why) => {
    expect(() => approvals(options as never)).toThrow(`Cannot make approvals: ${why}`)
  })
})

describe('outside a thread', () => {
  it('a call that only a person could approve ends in approval_pending, and its body is not entered', async () => {
    const { run, effects } = outside([approvals({ when: ({ call }) => call.tool === 'read' })])
    expect(await failure(run('read'))).toMatchObject({ code: 'approval_pending' })
    expect(await failure(run('send'))).toMatchObject({ code: 'approval_pending' })
    expect(effects.ran).toEqual([])
  })

  it('a rule may decide: approve, approve with other arguments, or deny', async () => {
    const decide = (args: unknown): Hook =>
      approvals({
        ...always,
        decide: () => ({ approve: true, ...(args !== undefined && { args }) }),
      })
    expect(await outside([decide(undefined)]).run('send')).toEqual({ did: 'send', n: 1 })
    expect(await outside([decide({ n: 5 })]).run('send')).toEqual({ did: 'send', n: 5 })
    expect(await failure(outside([decide({ n: 'many' })]).run('send'))).toMatchObject({
      code: 'schema_error',
    })
    const deny = approvals({ ...always, decide: async () => ({ approve: false, reason: 'no' }) })
    const { run, effects } = outside([deny])
    expect(await failure(run('read'))).toMatchObject({
      code: 'approval_denied',
      details: { tool: 'read', reason: 'no' },
    })
    expect(effects.ran).toEqual([])
  })

  it('what a rule decides with `remember` stands for the rest of a thread, as far as the executor knows it', async () => {
    let asked = 0
    const rule = approvals({
      ...always,
      decide() {
        asked++
        return { approve: true, remember: true }
      },
    })
    const { executor } = outside([rule])
    for (const thread of ['t', 't', 'u']) await executor.run('read', { n: 1 }, { thread })
    expect(asked).toBe(2)
    for (let i = 0; i < 2; i++) await executor.run('read', { n: 1 })
    expect(asked).toBe(4)
  })
})

describe('one decision holds for a call', () => {
  it('of two policies and the tool itself the first to decide has decided', async () => {
    const asked: string[] = []
    const rule = (name: string): Hook =>
      approvals({
        ...always,
        decide({ tool }) {
          asked.push(`${name} ${tool}`)
          return { approve: true }
        },
      })
    const { run, effects } = outside([rule('a'), rule('b')])
    await run('send')
    expect(asked).toEqual(['a send'])
    expect(effects.ran).toEqual([['send', 1]])
  })

  it('rules see what goes in: the arguments that a guardrail put there before', async () => {
    const seen: unknown[] = []
    const less = guardrail({ name: 'less', input: () => ({ replace: { n: 2 } }) })
    const rule = approvals({
      when: ({ call }) => seen.push(['when', call.args]) > 0,
      decide: ({ args }) => {
        seen.push(['decide', args])
        return { approve: true }
      },
    })
    expect(await outside([less, rule]).run('read')).toEqual({ did: 'read', n: 2 })
    expect(seen).toEqual([
      ['when', { n: 2 }],
      ['decide', { n: 2 }],
    ])
  })

  it('a guardrail behind it sees what a person or a rule has edited', async () => {
    const seen: unknown[] = []
    const rule = approvals({ ...always, decide: () => ({ approve: true, args: { n: 3 } }) })
    const look = guardrail({
      name: 'look',
      input: (inv) => void seen.push((inv as ToolInvocation).call.args),
    })
    await outside([rule, look]).run('read')
    expect(seen).toEqual([{ n: 3 }])
  })
})

describe('what fails is closed', () => {
  const boom = new Error('boom')
  const broken: Readonly<Record<string, ApprovalsOptions>> = {
    'a `when` that throws': {
      when() {
        throw boom
      },
    },
    'a `when` that rejects': { when: () => Promise.reject(boom) },
    'a `decide` that throws': {
      ...always,
      decide() {
        throw boom
      },
    },
  }
  for (const [name, spec] of Object.entries(broken)) {
    it(`${name} fails the call with what it threw; nothing runs`, async () => {
      const { run, effects } = outside([approvals(spec)])
      expect(await failure(run('read'))).toBe(boom)
      expect(effects.ran).toEqual([])
    })
  }

  it.each([true, {}, { approve: 'yes' }, { approve: false, args: {} }])(
    'a rule that decides %j has decided nothing: the call fails',
    async (answer) => {
      const { run, effects } = outside([approvals({ ...always, decide: () => answer as never })])
      expect(await failure(run('read'))).toBeInstanceOf(TypeError)
      expect(effects.ran).toEqual([])
    },
  )

  it('a `when` that is not sure asks', async () => {
    for (const answer of [undefined, null, 0, '']) {
      const { run, effects } = outside([approvals({ when: () => answer as never })])
      expect(await failure(run('read'))).toMatchObject({ code: 'approval_pending' })
      expect(effects.ran).toEqual([])
    }
    const { run } = outside([approvals({ when: () => false })])
    expect(await run('read')).toEqual({ did: 'read', n: 1 })
  })

  it('what nobody can read is asked about, whatever rules would say, and no approval stands for it', async () => {
    const asked: string[] = []
    const rule = approvals({
      when: ({ call }) => asked.push(`when ${call.raw}`) < 0,
      decide: ({ call }) => {
        asked.push(`decide ${call}`)
        return { approve: true, remember: true }
      },
    })
    const { executor, effects } = outside([rule])
    const bad: Call = { id: 'c1', tool: 'read', raw: '{"n":' }
    const [result] = await executor.runAll([bad], { thread: 't' })
    expect(result).toMatchObject({ status: 'error', error: { code: 'approval_pending' } })
    expect(asked).toEqual([])
    expect(effects.ran).toEqual([])
  })

  it('a person may mend in a thread what nobody could read', async () => {
    const effects = new Effects()
    const calls = [{ id: 'c1', tool: 'read', raw: '{"n":' } as Call, wants('c2', 'read', 2)]
    const options = {
      tools: desk(effects),
      hooks: [approvals({ when: () => false })],
      logger: silent,
    }
    for (const [answer, told] of [
      [{ approve: true, args: { n: 1 } }, 'read: {"did":"read","n":1}'],
      [{ approve: true }, 'read: failed, SchemaError'],
      [{ approve: false, reason: 'what?' }, 'read: denied, what?'],
    ] as const) {
      const app = compile(
        batch(() => calls),
        options,
      )
      const asked = await app.run({ thread: 't', input: {} })
      expect(asked).toMatchObject({
        status: 'interrupted',
        interruptions: [{ payload: { tool: 'read', args: '{"n":' } }],
      })
      const { state } = await app.run({ thread: 't', answer })
      expect((state.results as readonly CallResult[]).map(outcomeOf)).toEqual([
        told,
        'read: {"did":"read","n":2}',
      ])
    }
  })

  it('an approval that stands does not stand for what nobody can read; a denial does', async () => {
    for (const approve of [true, false]) {
      const effects = new Effects()
      let calls: readonly Call[] = [wants('c1', 'read', 1)]
      const options = { tools: desk(effects), hooks: [approvals(always)], logger: silent }
      const app = compile(
        batch(() => calls),
        options,
      )
      await app.run({ thread: 't', input: {} })
      await app.run({ thread: 't', answer: { approve, remember: true } })
      calls = [{ id: 'c1', tool: 'read', raw: '{"n":' }]
      const { status } = await app.run({ thread: 't', input: {} })
      expect(status).toBe(approve ? 'interrupted' : 'success')
      expect(effects.of('read')).toBe(approve ? 1 : 0)
    }
  })
})

describe('on record', () => {
  it('what a rule decided is an answered interruption, by the name of the policy', async () => {
    const { app, effects } = inside([
      approvals({
        when: ({ call }) => call.tool !== 'read',
        decide: ({ tool }) =>
          tool === 'send' ? { approve: true, args: { n: 9 } } : { approve: false, reason: 'never' },
      }),
    ])
    const calls = [wants('c1', 'read'), wants('c2', 'send'), wants('c3', 'drop')]
    const { state, status } = await app(calls).run({ thread: 't', input: {}, user: 'ann' })
    expect(status).toBe('success')
    expect(state.read).toEqual([
      'read: {"did":"read","n":1}',
      'send: {"did":"send","n":9}',
      'drop: denied, never',
    ])
    const answered = await app(calls).interruptions({ thread: 't', status: 'answered' })
    const told = answered.map(({ payload, answer, answeredBy, user }) => {
      const { tool, args } = payload as { tool: string; args: unknown }
      return { tool, args, answer, answeredBy, user }
    })
    expect(told.toSorted((a, b) => (a.tool < b.tool ? -1 : 1))).toEqual([
      {
        tool: 'drop',
        args: { n: 1 },
        answer: { approve: false, reason: 'never' },
        answeredBy: 'approvals',
        user: 'ann',
      },
      {
        tool: 'send',
        args: { n: 1 },
        answer: { approve: true, args: { n: 9 } },
        answeredBy: 'approvals',
        user: 'ann',
      },
    ])
    expect(await app(calls).interruptions({ thread: 't' })).toEqual([])
    expect(effects.counts).toEqual({ read: 1, send: 1, drop: 0 })
    // They go along, and are pruned with what they belong to.
    await app(calls).exportThread('t')
    await app(calls).run({ thread: 't', input: {} })
    await app(calls).prune('t', { keepLast: 3 })
    const left = await app(calls).interruptions({ thread: 't', status: 'answered' })
    expect(left.length).toBe(2)
    expect(left.some(({ id }) => answered.some((one) => one.id === id))).toBe(false)
  })
})

describe('what stops a call is logged, as a warning', () => {
  const told = (outcome: string) => [
    'Policy "approvals" stopped a call of a tool',
    { policy: 'approvals', outcome, tool: 'read', call: expect.stringMatching(/^call_/) },
  ]

  it('where nobody can be asked, and where the rule decides', async () => {
    const lines: unknown[] = []
    const logger: Logger = { ...silent, warn: (...line) => void lines.push(line) }
    for (const more of [{}, { decide: () => ({ approve: false }) as const }]) {
      const hooks = [approvals({ ...always, ...more })]
      const executor = createExecutor({ tools: desk(new Effects()), hooks, logger })
      await executor.runAll([wants('c1', 'read')])
    }
    expect(lines).toEqual([told('approval_pending'), told('approval_denied')])
  })

  it('where a person says no; a question and a yes are no refusals', async () => {
    for (const approve of [true, false]) {
      const lines: unknown[] = []
      const logger: Logger = { ...silent, warn: (...line) => void lines.push(line) }
      const { app } = inside([approvals(always)], logger)
      const calls = [wants('c1', 'read')]
      await app(calls).run({ thread: 't', input: {} })
      expect(lines).toEqual([])
      await app(calls).run({ thread: 't', answer: { approve } })
      expect(lines).toEqual(approve ? [] : [told('approval_denied')])
    }
  })
})

describe('in shadow mode', () => {
  it.each([
    ['asked', {}, 'approval_pending'],
    ['denied', { decide: () => ({ approve: false, reason: 'no' }) as const }, 'approval_denied'],
    [
      'failed',
      {
        decide: () => {
          throw new TypeError('broken')
        },
      },
      'error',
    ],
  ])('a call that would have %s goes on, and is told of', async (_, more, outcome) => {
    const lines: [string, unknown][] = []
    const events: unknown[] = []
    const logger: Logger = { ...silent, warn: (...line) => void lines.push(line as never) }
    const { app, effects } = inside(
      [
        { onEvent: ({ event }) => void events.push(event) },
        approvals({ ...always, ...more, shadow: true }),
      ],
      logger,
    )
    const { status } = await app([wants('c1', 'read')]).run({ thread: 't', input: {} })
    expect(status).toBe('success')
    expect(effects.of('read')).toBe(1)
    expect(events).toMatchObject([{ policy: 'approvals', shadow: true, outcome, tool: 'read' }])
    expect(lines.map(([line]) => line)).toEqual([
      `Policy "approvals" would have ${outcome === 'error' ? 'failed' : 'stopped'} a call of a tool`,
    ])
    const answered = await app([]).interruptions({ thread: 't', status: 'answered' })
    expect(answered).toEqual([])
  })

  it('the tool itself asks all the same', async () => {
    const { app } = inside([
      approvals({ ...always, decide: () => ({ approve: true }), shadow: true }),
    ])
    expect((await app([wants('c1', 'send')]).run({ thread: 't', input: {} })).status).toBe(
      'interrupted',
    )
  })
})

/** An executor over the desk. */
function outside(hooks: readonly Hook[]): {
  executor: ReturnType<typeof createExecutor>
  effects: Effects
  run(tool: string): Promise<unknown>
} {
  const effects = new Effects()
  const executor = createExecutor({ tools: desk(effects), hooks, logger: silent })
  return { executor, effects, run: (tool) => executor.run(tool, { n: 1 }) }
}

type Desk = CompiledGraph<{ results: readonly CallResult[]; read: readonly string[] }>

/** An app over the desk, made anew for each use. */
function inside(
  hooks: readonly Hook[],
  logger: Logger = silent,
): { effects: Effects; app(calls: readonly Call[]): Desk } {
  const effects = new Effects()
  const store = memory()
  return {
    effects,
    app: (calls) =>
      compile(
        batch(() => calls),
        { store, tools: desk(effects), hooks, logger },
      ) as unknown as Desk,
  }
}
