import { budget, createExecutor, field, runLimits, tool, type Executor, type Hook } from 'heddle'
import { manualClock, type ManualClock } from 'heddle/testing'
import { describe, expect, it } from 'vitest'
import { failure } from '../behaviours/harness.ts'
import { desk, endings, texts } from '../behaviours/policies-parts.ts'
import { silent } from '../fakes/silent.ts'
import { keepBooks } from '../behaviours/books.ts'

keepBooks()

describe('policies of an executor', () => {
  it('count by run and by thread, and together what has neither', async () => {
    const { executor, post } = made([budget({ calls: 2 }), budget({ calls: 3, per: 'thread' })])
    const calls = async (context: object, n: number): Promise<unknown[]> => {
      const results = await executor.runAll(texts(Array.from({ length: n }, () => 'x')), context)
      return endings(results).map((one) => (one === 'posted x' ? 'ok' : one))
    }
    expect(await calls({ run: 'r1', thread: 't' }, 3)).toEqual(['ok', 'ok', 'budget_exceeded'])
    expect(await calls({ run: 'r2', thread: 't' }, 2)).toEqual(['ok', 'budget_exceeded'])
    expect(await calls({ run: 'r3', thread: 'u' }, 2)).toEqual(['ok', 'ok'])
    expect(await calls({}, 1)).toEqual(['ok'])
    await executor.run(post, { text: 'x' })
    expect(await calls({}, 1)).toEqual(['budget_exceeded'])
  })

  it('let the first of several calls side by side through, in their order', async () => {
    const { executor, posted } = made([budget({ calls: 2 })])
    const results = await executor.runAll(texts(['a', 'b', 'c', 'd']))
    expect(endings(results)).toEqual(['posted a', 'posted b', 'budget_exceeded', 'budget_exceeded'])
    expect(posted.toSorted()).toEqual(['a', 'b'])
  })

  it('count what a tool calls beside the tool itself', async () => {
    const { post } = desk()
    const both = tool({
      name: 'both',
      description: '',
      input: field<null>(null),
      run: async (_, ctx) => [
        await ctx.call(post, { text: 'a' }),
        await ctx.call(post, { text: 'b' }).catch((error: { code: string }) => error.code),
      ],
    })
    const hooks = [budget({ calls: 2 })]
    const executor = createExecutor({ tools: [post, both], hooks, logger: silent })
    expect(await executor.run('both', null)).toEqual(['posted a', 'budget_exceeded'])
  })

  it('count the time in which calls are under way', async () => {
    const clock = manualClock()
    const hooks = [runLimits({ time: 1000 })]
    const slow = tool({
      name: 'slow',
      description: '',
      input: field<number>(0),
      run: (ms) => clock.advance(ms),
    })
    const executor = createExecutor({ tools: [slow], hooks, logger: silent, clock })
    await executor.run(slow, 600)
    await clock.advance(86_400_000)
    await executor.run(slow, 400)
    const error = await failure(executor.run(slow, 1))
    expect(error).toMatchObject({
      code: 'run_limit_exceeded',
      message: 'Cannot call tool "slow": the run has had 1000 of 1000 ms',
    })
  })
})

function made(hooks: readonly Hook[]): {
  readonly executor: Executor
  readonly clock: ManualClock
} & ReturnType<typeof desk> {
  const all = desk()
  const clock = manualClock()
  return {
    ...all,
    clock,
    executor: createExecutor({ tools: [all.post], hooks, logger: silent, clock }),
  }
}
