import {
  compile,
  field,
  graph,
  memory,
  type CompiledGraph,
  type Context,
  type Graph,
  type Model,
  type Store,
} from 'heddle'
import { manualClock, scriptedModel, withFaults } from 'heddle/testing'
import { expect, it } from 'vitest'
import { AGENT } from '../../src/graph/agent-mark.ts'
import { INSIDE } from '../../src/hook/mark.ts'
import { all, failure, rowsOf } from '../behaviours/harness.ts'
import type { NodeInside } from '../../src/tool/inside.ts'
import { silent } from '../fakes/silent.ts'
import { open } from './watch-parts.ts'

const durabilities = ['step', 'exit'] as const

it.each(durabilities)(
  'has on record which model serves a run before it is asked: %s',
  async (durability) => {
    const { store, rows } = open(memory())
    const saved: string[][] = []
    const model = seeing('m', () => saved.push(auditsIn(rows)))
    const app = compile(asking([model, model]), { store, durability })
    await app.run({ thread: 't1', input: {}, metadata: { llm: 'mine', job: 7 } })
    expect(saved).toEqual([['p/m'], ['p/m']])
    expect(await audits(app)).toEqual([{ job: 7, llm: { provider: 'p', model: 'm' } }])
  },
)

it.each(durabilities)(
  'tells which models served a run, each once, the first first: %s',
  async (durability) => {
    const { store, rows } = open(memory())
    const saved: string[][] = []
    const [a, b, c] = ['a', 'b', 'c'].map((name) => seeing(name, () => saved.push(auditsIn(rows))))
    const app = compile(asking([a, b, a, c, b] as Model[]), { store, durability })
    await app.run({ thread: 't1', input: {} })
    expect(saved.map((names) => names.join(' '))).toEqual([
      ...['p/a', 'p/a p/b', 'p/a p/b'],
      ...['p/a p/b p/c', 'p/a p/b p/c'],
    ])
    const others = ['b', 'c'].map((model) => ({ provider: 'p', model }))
    expect(await audits(app)).toEqual([{ llm: { provider: 'p', model: 'a', others } }])
  },
)

it.each(durabilities)(
  'takes requests side by side as one first request of their model: %s',
  async (durability) => {
    const { store, rows } = open(memory())
    const [a, b] = [seeing('a'), seeing('b')]
    const app = compile(
      nodeOf(async (ctx) => {
        await Promise.all([a, b, a, b].map((model, n) => ctx.generate(model, { messages: `${n}` })))
      }),
      { store, durability },
    )
    await app.run({ thread: 't1', input: {} })
    expect(auditsIn(rows)).toEqual(['p/a', 'p/b'])
  },
)

it('says nothing of a run that asks no model', async () => {
  const app = compile(asking([]))
  await app.run({ thread: 't1', input: {}, metadata: { job: 7 } })
  expect(await audits(app)).toEqual([{ job: 7 }])
})

it('has what is known as a run begins in its first row, and takes the request’s model before the agent’s own', async () => {
  const { store, rows } = open(memory())
  const [own, brought] = [seeing('own'), seeing('brought')]
  const app = compile(agentOf(own), { store })
  await app.run({ thread: 't1', input: {} })
  expect(auditsIn(rows)).toEqual([])
  await app.run({ thread: 't1', input: {}, model: brought })
  await app.run({ thread: 't1', input: {} })
  const llms = ['own', 'brought', 'own'].map((model) => ({ llm: { provider: 'p', model } }))
  expect((await audits(app)).toReversed()).toEqual(llms)
})

it('has the model that a function gives when it is asked', async () => {
  const app = compile(
    agentOf(() => seeing('made')),
    { store: memory() },
  )
  await app.run({ thread: 't1', input: {} })
  expect(await audits(app)).toEqual([{ llm: { provider: 'p', model: 'made' } }])
})

it('keeps the audit of a run wherever its record goes', async () => {
  const store = memory()
  const app = compile(asking([seeing('a'), seeing('b')]), { store })
  await app.run({ thread: 't1', input: {} })
  await app.run({ thread: 't1', input: {} })
  const before = await audits(app)
  expect(before).toHaveLength(2)
  const there = compile(asking([]), { store: memory() })
  await there.importThread(await app.exportThread('t1'), { to: 't1' })
  expect(await audits(there)).toEqual(before)
  await app.prune('t1', { keepLast: 1 })
  expect(await audits(app)).toEqual(before.slice(0, 1))
  expect((await modelRows(store)).length).toBe(2)
  await app.delete('t1')
  expect(await rowsOf(store)).toEqual([])
})

it('refuses an export whose audit is damaged', async () => {
  const app = compile(asking([seeing('a')]), { logger: silent })
  await app.run({ thread: 't1', input: {} })
  const value = JSON.parse(JSON.stringify(await app.exportThread('t1'))) as {
    entries: [string, string][]
  }
  const row = value.entries.find(([key]) => key.includes('.m')) as [string, string]
  row[1] = '{"provider":"p"}'
  const there = compile(asking([]), { logger: silent })
  expect(await failure(there.importThread(value as never))).toMatchObject({
    code: 'corrupt_checkpoint',
  })
})

it('fails a run whose audit can’t be stored, before its model is asked', async () => {
  const { store } = open(memory())
  const faulty = withFaults(store)
  const model = seeing('m')
  const app = compile(
    nodeOf(async (ctx) => {
      await faulty.close()
      await ctx.generate(model, { messages: 'hi' })
    }),
    { store: faulty, logger: silent },
  )
  await failure(app.run({ thread: 't1', input: {} }))
  expect(model.asked).toBe(0)
})

