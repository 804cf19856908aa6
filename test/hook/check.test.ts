import { compile } from 'heddle'
import { describe, expect, it } from 'vitest'
import { two } from '../behaviours/hooks-parts.ts'
import { keepBooks } from '../behaviours/books.ts'

keepBooks()

describe('compile', () => {
  it('refuses hooks that make no sense', () => {
    class Audit {
      afterTools(): void {}
    }
    const wrong: [hooks: unknown, what: RegExp][] = [
      [{}, /hooks is not a list/],
      [[undefined], /hook 1 is not an object/],
      [[{}, () => {}], /hook 2 is not an object/],
      [[{ name: 'audit', beforeNodes() {} }], /"beforeNodes" of hook "audit" is no method/],
      [[{ beforeNode: true }], /beforeNode of hook 1 is not a function/],
      [[{ onNodeFailure() {} }], /"onNodeFailure"/],
      [[new Audit()], /"afterTools"/],
    ]
    for (const [hooks, what] of wrong) {
      const compiled = (): unknown =>
        compile(
          two(() => ({})),
          { hooks: hooks as never },
        )
      expect(compiled).toThrow(TypeError)
      expect(compiled).toThrow(what)
      expect(compiled).toThrow(/^Cannot compile graph "two": /)
    }
    class Good {
      name = 'good'
      onboarding = 1
      before(): void {}
      beforeNode(): void {}
      onEvent = undefined
    }
    expect(
      compile(
        two(() => ({})),
        { hooks: [new Good(), {}] as never },
      ),
    ).toBeDefined()
  })
})

describe('tools', () => {
  it('of one name are refused, and so is what is no tool', () => {
    const tool = { name: 'look_up', run: () => Promise.resolve(1) }
    const compiled = (tools: unknown) => (): unknown =>
      compile(
        two(() => ({})),
        { tools: tools as never },
      )
    expect(compiled([tool, { ...tool, name: 'constructor' }])).not.toThrow()
    expect(compiled([tool, { ...tool }])).toThrow(
      expect.objectContaining({
        code: 'tool_usage_error',
        details: { tool: 'look_up' },
        message: 'Cannot compile graph "two": there are two tools "look_up"',
      }),
    )
    for (const tools of [{}, 'look_up', [null], [{ name: 'look_up' }], [{ run() {} }]])
      expect(compiled(tools)).toThrow(/^Cannot compile graph "two": tools is not a list of tools$/)
  })
})
