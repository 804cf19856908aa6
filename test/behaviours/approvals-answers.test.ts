// What may be said to an approval: edits that fit, in time, once. Everything else is refused, or asked again, and the call
// doesn't run.
import {
  approval,
  approvals,
  compile,
  field,
  graph,
  memory,
  tool,
  type ApprovalAnswer,
  type CompileOptions,
  type Graph,
  type Tool,
} from 'heddle'
import { manualClock } from 'heddle/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { batch, desk, Effects, of, single, wants } from './approvals-parts.ts'
import { eachWay, everyWay, failure, keepBooks } from './harness.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

describe('edited arguments', () => {
  everyWay('go in instead of those of the call, which history keeps', async (open) => {
    const effects = new Effects()
    const story = open(() => batch(() => [wants('c1', 'send', 1)]), { tools: desk(effects) })
    const { open: asked } = await story.start()
    const answer = { approve: true, args: { n: 7 } } as const
    const { state } = await story.answer(approval.reply(of(asked, 'send'), answer))
    expect(state['read']).toEqual(['send: {"did":"send","n":7}'])
    expect(effects.ran).toEqual([['send', 7]])
    const [record] = await story.app.interruptions({ thread: 't1', status: 'answered' })
    expect(record).toMatchObject({ payload: { args: { n: 1 } }, answer })
  })

  eachWay('that do not fit a tool of the app are refused before anything runs', async (open) => {
    const effects = new Effects()
    const story = open(() => batch(() => [wants('c1', 'send', 1)]), { tools: desk(effects) })
    const { open: asked } = await story.start()
    const { id } = of(asked, 'send')
    const wrong = { [id]: { approve: true, args: { n: 'many' } } }
    const error = await story.refuses({ answers: wrong }, 'schema_error')
    expect(error).toMatchObject({
      details: { interruption: id, issues: [{ path: ['args', 'n'] }] },
    })
    expect(error.message).toContain('at "args.n"')
    expect((await story.answerOne({ approve: true, args: { n: 2 } })).status).toBe('success')
    expect(effects.ran).toEqual([['send', 2]])
  })

  everyWay(
    'that do not fit a tool which only the node knows fail the run, and are asked for again',
    async (open) => {
      const effects = new Effects()
      const send = desk(effects)[1] as Tool
      const story = open(() => single(send))
      const { open: asked } = await story.start()
      const error = await failure(
        story.answerOne({ approve: true, args: { n: 0.5 }, remember: true }),
      )
      expect(error).toMatchObject({
        code: 'schema_error',
        details: { interruption: asked[0]!.id, issues: [{ path: ['args', 'n'] }] },
      })
      expect(effects.ran).toEqual([])
      const again = await story.open()
      expect(again).toEqual(asked)
      const { state } = await story.answerOne({ approve: true, args: { n: 5 } })
      expect(state['end']).toEqual({ did: 'send', n: 5 })
      expect(effects.ran).toEqual([['send', 5]])
      // What came with a bad answer is not remembered.
      expect((await story.start()).status).toBe('interrupted')
    },
  )
})

describe('an answer', () => {
  eachWay('of another shape is refused, and says what is wrong', async (open) => {
    const effects = new Effects()
    const story = open(() => batch(() => [wants('c1', 'send')]), { tools: desk(effects) })
    const { open: asked } = await story.start()
    const { id } = asked[0]!
    const member = 'at "approve": Expected a boolean'
    const whole = 'Expected { approve: true } or { approve: false }'
    for (const answer of [true, false, null, undefined, '', 0, 'yes', {}, [], { approve: 'yes' }]) {
      const error = await story.refuses({ answer }, 'schema_error')
      expect(error.message).toBe(
        `Cannot accept the answer to "${id}" in graph "desk": ${typeof answer === 'object' ? member : whole}`,
      )
    }
    await story.refuses({ answers: { [id]: { approve: true, arg: {} } } }, 'schema_error')
    await story.refuses({ answers: { [id]: { approve: false, args: {} } } }, 'schema_error')
    expect(await story.open()).toEqual(asked)
    expect(effects.ran).toEqual([])
  })

  eachWay('that is bad takes the good ones beside it along', async (open) => {
    const effects = new Effects()
    const calls = [wants('c1', 'send'), wants('c2', 'drop')]
    const story = open(() => batch(() => calls), { tools: desk(effects) })
    const { open: both } = await story.start()
    const answers = {
      [of(both, 'send').id]: { approve: true },
      [of(both, 'drop').id]: { approved: true },
    }
    await story.refuses({ answers }, 'schema_error')
    expect(effects.ran).toEqual([])
  })

  test('of two that come at once one counts', async () => {
    for (const [one, other] of [
      [true, false],
      [false, true],
    ] as const) {
      const effects = new Effects()
      const options = { store: memory(), tools: desk(effects), logger: silent }
      const app = compile(single('send'), options)
      const { id } = (await pending(app.run({ thread: 't', input: {} }))).interruptions[0]!
      const say = (approve: boolean): Promise<unknown> =>
        compile(single('send'), options).run({
          thread: 't',
          answers: { [id]: { approve } as ApprovalAnswer },
        })
      const ends = await Promise.allSettled([say(one), say(other)])
      const won = ends.findIndex(({ status }) => status === 'fulfilled')
      const lost = ends[1 - won] as PromiseRejectedResult
      expect(ends[won]!.status).toBe('fulfilled')
      expect(['resume_conflict', 'nothing_to_resume']).toContain(lost.reason.code)
      expect(effects.of('send')).toBe([one, other][won] ? 1 : 0)
    }
  })
})

