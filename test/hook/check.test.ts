import { compile } from 'heddle'
import { describe, expect, it } from 'vitest'
import { two } from '../behaviours/hooks-parts.ts'

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
