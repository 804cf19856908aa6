// One task per item, side by side; each is tried again on its own; a join runs once when all have finished.
import * as z from 'zod'
import { append, compile, each, graph, reduced } from 'heddle'

/** Looks up one word. */
export type LookUp = (word: string, signal: AbortSignal) => Promise<number>

/** Looks words up side by side, at most four at a time, each of them up to three times. */
export async function lookUpAll(words: readonly string[], lookUp: LookUp): Promise<string> {
  const survey = graph({
    name: 'survey',
    state: {
      words: z.array(z.string()),
      found: reduced(z.array(z.string()).default([]), append),
      report: z.string().default(''),
    },
    nodes: {
      lookUp: {
        item: z.string(),
        retry: { attempts: 3, delay: 10 },
        timeout: 5_000,
        run: async (_, ctx) => ({
          found: [`${ctx.item}: ${await lookUp(ctx.item, ctx.signal)}`],
        }),
      },
      report: {
        after: ['lookUp'],
        run: ({ found }) => ({ report: found.join(', ') || 'nothing to look up' }),
      },
    },
    edges: {
      start: ({ words: list }) => each('lookUp', list),
      lookUp: 'report',
      report: 'end',
    },
  })
  const app = compile(survey, { concurrency: 4 })
  return (await app.run({ thread: 'words', input: { words: [...words] } })).state.report
}

// Only when this file is the program: node scripts/run.mjs examples/fan-out.ts
if (/\bfan-out\.[cm]?[jt]s$/.test(globalThis.process?.argv[1] ?? '')) {
  console.log(await lookUpAll(['warp', 'weft'], async (word) => word.length))
}
