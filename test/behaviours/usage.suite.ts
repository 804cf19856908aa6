// What models reported adds up, per run and per thread, whatever the thread goes through; on stores of the place we run in.
import {
  addUsage,
  budget,
  compile,
  graph,
  type CompiledGraph,
  type Context,
  type Run,
  type Store,
  type TokenUsage,
} from 'heddle'
import { manualClock, type Fault, type Operation } from 'heddle/testing'
import { silent } from '../fakes/silent.ts'
import { afterFaults, LEASE, machine, told } from './faults-tools.ts'
import {
  all,
  casesOf,
  equal,
  pause,
  refusedWith,
  type Case,
  type Cases,
  type Open,
} from './portable.ts'
import { of, prices, talk, times, World } from './usage-parts.ts'

const cases: Cases = {
  async 'over requests side by side, child graphs, sub-agents, pauses and new processes'(reopen) {
    for (const [rebuilt, durability] of [
      [false, 'step'],
      [true, 'step'],
      [true, 'exit'],
    ] as const) {
      const world = new World()
      const thread = `t-${rebuilt}-${durability}`
      // Where reads lag, whoever subscribes waits by the clock: it has to go on.
      const options = { prices, durability, logger: silent }
      const open = async (): Promise<CompiledGraph> =>
        compile(talk('talk', world), { ...options, store: await reopen() })
      const first = await open()
      const asked = await first.run({ thread, input: {} })
      equal([asked.status, asked.usage], ['interrupted', times(3)], 'the run that pauses')
      const app = rebuilt ? await open() : first
      const live = app.stream({ thread, answer: 'on' })
      const events = await all(live)
      const { usage, run } = await live.outcome
      equal(usage, times(2), 'the run that goes on')
      equal(world.asked, 5, 'requests in all')
      const after = events[0]!.seq - 1
      for (const seen of [events, await all(app.subscribe(thread, { after, run }))])
        equal((seen.at(-1) as { readonly usage?: TokenUsage }).usage, usage, 'what done says')
      equal(
        (await runsOf(app, thread)).map((one) => one.usage),
        [times(2), times(3)],
        'runs',
      )
      equal(await usageOf(app, thread), times(5), 'the thread')
      await app.run({ thread, input: {} })
      equal(await usageOf(app, thread), times(8), 'the thread, in its next turn')
      equal((await runsOf(app, thread)).at(0)?.usage, times(3), 'the run of the next turn')
    }
  },

  async 'and a figure that nobody reported stays absent'(reopen) {
    const says = (usage?: TokenUsage) =>
      of(async function* () {
        yield { kind: 'text', delta: 'a' }
        yield { kind: 'finish', reason: 'stop', ...(usage && { usage }) }
      })
    const models = [says(), says({ output: 0 }), says({ input: 4, reasoning: 1 })]
    const app = asks(await reopen(), async (ctx) => {
      for (const model of models) await ctx.generate(model, { messages: 'x' })
    })
    const { usage } = await app.run({ thread: 't', input: {} })
    const sum = { input: 4, output: 0, reasoning: 1, total: 4, requests: 3 }
    equal(sorted(usage), sorted(sum), 'usage')
    const none = asks(await reopen(), async () => {})
    equal((await none.run({ thread: 'u', input: {} })).usage, {}, 'usage without a model')
    equal(await usageOf(none, 'u'), {}, 'that of the thread')
  },

  async 'over attempts that billed and repairs, whether the run succeeds or not'(reopen) {
    let tries = 0
    const breaks = of(async function* () {
      tries++
      yield { kind: 'usage', usage: { input: 7, output: 1 } }
      yield { kind: 'text', delta: 'half' }
      if (tries % 3 !== 0) throw new Error('broken')
      yield { kind: 'finish', reason: 'stop', usage: { input: 7, output: 2 } }
    })
    const app = asks(await reopen(), (ctx) => ctx.generate(breaks, { messages: 'x' }), {
      retry: { attempts: 2, delay: 1 },
    })
    const error = await refusedWith('model_error', () => app.run({ thread: 't', input: {} }))
    equal(error.details.model, 'm', 'the model that failed')
    const two = { input: 14, output: 2, total: 16, requests: 2 }
    equal(
      (await runsOf(app, 't')).map(({ usage }) => sorted(usage)),
      [sorted(two)],
      'the run',
    )
    const { usage } = await app.run({ thread: 't' })
    equal(sorted(usage), sorted({ input: 7, output: 2, total: 9, requests: 1 }), 'the next')
    const three = { input: 21, output: 4, total: 25, requests: 3 }
    equal(sorted((await usageOf(app, 't')) ?? {}), sorted(three), 'the thread')
  },

  async 'over requests that were sent and reported nothing, however they ended'(reopen) {
    const says = (...events: readonly (object | Error)[]) =>
      of(async function* () {
        for (const event of events)
          if (event instanceof Error) throw event
          else yield event
      })
    const text = { kind: 'text', delta: 'a' }
    const hangs = of(async function* () {
      yield text
      await new Promise(() => {})
    })
    const onEvent = (): never => {
      throw new Error('gone')
    }
    const app = asks(await reopen(), async (ctx) => {
      for (const [model, more] of [
        [says(text, new Error('x')), {}],
        [says(text), {}],
        [says(new Error('x')), {}],
        [hangs, { timeout: 1 }],
        [says(text), { onEvent }],
        [says({ kind: 'finish', reason: 'stop' }), {}],
      ] as const)
        await ctx.generate(model, { messages: 'x', ...more }).catch(() => {})
      throw new Error('after all of them')
    })
    await app.run({ thread: 't', input: {} }).catch(() => {})
    const [run] = await runsOf(app, 't')
    equal([run?.status, run?.usage], ['error', { requests: 6 }], 'the run')
    equal(await usageOf(app, 't'), { requests: 6 }, 'the thread')
  },

  async 'when a run is stopped in the middle of a stream'(reopen) {
    let begun = (): void => {}
    const streams = new Promise<void>((resolve) => (begun = resolve))
    const slow = of(async function* (signal) {
      yield { kind: 'usage', usage: { input: 9 } }
      yield { kind: 'text', delta: 'half' }
      begun()
      await new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error))
      })
    })
    const app = asks(await reopen(), (ctx) => ctx.generate(slow, { messages: 'x' }))
    const running = refusedWith('cancelled', () => app.run({ thread: 't', input: {} }))
    await streams
    await app.cancel('t')
    await running
    const [run] = await runsOf(app, 't')
    equal([run?.status, run?.usage.input], ['cancelled', 9], 'the run')
    equal(sorted((await usageOf(app, 't')) ?? {}), sorted(run!.usage), 'the thread')
  },

  async 'when a reply could not be stored: it was paid for'(reopen) {
    let tries = 0
    let broken = 0
    const store = await reopen()
    const flaky: Store = {
      name: store.name,
      caps: store.caps,
      get: (keys) => store.get(keys),
      list: (range) => store.list(range),
      clear: (prefix) => store.clear(prefix),
      commit: async (batch) => {
        if (broken-- > 0) throw new Error('out of order')
        return store.commit(batch)
      },
    }
    const model = of(async function* () {
      // A commit is tried twice.
      if (tries++ === 0) broken = 2
      yield { kind: 'finish', reason: 'stop', usage: { input: 3 } }
    })
    const app = asks(flaky, (ctx) => ctx.generate(model, { messages: 'x' }))
    const error = await app.run({ thread: 't', input: {} }).catch(String)
    equal(String(error), 'Error: out of order', 'how it fails')
    equal((await app.run({ thread: 't' })).usage.requests, 1, 'the next run')
    const both = (await runsOf(app, 't')).map(({ status, usage }) => [status, usage.input])
    equal(
      both,
      [
        ['success', 3],
        ['error', 3],
      ],
      'runs',
    )
    equal((await usageOf(app, 't'))?.total, 6, 'the thread')
  },

  async 'when a process dies: its record shows what is known of it, by then and later'(reopen) {
    const world = new World()
    const here = machine(await reopen(), talk('t', world), [], { prices })
    world.hangs = true
    void told(here.app, { thread: 't', input: {} })
    while (!world.hung) await pause(1)
    const until = async (n: number): Promise<Run | undefined> => {
      for (;;) {
        const [run] = await runsOf(here.app, 't')
        if (run?.usage.requests === n) return run
        await pause(1)
      }
    }
    equal((await until(2))?.usage, times(2), 'while it runs')
    here.later(LEASE + 1)
    world.hangs = false
    equal((await told(here.app, { thread: 't' })).end, 'interrupted', 'how the next ends')
    const [now, dead] = await runsOf(here.app, 't')
    equal([dead?.error?.code, dead?.usage], ['lease_lost', times(2)], 'the one that died')
    equal(now?.usage, times(1), 'the next')
    equal(await usageOf(here.app, 't'), times(3), 'the thread')
  },

  async 'when a run is cancelled that has died, and when a request follows one that has ended'(
    reopen,
  ) {
    const world = new World()
    const here = machine(await reopen(), talk('t', world), [], { prices })
    world.hangs = true
    void told(here.app, { thread: 't', input: {} })
    while (!world.hung || (await usageOf(here.app, 't'))?.requests !== 2) await pause(1)
    here.later(LEASE + 1)
    world.hangs = false
    await here.app.cancel('t')
    const [run] = await runsOf(here.app, 't')
    equal([run?.status, run?.usage], ['cancelled', times(2)], 'the run')
    const request = { thread: 'u', input: {}, idempotencyKey: 'once' }
    const { usage } = await here.app.run(request)
    equal(usage, times(3), 'a run')
    equal((await here.app.run(request)).usage, usage, 'what the same request says again')
    equal(await usageOf(here.app, 'u'), times(3), 'its thread')
  },

  async 'for budgets: since the last input, over the runs that go on, or of the thread in all'(
    reopen,
  ) {
    const store = await reopen()
    for (const per of ['run', 'thread'] as const) {
      const world = new World()
      const options = { hooks: [budget({ tokens: 60, per })], prices, ...quiet() }
      const app = compile(talk(`talk-${per}`, world), { ...options, store })
      const refused = async (request: object): Promise<unknown> => {
        const run = (): Promise<unknown> => app.run({ thread: per, ...request } as never)
        return (await refusedWith('budget_exceeded', run)).details
      }
      equal((await app.run({ thread: per, input: {} })).usage.total, 45, 'tokens by the question')
      const over = { limit: 'tokens', used: 60, allowed: 60 }
      // One more request, and then none for the sub-agent.
      equal(await refused({ answer: 'on' }), over, 'after it')
      equal((await runsOf(app, per))[0]?.usage.total, 15, 'tokens of the run that failed')
      if (per === 'thread') equal(await refused({ input: {} }), over, 'the next turn')
      else equal((await app.run({ thread: per, input: {} })).status, 'interrupted', 'the next turn')
    }
  },

  async 'on branches, not in forks, and in another store'(reopen) {
    const world = new World()
    const store = await reopen()
    const clock = manualClock()
    const app = compile(talk('talk', world), { store, prices, clock, logger: silent })
    const { checkpoint } = await app.run({ thread: 't', input: {} })
    const { usage } = await app.run({ thread: 't', answer: 'on' })
    equal(usage, times(2), 'a run')
    await app.fork('t', { from: checkpoint })
    equal(await usageOf(app, 't'), times(5), 'a thread with a branch more')
    const again = await app.run({ thread: 't' })
    equal(again.usage, times(1), 'the run of the branch')
    equal(await usageOf(app, 't'), times(6), 'that thread then')
    await app.fork('t', { from: checkpoint, to: 'u' })
    equal(await usageOf(app, 'u'), {}, 'the thread that a fork made')
    await app.run({ thread: 'u' })
    equal(await usageOf(app, 'u'), times(1), 'that thread then')
    // Where lists lag, that long after the last commit.
    await clock.advance(1_000_000)
    await app.prune('t', { keepLast: 1 })
    await clock.advance(1_000_000)
    const sent = JSON.parse(JSON.stringify(await app.exportThread('t'))) as never
    equal(sorted((await app.importThread(sent, { to: 'v' })).usage), sorted(times(6)), 'a copy')
    const copied = (await runsOf(app, 'v')).map((one) => one.usage)
    equal(
      copied,
      (await runsOf(app, 't')).map((one) => one.usage),
      'the runs of the copy',
    )
    await app.run({ thread: 'v', answer: 'on' })
    equal((await usageOf(app, 'v'))?.requests, 8, 'the copy goes on counting')
  },

  ...afterFaults((what) => `after ${what}`, attempt),
}

