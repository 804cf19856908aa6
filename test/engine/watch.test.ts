import {
  compile,
  field,
  graph,
  memory,
  type CompiledGraph,
  type CompileOptions,
  type Graph,
} from 'heddle'
import { manualClock } from 'heddle/testing'
import { expect, it } from 'vitest'
import { all, failure } from '../behaviours/harness.ts'
import { silent } from '../fakes/silent.ts'
import { open, steps, truth, Watcher } from './watch-parts.ts'

it('tells of a run that succeeds when it runs and when it has ended, by the app’s clock', async () => {
  const clock = manualClock('2026-03-01T08:00:00Z')
  const { app, seen } = watched(
    steps(() => ({ said: 'yes' })),
    { clock },
  )
  const { run } = await app.run({ thread: 't1', input: {} })
  const about = { run, thread: 't1', at: '2026-03-01T08:00:00.000Z' }
  expect(seen.told).toEqual([
    { ...about, kind: 'run_start' },
    { ...about, kind: 'run_end' },
  ])
  expect(seen.order).toEqual(['run_start', 'thinking', 'run_end', 'idle'])
})

it('shows a run to presences as one and the same object, which nobody can change', async () => {
  const { app, seen } = watched(steps(() => undefined))
  const { run } = await app.run({ thread: 't1', input: {} })
  const [[, first], [, second]] = seen.shown as never as [[string, object], [string, object]]
  expect(second).toBe(first)
  expect(first).toEqual({ run, thread: 't1', agent: 'asked' })
  expect(Object.isFrozen(first)).toBe(true)
})

it('tells of every run of a thread: the first, a resumed one, one more turn, one by the clock', async () => {
  const clock = manualClock()
  const { app, seen } = watched(
    steps(async (ctx, said) => {
      if (said === 'ask') await ctx.interrupt('sure?')
      if (said === 'wait') await ctx.sleep(1000)
      return { said: 'done' }
    }),
    { clock },
  )
  const ids = [
    (await app.run({ thread: 't1', input: { said: 'ask' } })).run,
    (await app.run({ thread: 't1', answer: true })).run,
    (await app.run({ thread: 't1', input: { said: 'wait' } })).run,
  ]
  await clock.advance(1000)
  expect((await app.tick()).woken).toEqual(['t1'])
  const runs = (await all(app.runs('t1'))).map(({ id }) => id).toReversed()
  expect(runs.slice(0, 3)).toEqual(ids)
  expect(seen.of('run_start').map(({ run }) => run)).toEqual(runs)
  expect(seen.of('run_end').map(({ run }) => run)).toEqual([runs[1], runs[3]])
  expect(seen.states).toEqual([
    ...['thinking', 'waiting_input'],
    ...['thinking', 'idle'],
    ...['thinking', 'idle'],
    ...['thinking', 'idle'],
  ])
})

it('tells of a question once, however often its node is entered again while it is open', async () => {
  const { app, seen } = watched(
    steps(async (ctx) => {
      const [a, b] = await Promise.all([
        ctx.interrupt({ tool_name: 'shell', n: 1 }),
        ctx.interrupt({ type: 'form' }),
      ])
      return { said: `${a} ${b}` }
    }),
  )
  const first = await app.run({ thread: 't1', input: {} })
  if (first.status !== 'interrupted') throw new Error(first.status)
  const [one, two] = first.interruptions.map(({ id }) => id) as [string, string]
  const about = { status: 'interrupted', run: first.run }
  expect(seen.of('run_interrupt')).toMatchObject([
    { ...about, interruptionId: one, toolName: 'shell' },
    { ...about, interruptionId: two, toolName: 'form' },
  ])
  const second = await app.run({ thread: 't1', answers: { [two]: 'b' } })
  expect(second.status).toBe('interrupted')
  expect(seen.of('run_interrupt')).toHaveLength(2)
  expect(seen.states.slice(2)).toEqual(['thinking', 'waiting_input'])
  const third = await app.run({ thread: 't1', answers: { [one]: 'a' } })
  expect(third.state).toEqual({ said: 'a b' })
  expect(seen.kinds.slice(-2)).toEqual(['run_start', 'run_end'])
})

it.each<[unknown, string]>([
  [{ tool_name: 'shell', type: 'form' }, 'shell'],
  [{ tool_name: '', type: 'form' }, 'form'],
  [{ tool_name: 7, type: 'form' }, 'form'],
  [{ type: 'form' }, 'form'],
  [{ type: null }, 'ask_human'],
  ['shell', 'ask_human'],
  [null, 'ask_human'],
  [undefined, 'ask_human'],
  [new Map([['tool_name', 'shell']]), 'ask_human'],
])('names the tool of a question by its payload: %o is about %s', async (payload, toolName) => {
  const { app, seen } = watched(steps((ctx) => ctx.interrupt(payload)))
  await app.run({ thread: 't1', input: {} })
  expect(seen.of('run_interrupt')).toMatchObject([{ toolName }])
})

it('tells of neither an end nor an error when a run is cancelled, or waits', async () => {
  const { app, seen } = watched(
    steps((ctx) => ctx.sleep(1000)),
    { clock: manualClock() },
  )
  await app.run({ thread: 't1', input: {} })
  expect(seen.order).toEqual(['run_start', 'thinking', 'idle'])
  const caller = new AbortController()
  const { app: other, seen: stopped } = watched(
    steps(() => {
      caller.abort('enough')
      return new Promise(() => {})
    }),
  )
  expect(await failure(other.run({ thread: 't1', input: {}, signal: caller.signal }))).toBe(
    'enough',
  )
  expect(stopped.order).toEqual(['run_start', 'thinking', 'idle'])
})

