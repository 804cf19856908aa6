import { approvals, budget, guardrail, type Hook, type ToolInvocation } from 'heddle'
import { describe, expect } from 'vitest'
import { eachWay, keepBooks, type Open, type Pass, type Story } from './harness.ts'
import { desk, endings, texts, type Text } from './policies-parts.ts'

keepBooks()

const textOf = (inv: object): string => ((inv as ToolInvocation).call.args as Text).text

const policies = {
  budget: (): Hook => budget({ calls: 1 }),
  guardrail: (): Hook =>
    guardrail({
      name: 'no bad words',
      input: (inv) =>
        textOf(inv) === 'bad' ? { block: 'it is bad' } : { replace: { text: `${textOf(inv)}.` } },
    }),
  approvals: (): Hook => approvals({ when: () => true }),
}
type Name = keyof typeof policies

const orders: readonly (readonly Name[])[] = [
  ['budget', 'guardrail', 'approvals'],
  ['budget', 'approvals', 'guardrail'],
  ['guardrail', 'budget', 'approvals'],
  ['guardrail', 'approvals', 'budget'],
  ['approvals', 'budget', 'guardrail'],
  ['approvals', 'guardrail', 'budget'],
]

describe.each(orders)('%s, %s, %s', (...order) => {
  const first = (one: Name, other: Name): boolean => order.indexOf(one) < order.indexOf(other)

  eachWay('stop the same calls, and ask only about what is left', async (open) => {
    const { posted, post, does } = desk()
    const work = does(async (ctx) => {
      const results = []
      for (const call of texts(['bad', 'a', 'b'])) results.push(...(await ctx.callAll([call])))
      return endings(results)
    })
    const story = open(work, { tools: [post], hooks: order.map((name) => policies[name]()) })
    const { pass, asked } = await answering(story, await story.start(), { approve: true })
    expect(pass.state['out']).toEqual(['guardrail_blocked', 'posted a.', 'budget_exceeded'])
    expect(posted).toEqual(['a.'])
    const end = first('guardrail', 'approvals') ? '.' : ''
    expect(asked).toEqual([
      ...(first('approvals', 'guardrail') ? ['bad'] : []),
      `a${end}`,
      ...(first('approvals', 'budget') ? [`b${end}`] : []),
    ])
  })

  eachWay('side by side let no more through than they may', async (open) => {
    const { posted, post, does } = desk()
    const work = does(async (ctx) => endings(await ctx.callAll(texts(['a', 'b', 'c']))))
    const story = open(work, { tools: [post], hooks: order.map((name) => policies[name]()) })
    const { pass } = await answering(story, await story.start(), { approve: true })
    expect(pass.state['out']).toEqual(['posted a.', 'budget_exceeded', 'budget_exceeded'])
    expect(posted).toEqual(['a.'])
  })

  eachWay('a call that a person denies leaves its place to the next', async (open) => {
    const { posted, post, does } = desk()
    const work = does(async (ctx) => [
      ...endings(await ctx.callAll(texts(['a']))),
      ...endings(await ctx.callAll(texts(['b']))),
    ])
    const story = open(work, { tools: [post], hooks: order.map((name) => policies[name]()) })
    await story.start()
    const denied = await story.answerOne({ approve: false })
    const { pass } = await answering(story, denied, { approve: true })
    expect(pass.state['out']).toEqual(['denied', 'posted b.'])
    expect(posted).toEqual(['b.'])
  })

  eachWay(
    'what a person edits is looked at by the guardrails behind the approval',
    async (open) => {
      expect(await edited(open)).toEqual(
        first('approvals', 'guardrail') ? ['guardrail_blocked'] : ['posted bad'],
      )
    },
  )

  async function edited(open: Open): Promise<unknown> {
    const { post, does } = desk()
    const work = does(async (ctx) => endings(await ctx.callAll(texts(['a']))))
    const story = open(work, { tools: [post], hooks: order.map((name) => policies[name]()) })
    await story.start()
    return (await story.answerOne({ approve: true, args: { text: 'bad' } })).state['out']
  }
})

/** Answers whatever is asked, one at a time, until nothing is. */
async function answering(
  story: Story,
  started: Pass,
  answer: object,
): Promise<{ readonly pass: Pass; readonly asked: readonly string[] }> {
  const asked: string[] = []
  let pass = started
  while (pass.status === 'interrupted') {
    const [one] = pass.open
    asked.push((one!.payload as { readonly args: Text }).args.text)
    pass = await story.answer({ [one!.id]: answer })
  }
  return { pass, asked }
}
