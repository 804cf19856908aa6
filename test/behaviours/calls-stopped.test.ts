// B25 for tools in threads: an abort, a timeout or a retry reaches every tool under way, and what is given up does nothing
// any more.
import { expect, test } from 'vitest'
import {
  compile,
  isHeddleError,
  type CompileOptions,
  type CompiledGraph,
  type Context,
} from 'heddle'
import { manualClock } from 'heddle/testing'
import { silent } from '../fakes/silent.ts'
import { calling, counted, Counts, pause } from './calls-parts.ts'
import { countedSignal, keepBooks } from './harness.ts'

keepBooks()

const never = (): Promise<never> => new Promise(() => {})

function appOf(
  work: (ctx: Context) => unknown,
  tools: CompileOptions['tools'],
  options: CompileOptions = {},
): CompiledGraph {
  return compile(calling(work), { tools: tools ?? [], logger: silent, ...options })
}

test('an abort reaches a tool, the tool inside it and its child graph, with the reason of the caller', async () => {
  const reasons: unknown[] = []
  const heard = (signal: AbortSignal): Promise<never> => {
    signal.addEventListener('abort', () => reasons.push(signal.reason), { once: true })
    return never()
  }
  const child = calling((ctx) => heard(ctx.signal))
  const counts = new Counts()
  const tools = [
    counted(counts, 'outer', (_, ctx) => {
      void heard(ctx.signal)
      return ctx.callAll([
        { tool: 'inner', args: {} },
        { tool: 'delegate', args: {} },
      ])
    }),
    counted(counts, 'inner', (_, ctx) => heard(ctx.signal), { timeout: 60_000 }),
    counted(counts, 'delegate', (_, ctx) => ctx.child(child, {})),
  ]
  const { signal, abort, listeners } = countedSignal()
  const app = appOf((ctx) => ctx.call('outer', {}), tools)
  const run = app.run({ thread: 't', input: {}, signal })
  run.catch(() => {})
  await until(() => counts.of('inner') + counts.of('delegate') === 2)
  await pause(20)
  const reason = new Error('enough')
  abort(reason)
  await expect(run).rejects.toBe(reason)
  expect(reasons).toEqual([reason, reason, reason])
  expect(listeners()).toBe(0)
})

test('a tool that is late is given up: its signal aborts, and what it asks later is not asked', async () => {
  const clock = manualClock()
  const aborted: string[] = []
  let release: () => void = () => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  const slow = counted(
    new Counts(),
    'slow',
    async (_, ctx) => {
      ctx.signal.addEventListener('abort', () => aborted.push((ctx.signal.reason as Error).name))
      await held
      return ctx.interrupt('too late')
    },
    { timeout: 100 },
  )
  const app = appOf(
    async (ctx) => {
      const [late] = await ctx.callAll([{ tool: 'slow', args: {} }])
      release()
      await pause(20)
      return late?.status === 'error' && (late.error as Error).name
    },
    [slow],
    { clock },
  )
  const run = app.run({ thread: 't', input: {} })
  await until(() => clock.pending > 1)
  await clock.advance(150)
  expect(await run).toMatchObject({ status: 'success', state: { out: 'TimeoutError' } })
  expect(aborted).toEqual(['TimeoutError'])
})

test('a tool that waits for a person is not late', async () => {
  const clock = manualClock()
  const waits = counted(new Counts(), 'waits', (_, ctx) => ctx.interrupt('?'), { timeout: 100 })
  const app = appOf((ctx) => ctx.call('waits', {}), [waits], { clock })
  expect((await app.run({ thread: 't', input: {} })).status).toBe('interrupted')
  await clock.advance(1_000)
  expect(await app.run({ thread: 't', answer: 1 })).toMatchObject({ state: { out: 1 } })
})

test('each attempt of a tool makes its calls anew, and finds what it stored', async () => {
  const counts = new Counts()
  const twice = counted(
    counts,
    'twice',
    async (_, ctx) => {
      const paid = await ctx.once('pay', () => counts.add('paid'))
      const inner = await ctx.call('inner', {})
      if (counts.of('twice') === 1) throw new Error('down')
      return [paid, inner, await ctx.interrupt('?')]
    },
    { retry: { attempts: 2, delay: 1 } },
  )
  const inner = counted(counts, 'inner', () => counts.of('inner'))
  const app = appOf((ctx) => ctx.call('twice', {}), [twice, inner])
  expect((await app.run({ thread: 't', input: {} })).status).toBe('interrupted')
  expect(await app.run({ thread: 't', answer: 'ok' })).toMatchObject({
    state: { out: [1, 1, 'ok'] },
  })
  expect(counts.all).toEqual({ inner: 1, paid: 1, twice: 3 })
})

