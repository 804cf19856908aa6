import { runBefore, runLimits } from 'heddle'
import { describe, expect, it } from 'vitest'
import { failure } from '../behaviours/harness.ts'
import { stage } from './parts.ts'
import { keepBooks } from '../behaviours/books.ts'

keepBooks()

describe('run limits', () => {
  it.each([
    ['toolCalls', 'beforeTool', 'tool', { toolCalls: 2 }],
    ['modelCalls', 'beforeLlm', 'llm', { modelCalls: 2 }],
    ['time', 'beforeTool', 'tool', { ms: 2 }],
    ['time', 'beforeLlm', 'llm', { ms: 3 }],
    ['time', 'beforeNode', 'node', { ms: 2 }],
  ] as const)('of %s are looked at in %s', async (limit, method, kind, run) => {
    const hooks = [runLimits({ [limit]: 2 })]
    const inv = stage({ run: { toolCalls: 1, modelCalls: 1, ms: 1 } })[kind]
    expect(await runBefore(hooks, method, inv)).toBeUndefined()
    expect(await failure(runBefore(hooks, method, stage({ run })[kind]))).toMatchObject({
      code: 'run_limit_exceeded',
      details: { limit, allowed: 2 },
    })
  })

  it('of one kind of call let the other pass', async () => {
    const { tool, llm, node } = stage({ run: { toolCalls: 9, modelCalls: 9 } })
    expect(await runBefore([runLimits({ modelCalls: 1 })], 'beforeTool', tool)).toBeUndefined()
    expect(await runBefore([runLimits({ toolCalls: 1 })], 'beforeLlm', llm)).toBeUndefined()
    expect(await runBefore([runLimits({ toolCalls: 1 })], 'beforeNode', node)).toBeUndefined()
  })

  it('are of the run, whatever its thread has used before', async () => {
    const { tool } = stage({ run: { toolCalls: 0 }, thread: { toolCalls: 9 } })
    expect(await runBefore([runLimits({ toolCalls: 1 })], 'beforeTool', tool)).toBeUndefined()
  })

  it('say in words what was had', async () => {
    const { node, lines } = stage({ run: { ms: 1234 } })
    const error = await failure(runBefore([runLimits({ time: 1000 })], 'beforeNode', node))
    expect(error.message).toBe('Cannot enter node "n": the run has had 1234 of 1000 ms')
    const about = { policy: 'run limits', outcome: 'run_limit_exceeded', node: 'n' }
    expect(lines.filter(([level]) => level === 'warn')).toEqual([
      ['warn', 'Policy "run limits" stopped a node', { ...about, limit: 'time', allowed: 1000 }],
    ])
  })

  it('in shadow mode stop nothing, and say what they would have done', async () => {
    const { tool, lines, reports } = stage({ run: { toolCalls: 1, ms: 7 } })
    const hooks = [runLimits({ toolCalls: 1, time: 5, shadow: true })]
    expect(await runBefore(hooks, 'beforeTool', tool)).toBeUndefined()
    expect(lines.map(([, message]) => message)).toEqual([
      'Policy "run limits" would have stopped a call of a tool',
      'Policy "run limits" would have stopped a call of a tool',
    ])
    expect(reports).toMatchObject([
      { kind: 'policy', shadow: true, outcome: 'run_limit_exceeded', limit: 'toolCalls' },
      { kind: 'policy', shadow: true, outcome: 'run_limit_exceeded', limit: 'time' },
    ])
  })

  it.each([
    [{}, TypeError, 'it has none of toolCalls, modelCalls, time'],
    [{ shadow: true }, TypeError, 'it has none of toolCalls, modelCalls, time'],
    [{ time: 0 }, RangeError, 'time is not a whole number from 1 on'],
    [{ toolCalls: 0.5 }, RangeError, 'toolCalls is not a whole number from 0 on'],
    [{ modelCalls: Infinity }, RangeError, 'modelCalls is not a whole number from 0 on'],
    [{ calls: 1 }, TypeError, '"calls" is not known here'],
  ])('are not made of %j', (limits, kind, why) => {
    const make = (): unknown => runLimits(limits as never)
    expect(make).toThrow(kind)
    expect(make).toThrow(`Cannot make run limits: ${why}`)
  })
})
