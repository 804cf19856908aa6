// B36, B09 and B32: what a person said of a call is what becomes of it, once, and of no other call.
import {
  approval,
  approvals,
  ApprovalDenied,
  shortCircuit,
  type CallResult,
  type Hook,
} from 'heddle'
import { describe, expect } from 'vitest'
import { batch, desk, Effects, of, single, wants, type Entries } from './approvals-parts.ts'
import { eachWay, everyWay, keepBooks } from './harness.ts'

keepBooks()

describe('denied (B36)', () => {
  everyWay(
    'a call that was denied has its own outcome, paired with it, and never runs',
    async (open) => {
      const effects = new Effects()
      const entries: Entries = { tools: 0, reader: 0 }
      const seen: string[] = []
      const watch: Hook = {
        afterTool: ({ call }) => void seen.push(`after ${call.tool}`),
        onToolError: ({ call }) => void seen.push(`error ${call.tool}`),
      }
      const calls = [wants('c1', 'read'), wants('c2', 'send')]
      const story = open(() => batch(() => calls, entries), {
        tools: desk(effects),
        hooks: [watch],
      })
      const asked = await story.start()
      expect(asked.status).toBe('interrupted')
      expect(effects.counts).toEqual({ read: 1, send: 0, drop: 0 })

      const answers = approval.reply(of(asked.open, 'send'), { approve: false, reason: 'not now' })
      const { status, state } = await story.answer(answers, { user: 'ann' })
      expect(status).toBe('success')
      expect(effects.counts).toEqual({ read: 1, send: 0, drop: 0 })
      const results = state['results'] as readonly CallResult[]
      expect(results.map(({ id, tool, status: how }) => [id, tool, how])).toEqual([
        ['c1', 'read', 'success'],
        ['c2', 'send', 'denied'],
      ])
      expect(results[1]).toEqual({ id: 'c2', tool: 'send', status: 'denied', reason: 'not now' })
      expect(state['read']).toEqual(['read: {"did":"read","n":1}', 'send: denied, not now'])
      expect(seen).toEqual(['after read'])
      expect(entries).toEqual({ tools: 2, reader: 1 })
      const answered = await story.app.interruptions({ thread: 't1', status: 'answered' })
      expect(answered).toMatchObject([
        {
          id: of(asked.open, 'send').id,
          answer: { approve: false, reason: 'not now' },
          answeredBy: 'ann',
        },
      ])
      await story.refuses({ answers }, 'nothing_to_resume')
      await story.refuses(
        { answers: approval.reply(answered[0]!, { approve: true }) },
        'nothing_to_resume',
      )
      expect(effects.of('send')).toBe(0)
    },
  )

  eachWay('a new message meets the open approval, which stays as it is', async (open) => {
    const effects = new Effects()
    const calls = [wants('c1', 'send'), wants('c2', 'drop')]
    const story = open(() => batch(() => calls), { tools: desk(effects) })
    const { open: both } = await story.start()
    const error = await story.refuses({ input: {} }, 'approval_pending')
    expect(error).toMatchObject({ details: { interruptions: both.map(({ id }) => id) } })
    expect(await story.open()).toEqual(both)
    await story.app.cancel('t1')
    expect((await story.app.interruptions({ thread: 't1', status: 'cancelled' })).length).toBe(2)
    await story.refuses({ answers: { [both[0]!.id]: { approve: true } } }, 'nothing_to_resume')
    expect(effects.counts).toEqual({ read: 0, send: 0, drop: 0 })
  })

  everyWay('one is approved and one denied in the same request', async (open) => {
    const effects = new Effects()
    const calls = [wants('c1', 'send', 1), wants('c2', 'drop', 2)]
    const story = open(() => batch(() => calls), { tools: desk(effects) })
    const { open: both } = await story.start()
    expect(both.length).toBe(2)
    await story.refuses({ answer: { approve: true } }, 'ambiguous_resume')
    const answers = {
      ...approval.reply(of(both, 'send'), { approve: true }),
      ...approval.reply(of(both, 'drop'), { approve: false }),
    }
    const { state } = await story.answer(answers)
    expect(state['read']).toEqual(['send: {"did":"send","n":1}', 'drop: denied, no reason'])
    expect(effects.ran).toEqual([['send', 1]])
    await story.refuses({ answers }, 'nothing_to_resume')
  })

  everyWay(
    'a call whose approval is open is not entered for the answer to another',
    async (open) => {
      const effects = new Effects()
      const calls = [wants('c1', 'send', 1), wants('c2', 'drop', 2), wants('c3', 'read', 3)]
      const story = open(() => batch(() => calls), { tools: desk(effects) })
      const { open: both } = await story.start()
      const now = await story.answer(approval.reply(of(both, 'drop'), { approve: true }))
      expect(now.open).toEqual([of(both, 'send')])
      expect(effects.ran).toEqual([
        ['read', 3],
        ['drop', 2],
      ])
      // One is open: no id is needed.
      const { state } = await story.answerOne({ approve: true })
      expect(state['read']).toEqual([
        'send: {"did":"send","n":1}',
        'drop: {"did":"drop","n":2}',
        'read: {"did":"read","n":3}',
      ])
      expect(effects.ran.length).toBe(3)
      expect(story.events('interrupt').length).toBe(2)
    },
  )

  eachWay('a denial by a hook, by code and by a person have one shape', async (open) => {
    const effects = new Effects()
    const denied = new ApprovalDenied('Cannot send: no', { tool: 'send', reason: 'no' })
    const hooks: readonly (readonly Hook[])[] = [
      [{ beforeTool: () => shortCircuit(denied) }],
      [
        {
          beforeTool() {
            throw denied
          },
        },
      ],
      [approvals({ when: () => true, decide: () => ({ approve: false, reason: 'no' }) })],
      [],
    ]
    const ends: unknown[] = []
    for (const [n, own] of hooks.entries()) {
      const options = { tools: desk(effects), hooks: own, thread: `t${n}` }
      const story = open(() => batch(() => [wants('c1', 'send')]), options)
      const now = await story.start()
      const end =
        now.status === 'success' ? now : await story.answerOne({ approve: false, reason: 'no' })
      ends.push(end.state['results'])
    }
    const [first, ...others] = ends
    expect(first).toEqual([{ id: 'c1', tool: 'send', status: 'denied', reason: 'no' }])
    for (const one of others) expect(one).toEqual(first)
    expect(effects.of('send')).toBe(0)
  })

  eachWay('a node that calls one tool gets the denial as an error of ours', async (open) => {
    const effects = new Effects()
    const story = open(() => single('send'), { tools: desk(effects) })
    await story.start()
    const { state } = await story.answerOne({ approve: false, reason: 'too late' })
    expect(state['end']).toEqual({
      code: 'approval_denied',
      details: { tool: 'send', reason: 'too late' },
    })
    expect(effects.of('send')).toBe(0)
  })
})