test('a node that is tried again finds the tools that ran, and runs again those that failed', async () => {
  const counts = new Counts()
  const works = counted(counts, 'works', () => 'done')
  const fails = counted(counts, 'fails', () => {
    if (counts.of('fails') === 1) throw new Error('down')
    return 'up'
  })
  const once = calling(async (ctx) => [await ctx.call('works', {}), await ctx.call('fails', {})])
  const { tools: node } = once.nodes as { tools: never }
  const app = compile(
    { ...once, nodes: { tools: { run: node, retry: { attempts: 2, delay: 1 } } } },
    { tools: [works, fails] },
  )
  expect(await app.run({ thread: 't', input: {} })).toMatchObject({
    state: { out: ['done', 'up'] },
  })
  expect(counts.all).toEqual({ fails: 2, works: 1 })
})

test('a node that is late gives up the tools it runs', async () => {
  const clock = manualClock()
  const reasons: string[] = []
  const hangs = counted(new Counts(), 'hangs', (_, ctx) => {
    ctx.signal.addEventListener('abort', () => reasons.push((ctx.signal.reason as Error).name))
    return never()
  })
  const plain = calling((ctx) => ctx.call('hangs', {}))
  const { tools: node } = plain.nodes as { tools: never }
  const app = compile(
    { ...plain, nodes: { tools: { run: node, timeout: 100 } } },
    { tools: [hangs], clock },
  )
  const run = app.run({ thread: 't', input: {} })
  run.catch(() => {})
  await until(() => clock.pending > 1)
  await pause(20)
  await clock.advance(150)
  await expect(run).rejects.toMatchObject({ name: 'TimeoutError' })
  expect(reasons).toEqual(['TimeoutError'])
})

test('tools that nobody awaits hold the node back no longer than it runs', async () => {
  const counts = new Counts()
  let release: () => void = () => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  const slow = counted(counts, 'slow', async (_, ctx) => {
    await held
    counts.add('went on')
    await ctx.once('late', () => counts.add('late'))
  })
  const app = appOf(
    async (ctx) => {
      ctx.call('slow', {}).catch(() => {})
      await until(() => counts.of('slow') === 1)
      return 'returned'
    },
    [slow],
  )
  expect(await app.run({ thread: 't', input: {} })).toMatchObject({ state: { out: 'returned' } })
  release()
  await until(() => counts.of('went on') === 1)
  expect(counts.of('late')).toBe(0)
})

test('calls from a context whose node has ended never settle and run nothing', async () => {
  const counts = new Counts()
  let kept: Context | undefined
  const tools = [counted(counts, 'any', () => 1)]
  const app = appOf((ctx) => void (kept = ctx), tools)
  await app.run({ thread: 't', input: {} })
  const settled: string[] = []
  kept?.call('any', {}).finally(() => settled.push('call'))
  kept?.callAll([{ tool: 'any', args: {} }]).finally(() => settled.push('callAll'))
  await pause(20)
  expect([settled, counts.all]).toEqual([[], {}])
})

test('what is no list of calls, or no call, is refused as a mistake', async () => {
  const odd: unknown[] = [undefined, {}, 'calls', [null], [{}], [{ tool: 7 }]]
  const app = appOf(
    async (ctx) => {
      const seen = odd.map((calls) => ctx.callAll(calls as never).catch((error: unknown) => error))
      return (await Promise.all(seen)).map((error) => isHeddleError(error, 'tool_usage_error'))
    },
    [counted(new Counts(), 'any', () => 1)],
  )
  const { state } = await app.run({ thread: 't', input: {} })
  expect(state.out).toEqual(odd.map(() => true))
})

async function until(holds: () => boolean): Promise<void> {
  for (let turns = 0; !holds(); turns++) {
    if (turns > 2_000) throw new Error('it never came to that')
    await pause(1)
  }
}
