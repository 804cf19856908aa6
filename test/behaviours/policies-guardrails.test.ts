import {
  budget,
  createExecutor,
  guardrail,
  runLimits,
  type Emitted,
  type Executor,
  type Hook,
  type ToolInvocation,
} from 'heddle'
import { describe, expect, it } from 'vitest'
import { silent } from '../fakes/silent.ts'
import { everyWay, eachWay, failure, keepBooks } from './harness.ts'
import { desk, endings, texts, type Text } from './policies-parts.ts'

keepBooks()

const textOf = (inv: object): string => ((inv as ToolInvocation).call.args as Text).text

/** A guardrail that notes what it has looked at. */
function watchful(seen: string[], input?: (text: string) => ReturnType<GuardrailInput>): Hook {
  return guardrail({
    name: 'watchful',
    input(inv) {
      seen.push(textOf(inv))
      return input?.(textOf(inv))
    },
  })
}
type GuardrailInput = NonNullable<Parameters<typeof guardrail>[0]['input']>

describe('a guardrail in a thread', () => {
  everyWay('gives the tool other arguments, and looks at each call once', async (open) => {
    const { posted, post, does } = desk()
    const seen: string[] = []
    const hooks = [watchful(seen, (text) => ({ replace: { text: text.replace(/\d/g, '#') } }))]
    const work = does(async (ctx) => {
      const first = await ctx.call(post, { text: 'card 42' })
      await ctx.interrupt()
      return [first, await ctx.call(post, { text: 'card 7' })]
    })
    const story = open(work, { tools: [post], hooks })
    await story.start()
    const { state } = await story.answerOne('on')
    expect(state['out']).toEqual(['posted card ##', 'posted card #'])
    expect(posted).toEqual(['card ##', 'card #'])
    expect(seen).toEqual(['card 42', 'card 7'])
  })

  everyWay('has what it gives validated like what it replaces', async (open) => {
    const { posted, post, does } = desk()
    const strict = {
      ...post,
      input: {
        '~standard': {
          version: 1 as const,
          vendor: 'test',
          validate: (value: unknown) =>
            typeof (value as Text).text === 'string'
              ? { value: { text: (value as Text).text.trim() } }
              : { issues: [{ message: 'no text' }] },
        },
      },
    }
    const instead: unknown[] = [{ text: ' b ' }, { text: 1 }]
    const hooks = [guardrail({ name: 'g', input: () => ({ replace: instead.shift() }) })]
    const work = does(async (ctx) => endings(await ctx.callAll(texts(['a', 'a']))))
    const { state } = await open(work, { tools: [strict], hooks }).start()
    expect(state['out']).toEqual(['posted b', 'schema_error'])
    expect(posted).toEqual(['b'])
  })

  everyWay('gives another result, which is what is recorded', async (open) => {
    const { posted, post, does } = desk()
    const hooks = [
      guardrail({ name: 'g', output: (_, value) => ({ replace: `${String(value)}!` }) }),
    ]
    const work = does(async (ctx) => {
      const first = await ctx.call(post, { text: 'a' })
      return [first, await ctx.interrupt()]
    })
    const story = open(work, { tools: [post], hooks })
    await story.start()
    const { state } = await story.answerOne('on')
    expect(state['out']).toEqual(['posted a!', 'on'])
    expect(posted).toEqual(['a'])
  })

  eachWay(
    'that blocks what came out fails the run, and the effect is not repeated',
    async (open) => {
      const { posted, post, does } = desk()
      let blocks = true
      const output = (): { readonly block: string } | undefined =>
        blocks ? { block: 'it tells a secret' } : undefined
      const hooks = [guardrail({ name: 'g', output })]
      const work = does((ctx) => ctx.call(post, { text: 'a' }))
      const story = open(work, { tools: [post], hooks })
      for (const _ of [1, 2]) {
        const error = await failure(_ === 1 ? story.start() : story.goOn())
        expect(error).toMatchObject({
          code: 'guardrail_blocked',
          message: 'Cannot use what tool "post" gave: guardrail "g" says it tells a secret',
        })
      }
      expect((await story.snapshot()).error).toMatchObject({ code: 'guardrail_blocked' })
      blocks = false
      expect((await story.goOn()).state['out']).toBe('posted a')
      expect(posted).toEqual(['a'])
    },
  )

  everyWay('that throws lets nothing pass', async (open) => {
    const { posted, post, does } = desk()
    const hooks = [guardrail({ name: 'g', input: () => Promise.reject(new Error('down')) })]
    const work = does(async (ctx) => endings(await ctx.callAll(texts(['a']))))
    const { state } = await open(work, { tools: [post], hooks }).start()
    expect([state['out'], posted]).toEqual([['Error: down'], []])
  })

  everyWay('in shadow mode changes nothing, and tells every onEvent', async (open) => {
    const { posted, post, does } = desk()
    const told: Emitted[] = []
    const hooks = [
      watchfulShadow(),
      budget({ calls: 1, shadow: true }),
      runLimits({ toolCalls: 1, shadow: true }),
      { onEvent: (emitted: Emitted): void => void told.push(emitted) },
    ]
    const work = does(async (ctx) => endings(await ctx.callAll(texts(['bad', 'b']))))
    const story = open(work, { tools: [post], hooks, logger: silent })
    const { state, events, outcome } = await story.start()
    expect(state['out']).toEqual(['posted bad', 'posted b'])
    expect(posted).toEqual(['bad', 'b'])
    expect(told.map(({ event }) => (event as { outcome: string }).outcome).toSorted()).toEqual([
      'budget_exceeded',
      'guardrail_blocked',
      'run_limit_exceeded',
    ])
    for (const { thread, run, node, step, ns, event } of told) {
      expect({ thread, run, node, step, ns }).toEqual({
        ...{ thread: story.thread, run: outcome.run },
        ...{ node: 'work', step: 1, ns: [] },
      })
      expect(event).toMatchObject({ kind: 'policy', shadow: true, tool: 'post' })
    }
    // The graph's own stream has none of it.
    expect(events.filter(({ kind }) => kind === 'backend')).toEqual([])
  })
})

