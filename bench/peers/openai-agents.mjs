// The agents of OpenAI, without tracing. They keep nothing by themselves.
import { Agent, Runner, tool, Usage } from '@openai/agents-core'
import { z } from 'zod'
import { versionOf } from './version.mjs'

export const candidate = {
  version: versionOf('@openai/agents-core'),
  kept: ['nothing'],
  make(turns) {
    let calls = 0
    const add = tool({
      name: 'add',
      description: 'Adds two numbers.',
      parameters: z.object({ a: z.number(), b: z.number() }),
      async execute({ a, b }) {
        calls++
        return String(a + b)
      },
    })
    const agent = new Agent({ name: 'adder', instructions: 'x', model: fake(turns), tools: [add] })
    const runner = new Runner({ tracingDisabled: true })
    return {
      async run() {
        calls = 0
        const { finalOutput } = await runner.run(agent, 'go', { maxTurns: turns + 5 })
        return { calls, text: finalOutput }
      },
    }
  },
}

const fake = (turns) => ({
  async getResponse({ input }) {
    const k = Array.isArray(input)
      ? input.filter(({ type }) => type === 'function_call_result').length
      : 0
    const status = 'completed'
    const output =
      k < turns
        ? {
            type: 'function_call',
            callId: `call_${k}`,
            name: 'add',
            arguments: JSON.stringify({ a: k, b: 1 }),
            status,
          }
        : {
            type: 'message',
            role: 'assistant',
            status,
            content: [{ type: 'output_text', text: 'done' }],
          }
    return { usage: new Usage(), output: [output], responseId: `r${k}` }
  },
})
