// What policies are made of, and what a guardrail may say.
import { budget, guardrail, runLimits } from 'heddle'
import type { GuardrailVerdict, Hook, LLMInvocation, ToolInvocation } from 'heddle'
import { same } from './same.ts'

const hooks: Hook[] = [
  budget({ tokens: 1, calls: 1, cost: 0.5, per: 'thread', shadow: true }),
  runLimits({ toolCalls: 1, modelCalls: 1, time: 1 }),
]

// @ts-expect-error a budget is per run or per thread
budget({ calls: 1, per: 'day' })
// @ts-expect-error it is `calls`
budget({ call: 1 })
// @ts-expect-error a limit is a number
runLimits({ time: '1s' })

hooks.push(
  guardrail({
    name: 'g',
    on: 'tool',
    input(inv) {
      same<typeof inv, ToolInvocation | LLMInvocation>(true)
      if ('call' in inv) same<typeof inv, ToolInvocation>(true)
      else same<typeof inv, LLMInvocation>(true)
      return { block: 'no' }
    },
    async output(_, value) {
      same<typeof value, unknown>(true)
      return { replace: value }
    },
  }),
  guardrail({ name: 'quiet', input() {} }),
)

// @ts-expect-error a guardrail has a name
guardrail({ input() {} })
// @ts-expect-error it looks at tools or models, not at nodes
guardrail({ name: 'g', on: 'node', input() {} })
// @ts-expect-error a reason is a text
guardrail({ name: 'g', input: () => ({ block: true }) })

// @ts-expect-error a verdict is one that there is
export const verdict: GuardrailVerdict = { deny: 'no' }
