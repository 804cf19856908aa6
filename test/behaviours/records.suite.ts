// What is on record of runs, of the models that served them and of questions, and what watchers hear of it: in every
// place, on its own stores, with everything opened again between requests.
import {
  agent,
  compile,
  field,
  graph,
  question,
  ThreadRunner,
  tool,
  type CompiledGraph,
  type CompileOptions,
  type Context,
  type Graph,
  type Run,
  type Store,
} from 'heddle'
import { manualClock, scriptedModel } from 'heddle/testing'
import { Watcher } from '../engine/watch-parts.ts'
import { silent } from '../fakes/silent.ts'
import {
  all,
  casesOf,
  equal,
  fits,
  refusedWith,
  type Case,
  type Cases,
  type Open,
} from './portable.ts'

const cases: Cases = {
  async 'a run is starting or resuming when it is claimed, runs, and has one end'(reopen) {
    const store = await reopen()
    const seen: string[] = []
    const look = compile(asking, { store })
    const app = compile(asking, {
      store: beside(store, async () => {
        const [run] = await all(look.runs('t'))
        if (run && seen.at(-1) !== run.status) seen.push(run.status)
      }),
    })
    await app.run({ thread: 't', input: {} })
    await app.run({ thread: 't', answer: 'yes' })
    await app.run({ thread: 't', input: {} })
    await app.cancel('t')
    const turn = ['starting', 'running', 'interrupted']
    equal(seen, [...turn, 'resuming', 'running', 'success', ...turn], 'statuses')
    const runs = await all(look.runs('t'))
    equal(runs.map(briefly), ['interrupted', 'success', 'interrupted'], 'records')
    equal((await look.state('t'))?.status, 'cancelled', 'the thread')
  },

  async 'each way to end is on record, with who ran it, for what, when, and why it failed'(reopen) {
    const clock = manualClock('2026-03-01T08:00:00Z')
    const caller = new AbortController()
    const root = new RangeError('no paper')
    const ways: Readonly<Record<string, (ctx: Context<unknown>) => unknown>> = {
      success: () => 'done',
      interrupted: (ctx) => Promise.all([ctx.interrupt('well?'), ctx.sleep(1000)]),
      waiting: (ctx) => ctx.sleep(1000),
      error: () => {
        throw Object.assign(new TypeError('the printer is out', { cause: root }), { code: 'E_OUT' })
      },
      cancelled: () => {
        caller.abort(new Error('enough'))
        return new Promise(() => {})
      },
    }
    for (const [status, way] of Object.entries(ways)) {
      const about = { user: 'ann', metadata: { job: status } }
      const app = compile(nodeOf(way), { store: await reopen(), clock, logger: silent })
      const signal = caller.signal.aborted ? new AbortController().signal : caller.signal
      await app.run({ thread: status, input: {}, signal, ...about }).catch(() => {})
      const again = compile(nodeOf(way), { store: await reopen(), clock })
      const [run, ...more] = await all(again.runs(status))
      const at = '2026-03-01T08:00:00.000Z'
      const error =
        status === 'cancelled'
          ? { name: 'Error', message: 'enough' }
          : {
              name: 'TypeError',
              message: 'the printer is out',
              code: 'E_OUT',
              cause: { name: 'RangeError', message: 'no paper' },
            }
      const failed = status === 'error' || status === 'cancelled'
      equal(
        byName(run),
        byName({
          id: run?.id,
          status,
          root: run?.id,
          user: 'ann',
          metadata: { job: status },
          thread: status,
          ...(failed && { error }),
          usage: {},
          startedAt: at,
          endedAt: at,
        }),
        `the record of what is ${status}`,
      )
      equal(more, [], 'more')
    }
  },

  async 'a failure before the first node is on record, and what is refused is not'(reopen) {
    const lost = graph({
      name: 'records',
      state: { said: field<string>('') },
      nodes: { say: () => undefined },
      edges: {
        start: () => {
          throw new Error('which way?')
        },
        say: 'end',
      },
    }) as unknown as Graph
    const app = compile(lost, { store: await reopen(), logger: silent })
    await app.run({ thread: 't', input: {} }).catch(() => {})
    await refusedWith('schema_error', () => app.run({ thread: 't', input: { unknown: 1 } }))
    const [run, ...more] = await all(compile(lost, { store: await reopen() }).runs('t'))
    equal([run && briefly(run), run?.error?.message, more], ['error', 'which way?', []], 'records')
  },

  async 'runs name the one that they continue and the first of their chain, whose records stay as they are'(
    reopen,
  ) {
    let fails = true
    const make = (): Graph =>
      nodeOf(async (ctx) => {
        await ctx.interrupt('well?')
        if (fails) throw new Error('not yet')
      })
    const app = async (): Promise<CompiledGraph> =>
      compile(make(), { store: await reopen(), logger: silent })
    const first = (await (await app()).run({ thread: 't', input: {} })).run
    await (await app()).run({ thread: 't', answer: 1 }).catch(() => {})
    fails = false
    const third = (await (await app()).run({ thread: 't' })).run
    await (await app()).run({ thread: 't', input: {} })
    const [turn, ...runs] = await all((await app()).runs('t'))
    equal(runs.map(briefly), ['success', 'error', 'interrupted'], 'statuses')
    equal(
      runs.map(({ root }) => root),
      [first, first, first],
      'roots',
    )
    equal(
      runs.map(({ continues }) => continues),
      [runs[1]?.id, first, undefined],
      'continues',
    )
    equal(
      [runs[0]?.id, turn?.root === turn?.id, turn?.continues],
      [third, true, undefined],
      'turns',
    )
  },

  async 'questions are on record with their answers, by whom and when, and an inbox has the open ones of all threads'(
    reopen,
  ) {
    const clock = manualClock('2026-03-01T08:00:00Z')
    const options = async (): Promise<CompileOptions> => ({ store: await reopen(), clock })
    for (const [thread, user] of [
      ['a', 'ann'],
      ['b', 'bob'],
      ['c', 'cem'],
    ] as const)
      await compile(asking, await options()).run({ thread, input: {}, user })
    const inbox = await compile(asking, await options()).interruptions()
    equal(
      inbox.map(({ thread, user, payload, status }) => [thread, user, payload, status]),
      [
        ['a', 'ann', { type: 'form', n: 1 }, 'open'],
        ['b', 'bob', { type: 'form', n: 1 }, 'open'],
        ['c', 'cem', { type: 'form', n: 1 }, 'open'],
      ],
      'the inbox',
    )
    await clock.advance(5000)
    const [a] = inbox
    if (!a) throw new Error('nothing is open')
    const answers = sure.reply(a as never, 'yes')
    await compile(asking, await options()).run({ thread: 'a', answers, user: 'dee' })
    await compile(asking, await options()).cancel('c')
    const app = compile(asking, await options())
    equal(
      (await app.interruptions()).map(({ thread }) => thread),
      ['b'],
      'what is open',
    )
    const [answered] = await app.interruptions({ status: 'answered' })
    equal(
      byName(answered),
      byName({
        ...a,
        status: 'answered',
        answer: 'yes',
        answeredBy: 'dee',
        answeredAt: '2026-03-01T08:00:05.000Z',
      }),
      'what was answered',
    )
    equal((await app.interruptions({ thread: 'c', status: 'cancelled' })).length, 1, 'cancelled')
    await refusedWith('nothing_to_resume', () => app.run({ thread: 'a', answers }))
  },

  async 'a conversation is on record: its models, its approval, its messages; watchers hear of each thing once'(
    reopen,
  ) {
    const seen = new Watcher()
    const ran: string[] = []
    const opened = async (): Promise<CompiledGraph> =>
      compile(helper(ran), { store: await reopen(), ...seen.both }) as unknown as CompiledGraph
    const asked = await new ThreadRunner({ app: await opened(), thread: 't', user: 'ann' }).run(
      ' Remove x ',
    )
    const [approval] = asked.status === 'interrupted' ? asked.interruptions : []
    if (!approval) throw new Error('nothing was asked')
    equal([approval.agent, approval.user, ran], ['helper', 'ann', []], 'who asks')
    const own = scriptedModel([{ text: 'Gone.' }], { provider: 'own', model: 'm' })
    const bob = new ThreadRunner({ app: await opened(), user: 'bob', model: own })
    const ended = await bob.resume(approval, { approve: true })
    equal([ended.status, ran], ['success', ['x']], 'what came of it')
    const app = await opened()
    equal(
      (await all(app.runs('t'))).map(({ user, status, metadata }) => [user, status, metadata]),
      [
        ['bob', 'success', { llm: { provider: 'own', model: 'm' } }],
        ['ann', 'interrupted', { llm: { provider: 'scripted', model: 'script' } }],
      ],
      'runs',
    )
    const [answered] = await app.interruptions({ thread: 't', status: 'answered' })
    equal([answered?.id, answered?.answeredBy], [approval.id, 'bob'], 'the approval')
    equal(
      seen.order.filter((one) => one !== 'model_request' && one !== 'model_response'),
      [
        ...['run_start', 'message', 'thinking', 'thinking', 'message'],
        ...['run_interrupt', 'waiting_input', 'run_start', 'thinking', 'message'],
        ...['thinking', 'message', 'run_end', 'idle'],
      ],
      'what was told',
    )
    equal(
      seen.of('message').map(({ role }) => role),
      ['user', 'assistant', 'tool', 'assistant'],
      'messages',
    )
  },
}

