// B09 and B32: what had finished beside an approval is neither repeated nor lost; an approval is of one call, whatever ids a
// provider gives.
import { append, approval, field, graph, reduced, tool, type CallResult, type Graph } from 'heddle'
import { describe, expect } from 'vitest'
import { z } from 'zod'
import { batch, desk, Effects, of, wants } from './approvals-parts.ts'
import { eachWay, everyWay, keepBooks } from './harness.ts'

keepBooks()

describe('siblings (B09)', () => {
  everyWay(
    'those that had finished are taken from the record, in the order of the calls',
    async (open) => {
      const effects = new Effects()
      const calls = [wants('c1', 'send', 1), wants('c2', 'read', 2), wants('c3', 'read', 3)]
      const story = open(() => batch(() => calls), { tools: desk(effects) })
      const { open: asked } = await story.start()
      const sorted = (): number[] => effects.ran.map(([, n]) => n).toSorted()
      expect(sorted()).toEqual([2, 3])
      const { state } = await story.answer(approval.reply(of(asked, 'send'), { approve: true }))
      const results = state['results'] as readonly CallResult[]
      expect(results.map(({ id, status, replayed }) => [id, status, replayed])).toEqual([
        ['c1', 'success', undefined],
        ['c2', 'success', true],
        ['c3', 'success', true],
      ])
      expect(sorted()).toEqual([1, 2, 3])
    },
  )

  everyWay('of three that wait only the one that was approved goes on', async (open) => {
    const effects = new Effects()
    const calls = [wants('c1', 'send', 1), wants('c2', 'send', 2), wants('c3', 'send', 3)]
    const story = open(() => batch(() => calls), { tools: desk(effects) })
    const { open: three } = await story.start()
    expect(new Set(three.map(({ id }) => id)).size).toBe(3)
    const order = [2, 0, 1]
    const ran: [string, number][] = []
    for (const [at, which] of order.entries()) {
      const now = await story.answer({ [three[which]!.id]: { approve: true } })
      ran.push(['send', which + 1])
      expect(effects.ran).toEqual(ran)
      expect(now.open.map(({ id }) => id)).toEqual(
        three.filter((_, n) => !order.slice(0, at + 1).includes(n)).map(({ id }) => id),
      )
    }
    expect((await story.snapshot()).state['read']).toEqual(
      [1, 2, 3].map((n) => `send: {"did":"send","n":${n}}`),
    )
  })

  eachWay('an approval inside a tool is of the tool that is called there', async (open) => {
    const effects = new Effects()
    const outer = tool({
      name: 'outer',
      description: 'Sends.',
      input: z.object({}),
      async run(_, ctx) {
        const before = await ctx.call('read', { n: 1 })
        return [before, await ctx.call('send', { n: 2 })]
      },
    })
    const make = (): Graph => batch(() => [{ tool: 'outer', args: {} }])
    const story = open(make, { tools: [...desk(effects), outer] })
    const { open: asked } = await story.start()
    expect(asked.map(({ payload }) => (payload as { tool: string }).tool)).toEqual(['send'])
    const { state } = await story.answerOne({ approve: true })
    expect(state['read']).toEqual(['outer: [{"did":"read","n":1},{"did":"send","n":2}]'])
    expect(effects.ran).toEqual([
      ['read', 1],
      ['send', 2],
    ])
  })
})

describe('ids (B32)', () => {
  everyWay(
    'an id that a provider gives again is another call, with another approval',
    async (open) => {
      const effects = new Effects()
      const turns = [[wants('0', 'send', 1)], [wants('0', 'drop', 2)]]
      const make = (): Graph =>
        graph({
          name: 'turns',
          state: { n: field(0), all: reduced(field<string[]>([]), append) },
          nodes: {
            async go({ n }, ctx) {
              const [result] = await ctx.callAll(turns[n]!)
              return { n: n + 1, all: [`${result!.tool} ${result!.status}`] }
            },
          },
          edges: {
            start: 'go',
            go: { to: ['go', 'end'], pick: ({ n }) => (n < 2 ? 'go' : 'end') },
          },
        })
      const story = open(make, { tools: desk(effects) })
      const { open: first } = await story.start()
      const { open: second } = await story.answer(approval.reply(first[0]!, { approve: true }))
      expect(effects.ran).toEqual([['send', 1]])
      expect(second[0]!.id).not.toBe(first[0]!.id)
      await story.refuses({ answers: { [first[0]!.id]: { approve: true } } }, 'nothing_to_resume')
      const { state } = await story.answer(approval.reply(second[0]!, { approve: true }))
      expect(state['all']).toEqual(['send success', 'drop success'])
      expect(effects.ran).toEqual([
        ['send', 1],
        ['drop', 2],
      ])
    },
  )

  everyWay(
    'two calls of one batch with one id, and calls without any, are each asked about',
    async (open) => {
      const effects = new Effects()
      const calls = [
        wants('x', 'send', 1),
        wants('x', 'send', 2),
        { tool: 'send', args: { n: 3 } },
        { id: '', tool: 'send', args: { n: 3 } },
      ]
      const story = open(() => batch(() => calls), { tools: desk(effects) })
      const { open: four } = await story.start()
      const ids = four.map(({ id }) => id)
      expect(new Set(ids).size).toBe(4)
      expect(ids.every((id) => /^apr_[0-9a-f]{32}$/.test(id))).toBe(true)
      for (const { id, payload } of four) expect(payload).toMatchObject({ id, tool: 'send' })
      const asked = four.map(({ payload }) => (payload as { call: string }).call)
      expect(new Set(asked).size).toBe(4)
      const denied = four.find(({ payload }) => (payload as { args: { n: number } }).args.n === 2)!
      const answers = Object.fromEntries(four.map((one) => [one.id, { approve: one !== denied }]))
      const { state } = await story.answer(answers)
      const results = state['results'] as readonly CallResult[]
      expect(results.map(({ status }) => status)).toEqual([
        'success',
        'denied',
        'success',
        'success',
      ])
      expect(new Set(results.map(({ id }) => id)).size).toBe(4)
      expect(effects.ran.map(([, n]) => n).toSorted()).toEqual([1, 3, 3])
    },
  )
})
