import { agent, compile, field, graph, tool, type Context } from 'heddle'
import { scriptedModel } from 'heddle/testing'
import { expect, it } from 'vitest'
import { say } from './parts.ts'

const inside = graph({
  name: 'inside',
  state: { said: field<string>('') },
  nodes: { ask: async (_, ctx) => ({ said: String(await ctx.interrupt('inside')) }) },
  edges: { start: 'ask', ask: 'end' },
})

it('says of a question which agent asks, the nearest one, however deep in its tools', async () => {
  const asks = (
    name: string,
    run: (ctx: Pick<Context, 'interrupt' | 'child' | 'call'>) => unknown,
  ) =>
    tool({
      name,
      description: `Asks as ${name}.`,
      input: field<object>(),
      parameters: { type: 'object' },
      run: async (_, ctx) => void (await run(ctx as never)),
    })
  const plain = asks('plain', (ctx) => ctx.interrupt('plain'))
  const nested = asks('nested', (ctx) => ctx.call(plain, {}))
  const child = asks('child', (ctx) => ctx.child(inside, {}))
  const calls = (names: readonly string[]) => [{ calls: names.map((name) => ({ tool: name })) }]
  const second = agent({ name: 'second', model: scriptedModel(calls(['plain'])), tools: [plain] })
  const sub = asks('sub', (ctx) => ctx.child(second as never, say('Hi') as never))
  const first = agent({
    name: 'first',
    model: scriptedModel(calls(['plain', 'nested', 'child', 'sub'])),
    tools: [plain, nested, child, sub],
  })
  const app = compile(first)
  const outcome = await app.run({ thread: 't1', input: say('Hi'), user: 'ann' })
  if (outcome.status !== 'interrupted') throw new Error(outcome.status)
  expect(
    outcome.interruptions.map(({ agent: who, payload, user }) => [who, payload, user]),
  ).toEqual([
    ['first', 'plain', 'ann'],
    ['first', 'plain', 'ann'],
    ['first', 'inside', 'ann'],
    ['second', 'plain', 'ann'],
  ])
  expect(await app.interruptions()).toEqual(outcome.interruptions)
})

it('names no agent where none asks', async () => {
  const app = compile(inside)
  await app.run({ thread: 't1', input: {} })
  expect((await app.interruptions())[0]).not.toHaveProperty('agent')
})
