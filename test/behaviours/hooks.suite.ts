// Hooks in every place: the rules of dispatch, hooks around nodes over pauses and failures, events, and that nothing is
// left of them (B40).
import {
  compile,
  isControlFlow,
  runAfter,
  runBefore,
  runOnError,
  shortCircuit,
  type CompileOptions,
  type Emitted,
  type Hook,
  type Store,
} from 'heddle'
import { manualClock } from 'heddle/testing'
import { never, one, scribe, two, type Run } from './hooks-parts.ts'
import { silent } from '../fakes/silent.ts'
import { pause, casesOf, equal, type Case, type Cases, type Open } from './portable.ts'

/** The cases, against stores of the place we run in. */
export function suite(open: Open): readonly Case[] {
  return casesOf('hooks', open, table)
}

type Reopen = () => Promise<Store>

/** What a promise rejects with. */
const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => {
      throw new Error('It was not refused')
    },
    (error: unknown) => error,
  )

/** An app of such a node that is made anew for every request. */
const maker =
  (a: Run, options: CompileOptions, more: object = {}) =>
  async (reopen: Reopen): Promise<ReturnType<typeof compile>> =>
    compile(one(a, more), { logger: silent, ...options, store: await reopen() }) as never

const table: Cases = {
  async 'an abort of the platform is control flow, a timeout of it and a name are not'() {
    const named = Object.assign(new Error('aborted'), { name: 'AbortError' })
    const controller = new AbortController()
    controller.abort()
    equal(isControlFlow(controller.signal.reason), true, 'the reason of a signal')
    equal(isControlFlow(new DOMException('aborted', 'AbortError')), true, 'AbortError')
    equal(isControlFlow(new DOMException('late', 'TimeoutError')), false, 'TimeoutError')
    equal(isControlFlow(named), false, 'an error of that name')
  },

  async 'the dispatchers go by the given order, and the first short circuit wins'() {
    const seen: string[] = []
    const hooks: Hook[] = [
      { beforeTool: () => void seen.push('a'), afterTool: () => null },
      { beforeTool: async () => shortCircuit(1), onToolError: () => shortCircuit(2) },
      { beforeTool: () => void seen.push('c'), afterTool: (_, value) => [value] },
    ]
    equal((await runBefore(hooks, 'beforeTool', {}))?.shortCircuit, 1, 'before')
    equal(await runAfter<unknown>(hooks, 'afterTool', {}, 'x'), [null], 'after')
    equal((await runOnError(hooks, 'onToolError', {}, 'no'))?.shortCircuit, 2, 'on an error')
    equal(seen, ['a'], 'what was asked')
  },

  async 'a paused node is asked about again, and its hooks see no error'(reopen) {
    const seen: string[] = []
    const hooks = [scribe('h1', seen), scribe('h2', seen)]
    const a: Run = async (_, ctx) => ({ x: (await ctx.interrupt('how many?')) as number })
    const make = maker(a, { hooks })
    equal((await (await make(reopen)).run({ thread: 't', input: {} })).status, 'interrupted', 'it')
    const ended = await (await make(reopen)).run({ thread: 't', answer: 4 })
    equal(ended.state, { x: 4, list: [] }, 'the state')
    const before = ['h1 before a', 'h2 before a']
    equal(seen, [...before, ...before, 'h2 after a', 'h1 after a'], 'the hooks')
  },

  async 'a hook that fails after a node does not have it run again'(reopen) {
    const calls = { a: 0 }
    let error: Error | undefined = new Error('no')
    const hook: Hook = {
      async afterNode(_, update) {
        if (error) throw error
        return { x: (update as { x: number }).x + 1 }
      },
    }
    const make = maker(() => ({ x: 10 * ++calls.a }), { hooks: [hook] })
    const first = await failure((await make(reopen)).run({ thread: 't', input: {} }))
    equal(first === error, true, 'the same error')
    error = undefined
    const ended = await (await make(reopen)).run({ thread: 't' })
    equal([ended.state, calls.a], [{ x: 11, list: [] }, 1], 'what came of it')
  },

  async 'a hook recovers from an error, or leaves it as it is, with its own beside'(reopen) {
    const primary = new Error('primary')
    const another = new Error('another')
    const broken: Hook = { onNodeError: () => Promise.reject(another) }
    const good: Hook = { onNodeError: () => shortCircuit({ x: 3 }) }
    const a: Run = () => Promise.reject(primary)
    const bad = await maker(a, { hooks: [broken] })(reopen)
    equal((await failure(bad.run({ thread: 't', input: {} }))) === primary, true, 'the primary')
    const { suppressed } = primary as { suppressed?: unknown[] }
    equal([suppressed?.length, suppressed?.[0] === another], [1, true], 'the other')
    const ended = await (await maker(a, { hooks: [good, broken] })(reopen)).run({ thread: 't' })
    equal(ended.state, { x: 3, list: [] }, 'the state')
  },

  async 'a hook that never settles is late by the clock, and leaves no timer'(reopen) {
    for (const hook of [{ beforeNode: never }, { afterNode: never }] as Hook[]) {
      const clock = manualClock()
      const app = await maker(() => ({ x: 1 }), { hooks: [hook], clock }, { timeout: 20 })(reopen)
      const thread = Object.keys(hook)[0] as string
      const late = failure(app.run({ thread, input: {} }))
      // The way to the hook is as long as the store takes.
      while ((await app.state(thread))?.status !== 'running') await pause(1)
      let settled = false
      void late.then(() => (settled = true))
      for (; !settled; await pause(1)) await clock.advance(20)
      equal(((await late) as Error).name, 'TimeoutError', 'the error')
      equal(clock.pending, 0, 'timers')
    }
  },

  async 'a hook that never settles is left by an abort, and hears of it'(reopen) {
    const clock = manualClock()
    const reason = new Error('stop')
    let there = (): void => {}
    const begun = new Promise<void>((resolve) => (there = resolve))
    const heard: unknown[] = []
    const hook: Hook = {
      beforeNode({ ctx }) {
        ctx.signal.addEventListener('abort', () => void heard.push(ctx.signal.reason))
        there()
        return never()
      },
    }
    const app = await maker(() => ({}), { hooks: [hook], clock }, { timeout: 60_000 })(reopen)
    const live = app.stream({ thread: 't', input: {} })
    await begun
    live.abort(reason)
    equal((await failure(live.outcome)) === reason, true, 'the reason')
    equal([heard.length, heard[0] === reason, clock.pending], [1, true, 0], 'what is left')
  },

  async 'a hook is told of every event in order, and the outcome waits for it'(reopen) {
    const told: Emitted[] = []
    const hook: Hook = {
      async onEvent(emitted) {
        await new Promise((resolve) => setTimeout(resolve, 2))
        told.push(emitted)
      },
    }
    const a: Run = (_, ctx) => void [1, 2, 3].map((n) => ctx.emit({ n }))
    const app = await maker(a, { hooks: [hook] })(reopen)
    const { run } = await app.run({ thread: 't', input: {} })
    const from = { thread: 't', run, ns: [], step: 1, node: 'a' }
    equal(
      told,
      [1, 2, 3].map((n) => ({ ...from, event: { n } })),
      'what was told',
    )
  },

  async 'a hook that never settles over an event is given up after the grace'(reopen) {
    const clock = manualClock()
    const hook: Hook = { onEvent: never }
    const options = { hooks: [hook], clock, graceMs: 30, logger: silent }
    const app = compile(
      two((_, ctx) => void ctx.emit(1)),
      { ...options, store: await reopen() },
    )
    const running = app.run({ thread: 't', input: {} })
    let settled = false
    void running.then(() => (settled = true))
    for (; !settled; await pause(1)) await clock.advance(30)
    equal([(await running).status, clock.pending], ['success', 0], 'the end')
  },

  async 'a run closes its scope before its outcome is there'(reopen) {
    const log: string[] = []
    const a: Run = (_, ctx) => {
      ctx.scope.defer(() => void log.push('first'))
      ctx.scope.defer(async () => void log.push('second'))
      return ctx.interrupt('?')
    }
    const app = await maker(a, {})(reopen)
    log.push((await app.run({ thread: 't', input: {} })).status)
    equal(log, ['second', 'first', 'interrupted'], 'the order')
  },
}
