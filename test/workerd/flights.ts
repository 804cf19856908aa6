// An executor and an app that a Worker keeps at module level: what a request leaves behind holds up no other.
import { compile, createExecutor, field, graph, tool, type CachePort } from '../../src/index.ts'

const rows = new Map<string, string>()
const cache: CachePort = {
  get: async (key) => rows.get(key),
  set: async (key, text) => void rows.set(key, text),
  delete: async (key) => void rows.delete(key),
}

let entered = 0
/** Never comes to an end the first time. */
const once = (): string | Promise<string> =>
  ++entered === 1 ? new Promise(() => {}) : `entered ${entered}`

const slow = tool({
  name: 'slow',
  description: 'never ends the first time',
  input: field<unknown>(),
  cache: { scope: 'global' },
  run: once,
})
const executor = createExecutor({ tools: [slow], cache })

const app = compile(
  graph({
    name: 'slow',
    state: { said: field('') },
    nodes: { ask: { run: async () => ({ said: await once() }), cache: { scope: 'global' } } },
    edges: { start: 'ask', ask: 'end' },
  }),
  { cache },
)
const said = async (): Promise<string> => {
  const { state } = await app.run({ thread: crypto.randomUUID(), input: {} })
  return state.said
}

/** Answers one request. What it leaves under way ends with it. */
export async function answer(path: string): Promise<unknown> {
  const work = path.startsWith('/tool') ? () => executor.run(slow, {}) : said
  if (!path.endsWith('/leave')) return work()
  entered = 0
  void work()
  while (entered === 0) await new Promise((resolve) => setTimeout(resolve, 1))
  return 'left'
}
