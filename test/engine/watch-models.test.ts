import {
  agent,
  compile,
  field,
  graph,
  memory,
  type AssistantMessage,
  type Context,
  type Graph,
  type Monitor,
  type Store,
} from 'heddle'
import { scriptedModel } from 'heddle/testing'
import { expect, it } from 'vitest'
import { silent } from '../fakes/silent.ts'
import { Watcher } from './watch-parts.ts'

const down = scriptedModel(() => ({ error: new TypeError('socket hang up') }))

it.each<[string, (ctx: Context<never>) => Promise<unknown>, 'model_call' | 'invoke']>([
  ['a model', (ctx) => ctx.generate(down, { messages: 'hi' }), 'model_call'],
  [
    'a model, and what a node made of it',
    (ctx) =>
      ctx.generate(down, { messages: 'hi' }).catch((cause: unknown) => {
        throw new Error('no answer today', { cause })
      }),
    'model_call',
  ],
  [
    'something else, beside a model that failed before',
    async (ctx) => {
      await ctx.generate(down, { messages: 'hi' }).catch(() => {})
      throw new Error('no paper')
    },
    'invoke',
  ],
])('says of a run that %s ended it', async (_, run, context) => {
  const { seen, ended } = await watched(nodeOf(run))
  expect(seen.of('run_error')).toMatchObject([{ context, error: (ended as Error).message }])
  expect(seen.of('model_error')).toMatchObject([{ context: 'model_call' }])
  expect(seen.states.at(-1)).toBe('error')
})

it('shows a run as thinking at each request to a model, and tells of tokens as they add up', async () => {
  const usage = { input: 10, output: 2 }
  const model = scriptedModel([
    { text: 'one', usage },
    { text: 'two', usage },
  ])
  const { seen } = await watched(
    nodeOf(async (ctx) => {
      await ctx.generate(model, { messages: 'hi' })
      await ctx.generate(model, { messages: 'ho' })
    }),
  )
  expect(seen.order).toEqual([
    ...['run_start', 'thinking'],
    ...['model_request', 'thinking', 'model_response'],
    ...['model_request', 'thinking', 'model_response'],
    ...['run_end', 'idle'],
  ])
  const figures = { inputTokens: 20, outputTokens: 4, totalTokens: 24 }
  expect(seen.of('model_response')).toMatchObject([
    { inputTokens: 10, outputTokens: 2, totalTokens: 12 },
    figures,
  ])
  expect(seen.of('run_end')).toMatchObject([figures])
})

it('leaves out tokens that nobody reported', async () => {
  const { seen } = await watched(
    nodeOf((ctx) => ctx.generate(scriptedModel([{ text: 'one' }]), { messages: 'hi' })),
  )
  expect(Object.keys(seen.of('run_end')[0] as object)).toEqual(['run', 'thread', 'at', 'kind'])
})

it('hands out a reply that nobody can change', async () => {
  const monitor: Monitor = {
    emit(event) {
      if (event.kind === 'model_response') (event.response as { text: string }).text = 'forged'
    },
  }
  const model = scriptedModel([{ text: 'real' }])
  const app = compile(agent({ name: 'helper', model }), { monitor, logger: silent })
  const input = { messages: [{ role: 'user' as const, text: 'hi' }] }
  const { state } = await app.run({ thread: 't1', input })
  expect((state.messages[1] as AssistantMessage).text).toBe('real')
})

it.each([
  ['step', ['model_response', 'message']],
  ['exit', ['model_response', 'message', 'run_end']],
] as const)(
  'tells of the reply of an agent once what it used is stored: %s',
  async (durability, told) => {
    const inner = memory()
    let commits = 0
    const store: Store = {
      ...inner,
      async commit(batch) {
        const result = await inner.commit(batch)
        commits++
        return result
      },
    }
    let asked = 0
    const after: (readonly [string, number])[] = []
    const monitor: Monitor = {
      emit: ({ kind }) => {
        if (kind === 'model_request') asked = commits
        else if (asked > 0) after.push([kind, commits])
      },
    }
    const model = scriptedModel([{ text: 'Hi.' }])
    const app = compile(agent({ name: 'helper', model }), { store, monitor, durability })
    await app.run({ thread: 't1', input: { messages: [{ role: 'user', text: 'hi' }] } })
    expect(after.slice(0, told.length).map(([kind]) => kind)).toEqual(told)
    for (const [, at] of after) expect(at).toBeGreaterThan(asked)
    if (durability === 'exit') for (const [, at] of after) expect(at).toBe(commits)
  },
)

it('tells of no reply whose commit has failed', async () => {
  const model = scriptedModel([{ text: 'Hi.' }])
  const inner = memory()
  let breaks = false
  const store: Store = {
    ...inner,
    commit: async (batch) => {
      if (breaks) throw new Error('disk full')
      return inner.commit(batch)
    },
  }
  const seen = new Watcher(({ kind }) => (breaks ||= kind === 'model_request'))
  const app = compile(agent({ name: 'helper', model }), { store, logger: silent, ...seen.both })
  const input = { messages: [{ role: 'user' as const, text: 'hi' }] }
  await expect(app.run({ thread: 't1', input })).rejects.toThrow()
  expect(seen.of('model_request')).toHaveLength(1)
  expect(seen.of('model_response')).toEqual([])
})

/** Runs a graph to whatever it comes to, watched. */
async function watched(from: Graph): Promise<{ seen: Watcher; ended: unknown }> {
  const seen = new Watcher()
  const app = compile(from, { logger: silent, ...seen.both })
  const ended = await app.run({ thread: 't1', input: {} }).catch((error: unknown) => error)
  return { seen, ended }
}

const nodeOf = (run: (ctx: Context<never>) => Promise<unknown>): Graph =>
  graph({
    name: 'asked',
    state: { said: field<string>('') },
    nodes: { say: async (_, ctx) => void (await run(ctx as never)) },
    edges: { start: 'say', say: 'end' },
  }) as never
