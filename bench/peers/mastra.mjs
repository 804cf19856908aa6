// Mastra's agent. It has memory for each turn of a conversation, not for each step: here it keeps nothing.
import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { convertArrayToReadableStream as toStream, MockLanguageModelV3 as Model } from 'ai6/test'
import { z } from 'zod'
import { fakeModel } from './ai-model.mjs'
import { versionOf } from './version.mjs'

export const candidate = {
  version: versionOf('@mastra/core'),
  kept: ['nothing'],
  make(turns) {
    let calls = 0
    const add = createTool({
      id: 'add',
      description: 'Adds two numbers.',
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.any(),
      async execute({ a, b }) {
        calls++
        return String(a + b)
      },
    })
    const model = fakeModel({ Model, toStream }, turns)
    const agent = new Agent({
      id: 'adder',
      name: 'adder',
      instructions: 'x',
      model,
      tools: { add },
    })
    return {
      async run() {
        calls = 0
        const { text } = await agent.generate('go', { maxSteps: turns + 5 })
        return { calls, text }
      },
    }
  },
}
