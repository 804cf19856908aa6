import { guardrail, runAfter, runBefore, ToolUsageError, type ToolInvocation } from 'heddle'
import { describe, expect, it, vi } from 'vitest'
import { failure } from '../behaviours/harness.ts'
import { stage } from './parts.ts'
import { keepBooks } from '../behaviours/books.ts'

keepBooks()

const argsOf = (inv: object): unknown => (inv as ToolInvocation).call.args

describe('a guardrail', () => {
  it.each([
    ['a tool', 'beforeTool', 'tool', 'Cannot call tool "send": guardrail "g" says no'],
    ['a model', 'beforeLlm', 'llm', 'Cannot ask model "p/m": guardrail "g" says no'],
  ] as const)('blocks what goes into %s', async (_, method, kind, message) => {
    const hooks = [guardrail({ name: 'g', input: () => ({ block: 'no' }) })]
    const error = await failure(runBefore(hooks, method, stage()[kind]))
    expect(error).toMatchObject({
      code: 'guardrail_blocked',
      message,
      details: { guardrail: 'g', reason: 'no' },
    })
  })

  it.each([
    ['a tool', 'afterTool', 'tool', 'Cannot use what tool "send" gave: guardrail "g" says no'],
    ['a model', 'afterLlm', 'llm', 'Cannot use what model "m" gave: guardrail "g" says no'],
  ] as const)('blocks what comes out of %s', async (_, method, kind, message) => {
    const hooks = [guardrail({ name: 'g', output: async () => ({ block: 'no' }) })]
    const error = await failure(runAfter(hooks, method, stage()[kind], 'out'))
    expect(error).toMatchObject({ code: 'guardrail_blocked', message })
  })

  it('puts other arguments in place of the first; the next guardrail sees those', async () => {
    const { tool, inside } = stage({ args: { text: 'a' } })
    const seen: unknown[] = []
    const add = (name: string) =>
      guardrail({
        name,
        input(inv) {
          seen.push(argsOf(inv))
          return { replace: { text: `${(argsOf(inv) as { text: string }).text}${name}` } }
        },
      })
    expect(await runBefore([add('b'), add('c')], 'beforeTool', tool)).toBeUndefined()
    expect(seen).toEqual([{ text: 'a' }, { text: 'ab' }])
    expect(inside.instead).toEqual({ value: { text: 'abc' } })
    expect(tool.call.args).toEqual({ text: 'a' })
  })

  it('puts another request in place of the first', async () => {
    const { llm, inside } = stage()
    const request = { messages: [], temperature: 0 }
    const hooks = [guardrail({ name: 'g', input: () => ({ replace: request }) })]
    expect(await runBefore(hooks, 'beforeLlm', llm)).toBeUndefined()
    expect(inside.instead).toEqual({ value: request })
  })

  it('puts another value in place of what came out, null too', async () => {
    const { tool, llm } = stage()
    const hooks = [guardrail({ name: 'g', output: () => ({ replace: null }) })]
    expect(await runAfter(hooks, 'afterTool', tool, 'out')).toBeNull()
    expect(await runAfter(hooks, 'afterLlm', llm, 'out')).toBeNull()
  })

  it('sees what came out, and what really went in', async () => {
    const { tool, inside } = stage({ args: 1 })
    inside.instead = { value: 2 }
    const seen: unknown[] = []
    const output = (inv: object, value: unknown): void => void seen.push(argsOf(inv), value)
    await runAfter([guardrail({ name: 'g', output })], 'afterTool', tool, 'out')
    expect(seen).toEqual([2, 'out'])
  })

  it('lets everything else pass as it is', async () => {
    const { tool, inside, lines } = stage()
    const hooks = [guardrail({ name: 'g', input() {}, output() {} })]
    expect(await runBefore(hooks, 'beforeTool', tool)).toBeUndefined()
    expect(await runAfter(hooks, 'afterTool', tool, 'out')).toBe('out')
    expect([inside.instead, lines]).toEqual([undefined, []])
  })

  it.each(['llm', 'tool'] as const)('can be of one kind only: %s', (on) => {
    const hook = guardrail({ name: 'g', on, input() {}, output() {} })
    const methods = { llm: ['beforeLlm', 'afterLlm'], tool: ['beforeTool', 'afterTool'] }[on]
    expect(Object.keys(hook)).toEqual(['name', ...methods])
  })

  it.each([
    ['both', { block: 'no', replace: 1 }],
    ['neither', {}],
    ['another member', { deny: 'no' }],
    ['one more member', { block: 'no', why: 'x' }],
    ['a reason that is no text', { block: true }],
    ['nothing to use instead', { replace: undefined }],
    ['null', null],
    ['false', false],
    ['a text', 'block'],
    ['a list', ['block']],
  ])('whose verdict is %s fails the call', async (_, verdict) => {
    const say = (): never => verdict as never
    const hooks = [guardrail({ name: 'g', input: say, output: say })]
    const before = await failure(runBefore(hooks, 'beforeTool', stage().tool))
    const after = await failure(runAfter(hooks, 'afterTool', stage().tool, 'out'))
    expect([before, after]).toEqual([expect.any(ToolUsageError), expect.any(ToolUsageError)])
    expect(before.message).toContain('guardrail "g" gave a verdict that is neither')
  })

  it('that throws fails the call with that error', async () => {
    const oops = new Error('oops')
    const hooks = [guardrail({ name: 'g', input: () => Promise.reject(oops) })]
    expect(await failure(runBefore(hooks, 'beforeTool', stage().tool))).toBe(oops)
  })

  it('logs what it stops without what it has seen, not even its reason', async () => {
    const { tool, lines } = stage({ args: { to: 'ann' } })
    const hooks = [guardrail({ name: 'g', input: () => ({ block: 'ann is on the list' }) })]
    await failure(runBefore(hooks, 'beforeTool', tool))
    const data = { policy: 'g', outcome: 'guardrail_blocked', tool: 'send', call: 'call_1' }
    expect(lines.filter(([level]) => level !== 'debug')).toEqual([
      ['warn', 'Policy "g" stopped a call of a tool', data],
    ])
    expect(JSON.stringify(lines)).not.toContain('ann')
  })

  it('in shadow mode changes and stops nothing, and says what it would have done', async () => {
    const { tool, inside, lines, reports } = stage()
    const verdicts: unknown[] = [{ block: 'no' }, { replace: { to: 'bob' } }, 'odd']
    const say = (): never => {
      if (verdicts.length > 0) return verdicts.shift() as never
      throw new Error('secret')
    }
    const hooks = [guardrail({ name: 'g', input: say, output: say, shadow: true })]
    for (const _ of [1, 2]) expect(await runBefore(hooks, 'beforeTool', tool)).toBeUndefined()
    for (const _ of [1, 2]) expect(await runAfter(hooks, 'afterTool', tool, 'out')).toBe('out')
    expect(inside.instead).toBeUndefined()
    const about = { policy: 'g', tool: 'send', call: 'call_1' }
    const told = [
      { ...about, outcome: 'guardrail_blocked' },
      { ...about, outcome: 'replaced' },
      { ...about, outcome: 'tool_usage_error' },
      { ...about, outcome: 'error' },
    ]
    const did = ['stopped', 'changed', 'failed', 'failed']
    expect(lines).toEqual(
      told.map((data, i) => ['warn', `Policy "g" would have ${did[i]} a call of a tool`, data]),
    )
    expect(reports).toEqual(
      told.map((data, i) => ({
        kind: 'policy',
        shadow: true,
        ...data,
        ...(i === 0 && { reason: 'no' }),
      })),
    )
  })

  it('in shadow mode lets an abort pass on', async () => {
    const stopped = new DOMException('stopped', 'AbortError')
    const { tool, lines } = stage()
    const hooks = [guardrail({ name: 'g', input: () => Promise.reject(stopped), shadow: true })]
    expect(await failure(runBefore(hooks, 'beforeTool', tool))).toBe(stopped)
    expect(lines).toEqual([])
  })

  it('blocks also where somebody runs hooks alone, but has nowhere to put another input', async () => {
    const warned = vi.spyOn(console, 'warn').mockReturnValue()
    const failed = vi.spyOn(console, 'error').mockReturnValue()
    const inv = { ...stage().tool, ctx: {} as never }
    const say = (verdict: object) => [guardrail({ name: 'g', input: () => verdict as never })]
    const blocked = await failure(runBefore(say({ block: 'no' }), 'beforeTool', inv))
    const replaced = await failure(runBefore(say({ replace: 1 }), 'beforeTool', inv))
    expect([blocked, replaced]).toMatchObject([
      { code: 'guardrail_blocked' },
      { code: 'tool_usage_error' },
    ])
    for (const logged of [warned, failed]) {
      expect(logged).toHaveBeenCalledOnce()
      logged.mockRestore()
    }
  })

  const check = (): void => {}
  it.each([
    [undefined, 'Cannot make a guardrail: what is given is undefined'],
    [{ input: check }, 'Cannot make a guardrail: it has no name'],
    [{ name: '', input: check }, 'Cannot make guardrail "": name is not a non-empty string'],
    [{ name: 'g' }, 'Cannot make guardrail "g": it has neither input nor output'],
    [{ name: 'g', input: 1 }, 'Cannot make guardrail "g": input is not a function'],
    [
      { name: 'g', on: 'node', input: check },
      'Cannot make guardrail "g": on is not "llm" or "tool"',
    ],
    [{ name: 'g', inputs: check }, 'Cannot make guardrail "g": "inputs" is not known here'],
    [
      { name: 'g', input: check, shadow: 1 },
      'Cannot make guardrail "g": shadow is not true or false',
    ],
  ])('is not made of %o', (spec, why) => {
    const make = (): unknown => guardrail(spec as never)
    expect(make).toThrow(TypeError)
    expect(make).toThrow(why)
  })
})