const watchfulShadow = (): Hook =>
  guardrail({
    name: 'no bad words',
    shadow: true,
    input: (inv) => (textOf(inv) === 'bad' ? { block: 'it is bad' } : undefined),
  })

describe('policies in any order', () => {
  const policies = {
    budget: () => budget({ calls: 2 }),
    limits: () => runLimits({ toolCalls: 3, time: 1e9 }),
    guardrail: () =>
      guardrail({
        name: 'no bad words',
        input: (inv) =>
          textOf(inv) === 'bad'
            ? { block: 'it is bad' }
            : textOf(inv) === '42'
              ? { replace: { text: '##' } }
              : undefined,
        output: (_, value) => (value === 'posted leak' ? { block: 'it leaks' } : undefined),
      }),
    audit: (): Hook => ({ name: 'audit', beforeTool() {}, afterTool() {}, onToolError() {} }),
  }
  const list = ['bad', '42', 'leak', 'c']
  const wanted = ['guardrail_blocked', 'posted ##', 'guardrail_blocked', 'budget_exceeded']

  const orders = permutations(Object.keys(policies) as (keyof typeof policies)[])

  it.each(orders)('%s, %s, %s, %s: an executor', async (...order) => {
    for (const how of [oneByOne, allAtOnce]) {
      const { posted, post } = desk()
      const hooks = order.map((name) => policies[name]())
      const executor = createExecutor({ tools: [post], hooks, logger: silent, concurrency: 1 })
      expect(await how(executor)).toEqual(wanted)
      expect(posted).toEqual(['##', 'leak'])
    }
  })

  for (const order of orders) {
    eachWay(`${order.join(', ')}: a thread`, async (open) => {
      const { posted, post, does } = desk()
      const work = does(async (ctx) => {
        const results = []
        for (const call of texts(list)) results.push(...endings(await ctx.callAll([call])))
        return results
      })
      const hooks = order.map((name) => policies[name]())
      const { state } = await open(work, { tools: [post], hooks }).start()
      expect(state['out']).toEqual(wanted)
      expect(posted).toEqual(['##', 'leak'])
    })

    eachWay(`${order.join(', ')}: side by side nothing gets past any of them`, async (open) => {
      const { posted, post, does } = desk()
      const work = does(async (ctx) => endings(await ctx.callAll(texts([...list, 'd', 'bad']))))
      const hooks = order.map((name) => policies[name]())
      const { state } = await open(work, { tools: [post], hooks }).start()
      const out = state['out'] as string[]
      expect([out[0], out[5]].every((one) => /_(blocked|exceeded)$/.test(one as string))).toBe(true)
      expect(posted).not.toContain('bad')
      expect(posted).not.toContain('42')
      expect(posted.length).toBeLessThanOrEqual(2)
      expect(out).not.toContain('posted leak')
    })
  }

  async function oneByOne(executor: Executor): Promise<unknown[]> {
    const found: unknown[] = []
    for (const { tool, args } of texts(list))
      found.push(
        await executor.run(tool, args).catch((error: unknown) => (error as { code: string }).code),
      )
    return found
  }

  async function allAtOnce(executor: Executor): Promise<unknown[]> {
    return endings(await executor.runAll(texts(list)))
  }
})

function permutations<Item>(items: readonly Item[]): Item[][] {
  if (items.length === 0) return [[]]
  return items.flatMap((one) =>
    permutations(items.filter((other) => other !== one)).map((rest) => [one, ...rest]),
  )
}