it('refuses a run of an agent that has no model and is given none, and stores nothing', async () => {
  const store = memory()
  const app = compile(agentOf(undefined), { store, logger: silent })
  const refused = await failure(app.run({ thread: 't1', input: {} }))
  expect(refused).toMatchObject({
    code: 'no_model',
    details: { agent: 'asked' },
    message: 'Cannot run thread "t1": agent "asked" has no model, and the request brings none',
  })
  expect(await rowsOf(store)).toEqual([])
  const live = app.stream({ thread: 't1', input: {} })
  expect(await failure(live.outcome)).toMatchObject({ code: 'no_model' })
  expect(await app.run({ thread: 't1', input: {}, model: seeing('m') })).toMatchObject({
    status: 'success',
  })
})

it.each<[string, unknown]>([
  ['none', null],
  ['without a provider', { model: 'm', stream() {} }],
  ['without a name', { provider: 'p', stream() {} }],
  ['that can’t be asked', { provider: 'p', model: 'm' }],
  ['that is a name', 'p/m'],
])('refuses a model %s', async (_, model) => {
  const app = compile(agentOf(seeing('own')))
  const error = await failure(app.run({ thread: 't1', input: {}, model } as never))
  expect(error).toBeInstanceOf(TypeError)
  expect(error.message).toBe(
    'Cannot run: model is not a model: an object with provider, model and the method stream',
  )
  expect(await app.state('t1')).toBeUndefined()
})

it('goes on with the model of a request through its waits', async () => {
  const [own, brought] = [seeing('own'), seeing('brought')]
  const clock = manualClock()
  const sleeping = agentOf(own, (ctx) => ctx.sleep(1000))
  const app = compile(sleeping, { clock })
  const ended = app.runUntilDone({ thread: 't1', input: {}, model: brought })
  await clock.advance(1000)
  await ended
  expect([own.asked, brought.asked]).toEqual([0, 1])
  const llm = { provider: 'p', model: 'brought' }
  expect(await audits(app)).toEqual([{ llm }, { llm }])
})

it('hands nodes what a request brings along for agents, for its run only', async () => {
  const seen: unknown[] = []
  const brought = seeing('m')
  const app = compile(
    nodeOf(async (ctx) => {
      const { model, deep } = insideOf(ctx)
      seen.push([model, deep])
      await ctx.interrupt('well?')
    }),
  )
  await app.run({ thread: 't1', input: {}, model: brought, deep: true })
  await app.run({ thread: 't1', answer: 1 })
  expect(seen).toEqual([
    [brought, true],
    [undefined, false],
  ])
  expect(await failure(app.run({ thread: 't2', input: {}, deep: 1 } as never))).toMatchObject({
    name: 'TypeError',
    message: 'Cannot run: deep is not true or false',
  })
})

/** A model that says "yes", and tells when it is asked. */
function seeing(name: string, see: () => void = () => {}): Model & { readonly asked: number } {
  let asked = 0
  const model = scriptedModel(
    () => {
      asked++
      see()
      return { text: 'yes' }
    },
    { provider: 'p', model: name },
  )
  return {
    ...model,
    get asked() {
      return asked
    },
  }
}

/** A graph that asks models one after the other. */
const asking = (models: readonly Model[]): Graph =>
  nodeOf(async (ctx) => {
    for (const [n, model] of models.entries()) await ctx.generate(model, { messages: `${n}` })
  })

/** What an agent is for the engine: a graph that says whose model it asks. */
function agentOf(
  model: Model | (() => Model) | undefined,
  first: (ctx: Context<never>) => unknown = () => {},
): Graph {
  const node = async (ctx: Context<never>): Promise<void> => {
    await first(ctx)
    const { model: brought } = insideOf(ctx)
    const found = brought ?? (typeof model === 'function' ? model() : model)
    await ctx.generate(found as Model, { messages: 'hi' })
  }
  return { ...nodeOf(node), [AGENT]: { name: 'asked', model } } as Graph
}

/** What the context of a node has inside. */
const insideOf = (ctx: Context<never>): NodeInside =>
  (ctx as never as { readonly [INSIDE]: NodeInside })[INSIDE]

const nodeOf = (run: (ctx: Context<never>) => Promise<void>): Graph =>
  graph({
    name: 'asked',
    state: { said: field<string>('') },
    nodes: { say: async (_, ctx) => run(ctx as never) },
    edges: { start: 'say', say: 'end' },
  }) as never

/** The metadata of the thread's runs, newest first. */
const audits = async (app: CompiledGraph): Promise<object[]> =>
  (await all(app.runs('t1'))).map(({ metadata }) => metadata)

/** Models on record in rows of their own, in their order. */
const auditsIn = (rows: ReadonlyMap<string, string>): string[] =>
  [...rows]
    .filter(([key]) => isModel(key))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, text]) => JSON.parse(text) as { provider: string; model: string })
    .map(({ provider, model }) => `${provider}/${model}`)

const modelRows = async (store: Store): Promise<string[]> =>
  (await rowsOf(store)).map(({ key }) => key).filter(isModel)

const isModel = (key: string): boolean => /\/r\/[0-9a-z]{10}\.m/.test(key)