describe('time', () => {
  const rule = approvals({ when: ({ call }) => call.tool === 'read', expires: 1000 })

  for (const rebuilt of [false, true]) {
    test(`nobody's answer in time is a denial (${rebuilt ? 'rebuilt' : 'in process'})`, async () => {
      const clock = manualClock()
      const effects = new Effects()
      const options: CompileOptions = {
        store: memory(),
        clock,
        tools: desk(effects),
        hooks: [rule],
      }
      const make = (): Graph => batch(() => [wants('c1', 'read', 1)])
      const first = compile(make(), options)
      const app = (): typeof first => (rebuilt ? compile(make(), options) : first)
      const { interruptions } = await pending(app().run({ thread: 't', input: {} }))
      const { id, expiresAt, createdAt } = interruptions[0]!
      expect(Date.parse(expiresAt!) - Date.parse(createdAt)).toBe(1000)
      await clock.advance(999)
      expect((await app().tick()).woken).toEqual([])
      await clock.advance(1)
      const late = app().run({ thread: 't', answers: { [id]: { approve: true } } })
      expect(await failure(late)).toMatchObject({ code: 'unknown_interruption' })
      expect((await app().tick()).woken).toEqual(['t'])
      const ended = (await app().state('t'))!
      expect(ended.state['read']).toEqual(['read: denied, expired'])
      expect(ended.status).toBe('success')
      expect(effects.ran).toEqual([])
      const expired = await app().interruptions({ thread: 't', status: 'expired' })
      expect(expired.map((one) => one.id)).toEqual([id])
      expect(clock.pending).toBe(0)
    })
  }

  test('one that comes in time counts, and nothing expires after it', async () => {
    const clock = manualClock()
    const effects = new Effects()
    const options: CompileOptions = { store: memory(), clock, tools: desk(effects), hooks: [rule] }
    const app = compile(single('read'), options)
    await app.run({ thread: 't', input: {} })
    await clock.advance(999)
    const { status } = await app.run({ thread: 't', answer: { approve: true } })
    expect(status).toBe('success')
    await clock.advance(10_000)
    expect(await app.tick()).toEqual({ woken: [], recovered: [] })
    expect(effects.of('read')).toBe(1)
  })
})

describe('bound to what was asked', () => {
  everyWay(
    'a node that calls with other arguments when it is entered again does not get the approval',
    async (open) => {
      const effects = new Effects()
      let n = 0
      const story = open(() => single('send', () => ({ n: n++ })), { tools: desk(effects) })
      const { open: asked } = await story.start()
      expect(asked[0]!.payload).toMatchObject({ args: { n: 0 } })
      const error = await failure(story.answerOne({ approve: true }))
      expect(error).toMatchObject({
        code: 'replay_mismatch',
        details: { node: 'go', key: 'approval' },
      })
      expect(effects.ran).toEqual([])
      // Once it calls as it did, what was said holds.
      n = 0
      const { state } = await story.goOn()
      expect(state['end']).toEqual({ did: 'send', n: 0 })
      expect(effects.ran).toEqual([['send', 0]])
    },
  )

  everyWay('what was said of a call holds when the tool does not ask any more', async (open) => {
    const effects = new Effects()
    let asks = true
    const send = (): Tool =>
      tool({
        name: 'send',
        description: 'Sends.',
        input: z.object({ n: z.number() }),
        approve: () => asks,
        run({ n }) {
          effects.ran.push(['send', n])
          return n
        },
      })
    const story = open(() => single(send()))
    await story.start()
    asks = false
    const { state } = await story.answerOne({ approve: false, reason: 'no' })
    expect(state['end']).toMatchObject({ code: 'approval_denied', details: { reason: 'no' } })
    expect(effects.ran).toEqual([])
  })
})

test('two nodes beside each other ask under their own names', async () => {
  const effects = new Effects()
  const ask = async (_: unknown, ctx: { call(name: string, args: object): Promise<unknown> }) => {
    await ctx.call('send', { n: 1 })
  }
  const both = graph({
    name: 'both',
    state: { x: field(0) },
    nodes: { left: ask, right: ask },
    edges: { start: ['left', 'right'], left: 'end', right: 'end' },
  })
  const app = compile(both, { tools: desk(effects) })
  const asked = await pending(app.run({ thread: 't', input: {} }))
  expect(asked.interruptions.map(({ node }) => node).toSorted()).toEqual(['left', 'right'])
  const inbox = await app.interruptions()
  expect(inbox.filter(approval.is).length).toBe(2)
  const answers = Object.fromEntries(inbox.map(({ id }) => [id, { approve: true }]))
  expect((await app.run({ thread: 't', answers })).status).toBe('success')
  expect(effects.of('send')).toBe(2)
})

type Pending<Value> = Extract<Value, { readonly status: 'interrupted' }>

/** The outcome of a run that asks. */
async function pending<Value extends { readonly status: string }>(
  run: Promise<Value>,
): Promise<Pending<Value>> {
  const outcome = await run
  expect(outcome.status).toBe('interrupted')
  return outcome as Pending<Value>
}