const sure = question({
  key: 'sure',
  payload: field<{ type: string; n: number }>(),
  answer: fits((value): value is string => typeof value === 'string', 'Expected a text'),
})

const asking = graph({
  name: 'records',
  state: { said: field<string>('') },
  questions: [sure],
  nodes: {
    say: async (_, ctx) => ({ said: await ctx.interrupt({ type: 'form', n: 1 }, sure) }),
  },
  edges: { start: 'say', say: 'end' },
})

const nodeOf = (run: (ctx: Context<unknown>) => unknown): Graph =>
  graph({
    name: 'records',
    state: { said: field<string>('') },
    nodes: { say: async (_, ctx) => void (await run(ctx as never)) },
    edges: { start: 'say', say: 'end' },
  }) as unknown as Graph

/** An agent whose one tool needs an approval. */
const helper = (ran: string[]): ReturnType<typeof agent> =>
  agent({
    name: 'helper',
    model: scriptedModel(() => ({ calls: [{ tool: 'remove', args: { file: 'x' } }] })),
    tools: [
      tool({
        name: 'remove',
        description: 'Removes a file.',
        input: field<{ file: string }>(),
        parameters: { type: 'object' },
        approve: true,
        run: ({ file }) => void ran.push(file),
      }),
    ],
  })

/** The same members, in the order of their names. */
const byName = (record: object = {}): object =>
  Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)))

const briefly = ({ status }: Run): string => status

/** The same store, with something done after each commit that landed. */
const beside = (store: Store, after: () => Promise<void>): Store => ({
  name: store.name,
  caps: store.caps,
  get: (keys) => store.get(keys),
  list: (range) => store.list(range),
  async commit(batch) {
    const revision = await store.commit(batch)
    if (revision !== undefined) await after()
    return revision
  },
  clear: (prefix) => store.clear(prefix),
})

export const suite = (open: Open): readonly Case[] => casesOf('records', open, cases)
