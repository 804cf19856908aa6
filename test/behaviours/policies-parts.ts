// A desk that posts texts by a tool, for stories of what policies let through. What was posted lives outside.
import {
  field,
  graph,
  isHeddleError,
  tool,
  type CallResult,
  type Context,
  type Graph,
  type Tool,
} from 'heddle'

export interface Text {
  readonly text: string
  /** Asks this first, in the tool itself. */
  readonly asks?: string
}

export interface Desk {
  /** What was posted, in order. */
  readonly posted: string[]
  readonly post: Tool<Text, string>
  /** Posts only what a person approves of. */
  readonly send: Tool<Text, string>
  /** A graph of one node that does this work. */
  does(work: (ctx: Context) => Promise<unknown>): () => Graph
}

export function desk(): Desk {
  const posted: string[] = []
  const about = { description: 'Posts a text', input: field<Text>() }
  const post = tool({
    ...about,
    name: 'post',
    async run({ text, asks }, ctx) {
      if (asks) await ctx.interrupt(asks)
      posted.push(text)
      return `posted ${text}`
    },
  })
  const send = tool({
    ...about,
    name: 'send',
    approve: true,
    run({ text }) {
      posted.push(text)
      return `sent ${text}`
    },
  })
  return {
    posted,
    post,
    send,
    does: (work) => () =>
      graph({
        name: 'desk',
        state: { out: field<unknown>(null) },
        nodes: { work: async (_, ctx) => ({ out: await work(ctx) }) },
        edges: { start: 'work', work: 'end' },
      }),
  }
}

/** Calls of `post`, or of another tool. */
export const texts = (
  list: readonly (string | Text)[],
  name = 'post',
): { readonly tool: string; readonly args: Text }[] =>
  list.map((one) => ({ tool: name, args: typeof one === 'string' ? { text: one } : one }))

/** How each call ended, in a word: its value, the code of its error, or that it was denied. */
export const endings = (results: readonly CallResult[]): unknown[] =>
  results.map((one) =>
    one.status === 'success'
      ? one.value
      : one.status === 'denied'
        ? 'denied'
        : isHeddleError(one.error)
          ? one.error.code
          : String(one.error),
  )
