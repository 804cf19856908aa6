import { z } from 'zod'
import { fakeModel } from './ai-model.mjs'

/** The loop agent of a generation of the AI SDK. It keeps nothing. */
export function aiAgent({ version, sdk, Model, toStream }) {
  return {
    version,
    kept: ['nothing'],
    make(turns) {
      let calls = 0
      const add = sdk.tool({
        description: 'Adds two numbers.',
        inputSchema: z.object({ a: z.number(), b: z.number() }),
        async execute({ a, b }) {
          calls++
          return String(a + b)
        },
      })
      const stopWhen = (sdk.isStepCount ?? sdk.stepCountIs)(turns + 5)
      const model = fakeModel({ Model, toStream }, turns)
      const agent = new sdk.ToolLoopAgent({ model, tools: { add }, stopWhen })
      return {
        async run() {
          calls = 0
          const { text } = await agent.generate({ prompt: 'go' })
          return { calls, text }
        },
      }
    },
  }
}
