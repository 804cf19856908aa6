// `ctx.scope` of a run: what it holds is closed before the outcome of the run is there.
import {
  compile,
  memory,
  scoped,
  scopeLocal,
  type CompiledGraph,
  type Context,
  type Graph,
} from 'heddle'
import { manualClock } from 'heddle/testing'
import { describe, expect, test } from 'vitest'
import { until } from './abort-idle.ts'
import { gate } from '../fakes/gate.ts'
import { after, everyWay, failure, keepBooks } from './harness.ts'
import { nodes, one, type Run } from './hooks-parts.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

describe('ctx.scope', () => {
  const closing = (log: string[], a: Run = () => ({})): Graph =>
    nodes(
      {
        first: (_, ctx) => ctx.scope.defer(() => void log.push('first')),
        a(state, ctx) {
          ctx.scope.defer(async () => {
            await after(2)
            log.push('second')
          })
          return a(state, ctx)
        },
      },
      { start: 'first', first: 'a', a: 'end' },
    )

  const ends: Readonly<Record<string, Run>> = {
    success: () => ({}),
    interrupted: (_, ctx) => ctx.interrupt('?'),
    error: () => Promise.reject(new Error('no')),
  }
  for (const [status, a] of Object.entries(ends))
    everyWay(
      `is one for a run, and closed before its outcome is there: ${status}`,
      async (open) => {
        const log: string[] = []
        const story = open(() => closing(log, a))
        const running = status === 'error' ? failure(story.start()) : story.start()
        await running.then(() => log.push('outcome'))
        expect(log).toEqual(['second', 'first', 'outcome'])
        expect((await story.snapshot()).status).toBe(status)
      },
    )

  test('is the same for nodes, their hooks and child graphs, and values are built once in it', async () => {
    const made: string[] = []
    const values = scopeLocal(() => made.push('made'), { close: () => void made.push('closed') })
    const scopes = new Set<unknown>()
    const inner = nodes(
      { deep: (_, ctx) => void scopes.add(ctx.scope) },
      { start: 'deep', deep: 'end' },
      'inner',
    )
    const app = compile(
      one(async (_, ctx) => {
        scopes.add(ctx.scope)
        values.get(ctx.scope)
        await ctx.child(inner as never, {} as never)
      }),
      {
        hooks: [
          {
            beforeNode({ ctx }) {
              scopes.add(ctx.scope)
              values.get(ctx.scope)
            },
          },
        ],
      },
    )
    await app.run({ thread: 't', input: {} })
    expect(scopes.size).toBe(1)
    expect(made).toEqual(['made', 'closed'])
    await app.run({ thread: 't', input: {} })
    expect(scopes.size).toBe(2)
    const [ended] = scopes as Set<Context['scope']>
    expect(() => ended?.defer(() => {})).toThrow(/has ended/)
  })

  test('hears of an abort', async () => {
    const reason = new Error('stop')
    const there = gate()
    let scope: Context['scope'] | undefined
    const app = compile(
      one((_, ctx) => {
        scope = ctx.scope
        there.open()
        return new Promise(() => {})
      }),
      { logger: silent },
    )
    const live = app.stream({ thread: 't', input: {} })
    await there.promise
    expect(scope?.signal.aborted).toBe(false)
    live.abort(reason)
    expect(await failure(live.outcome)).toBe(reason)
    expect(scope?.signal.reason).toBe(reason)
  })

  test('that was given to compile is that one, and stays open', async () => {
    const log: string[] = []
    await scoped(async (scope) => {
      const app = compile(closing(log), { scope }) as CompiledGraph
      const seen = compile(
        one((_, ctx) => void log.push(String(ctx.scope === scope))),
        { scope },
      )
      await app.run({ thread: 't', input: {} })
      await seen.run({ thread: 't', input: {} })
      expect(log).toEqual(['true'])
    })
    expect(log).toEqual(['true', 'second', 'first'])
  })

  test('that fails to close, or never does, holds nothing up for longer than the grace', async () => {
    const clock = manualClock()
    const lines: string[] = []
    const logger = { ...silent, error: (line: string) => void lines.push(line) }
    const app = compile(
      one((_, ctx) => {
        ctx.scope.defer(() => new Promise(() => {}))
        ctx.scope.defer(() => Promise.reject(new Error('no')))
      }),
      { clock, logger, graceMs: 50, store: memory() },
    )
    const running = app.run({ thread: 't', input: {} })
    await until(async () => (await app.state('t'))?.status === 'success')
    await clock.advance(50)
    expect((await running).status).toBe('success')
    expect(lines).toHaveLength(1)
    expect(clock.pending).toBe(0)
  })
})