/** The cases, against stores of the place we run in. */
export function suite(open: Open): readonly Case[] {
  return casesOf('usage', open, cases)
}

const sorted = (usage: TokenUsage): unknown => Object.entries(usage).sort()

const quiet = () => ({ clock: manualClock(), logger: silent })

/** An app whose one node does this. */
const asks = (
  store: Store,
  work: (ctx: Context) => Promise<unknown>,
  more: object = {},
): CompiledGraph =>
  compile(
    graph({
      name: 'asks',
      state: {},
      nodes: { work: { ...more, run: async (_, ctx) => void (await work(ctx)) } },
      edges: { start: 'work', work: 'end' },
    }),
    { store, logger: silent },
  )

const runsOf = (app: CompiledGraph, thread: string): Promise<Run[]> => all(app.runs(thread))

async function usageOf(app: CompiledGraph, thread: string): Promise<TokenUsage | undefined> {
  return (await all(app.threads())).find(({ id }) => id === thread)?.usage
}

/** A turn with a question, on a store that fails. */
async function attempt(
  store: Store,
  thread: string,
  faults: readonly Fault[],
): Promise<readonly Operation[]> {
  const world = new World()
  const here = machine(store, talk(thread, world), faults, { prices })
  // Whoever looks has no faults.
  const { app } = machine(store, talk(thread, world))
  for (let tries = 0; ; tries++) {
    const known = await app.state(thread)
    if (known?.status === 'success') break
    if (tries === 6) throw new Error('it does not end')
    const asked = known?.status === 'interrupted'
    await told(here.app, {
      thread,
      ...(known ? asked && { answer: 'on' } : { input: {} }),
    } as never)
    if (here.store.crashed) here.later(LEASE + 1)
  }
  const runs = await runsOf(app, thread)
  const sum = runs.reduce((so, { usage }) => addUsage(so, usage), {})
  const usage = (await usageOf(app, thread)) as TokenUsage
  equal(sorted(usage), sorted(sum), 'the thread has used what its runs have')
  const { requests = 0 } = usage
  equal(sorted(usage), sorted(times(requests)), 'each request counts as a whole')
  const crashed = faults.some((fault) => 'crash' in fault)
  const fits = crashed ? requests >= 5 && requests <= world.asked : requests === world.asked
  equal(fits, true, `${requests} of ${world.asked} requests, 5 of which had to be made, count`)
  const operations = [...here.store.log]
  await app.delete(thread)
  return operations
}