it.each(['cancel', 'delete'] as const)(
  'shows a run that asks as idle when its thread is gone: %s',
  async (how) => {
    const { app, seen } = watched(steps((ctx) => ctx.interrupt()))
    const { run } = await app.run({ thread: 't1', input: {} })
    await app[how]('t1')
    expect(seen.shown.at(-1)).toEqual(['idle', { run, thread: 't1', agent: 'asked' }])
    await app[how]('t1')
    expect(seen.order).toEqual(['run_start', 'thinking', 'run_interrupt', 'waiting_input', 'idle'])
  },
)

it('tells once of the failure that ended a run, as its record has it', async () => {
  let left = 2
  const deep = steps(
    (ctx) => {
      if (left-- > 0) throw Object.assign(new RangeError('no paper'), { code: 'E_PAPER' })
      return ctx.sleep(0)
    },
    { retry: { attempts: 2, delay: 0 } },
  )
  const { app, seen } = watched(
    graph({
      name: 'outer',
      state: { said: field<string>('') },
      nodes: { sub: async (_, ctx) => void (await ctx.child(deep, {})) },
      edges: { start: 'sub', sub: 'end' },
    }),
  )
  await failure(app.run({ thread: 't1', input: {} }))
  expect(seen.of('run_error')).toMatchObject([
    { error: 'no paper', errorType: 'RangeError', context: 'invoke' },
  ])
  expect(seen.order).toEqual(['run_start', 'thinking', 'run_error', 'error'])
})

it('tells nothing of a failure that was healed', async () => {
  let tries = 0
  const flaky = steps(
    () => {
      if (tries++ === 0) throw new Error('once')
      return { said: 'well' }
    },
    { retry: { attempts: 2, delay: 0 } },
  )
  const { app, seen } = watched(flaky)
  await app.run({ thread: 't1', input: {} })
  expect(seen.order).toEqual(['run_start', 'thinking', 'run_end', 'idle'])
})

it('tells of a failure before the first node, and nothing of what was refused', async () => {
  const { app, seen } = watched(
    graph({
      name: 'lost',
      state: { said: field<string>('') },
      nodes: { say: () => undefined },
      edges: {
        start: () => {
          throw new Error('which way?')
        },
        say: 'end',
      },
    }),
  )
  expect((await failure(app.run({ thread: 't1', input: {} }))).message).toBe('which way?')
  expect(seen.of('run_error')).toMatchObject([{ error: 'which way?', context: 'invoke' }])
  expect(seen.states).toEqual(['thinking', 'error'])
  await failure(app.run({ thread: 't2' }))
  await failure(app.run({ thread: 't2', input: { unknown: 1 } }))
  expect(seen.told).toHaveLength(2)
})

it('tells of an answer that doesn’t fit as the failure that it is, while its question is open again', async () => {
  const answer = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value: unknown) =>
        value === 'yes' ? { value } : { issues: [{ message: 'Say yes' }] },
    },
  } as const
  const { app, seen } = watched(steps((ctx) => ctx.interrupt('sure?', { schema: answer })))
  await app.run({ thread: 't1', input: {} })
  await failure(app.run({ thread: 't1', answer: 'no' }))
  expect(seen.of('run_interrupt')).toHaveLength(1)
  expect(seen.of('run_error')).toMatchObject([{ errorType: 'SchemaError', context: 'invoke' }])
  expect(seen.states).toEqual(['thinking', 'waiting_input', 'thinking', 'waiting_input'])
})

it('takes a time that is over for a failure', async () => {
  const clock = manualClock()
  const { app, seen } = watched(
    steps(() => new Promise(() => {})),
    { clock },
  )
  const ended = failure(app.run({ thread: 't1', input: {}, timeout: 500 }))
  await clock.advance(500)
  await ended
  expect(seen.of('run_error')).toMatchObject([{ errorType: 'TimeoutError' }])
  expect(seen.states).toEqual(['thinking', 'error'])
})

it.each(['step', 'exit'] as const)('tells nothing before it is saved: %s', async (durability) => {
  const { store, rows } = open(memory())
  const truths: (true | string)[] = []
  let fails = true
  const seen = new Watcher((event) => truths.push(truth(event, rows)))
  const said = steps(async (ctx) => {
    await ctx.interrupt('sure?')
    if (fails) throw new Error('not yet')
    return { said: 'well' }
  })
  const app = compile(said, { store, durability, logger: silent, ...seen.both })
  await app.run({ thread: 't1', input: {} })
  await failure(app.run({ thread: 't1', answer: 1 }))
  fails = false
  await app.run({ thread: 't1' })
  expect(seen.kinds).toEqual([
    ...['run_start', 'run_interrupt'],
    ...['run_start', 'run_error'],
    ...['run_start', 'run_end'],
  ])
  expect(truths).toEqual(seen.told.map(() => true))
})

/** An app that is watched. */
function watched(from: Graph, options: CompileOptions = {}): { seen: Watcher; app: CompiledGraph } {
  const seen = new Watcher()
  return { seen, app: compile(from, { logger: silent, ...seen.both, ...options }) }
}
