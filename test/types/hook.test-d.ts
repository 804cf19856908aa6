// What hooks may give back, and what the dispatchers make of it.
import { compile, field, graph, runAfter, runBefore, runOnError, shortCircuit } from 'heddle'
import type { Hook, ShortCircuit } from 'heddle'
import { same } from './same.ts'

const hook: Hook = {
  beforeNode: ({ state }) => (state['x'] === 1 ? shortCircuit({ x: 2 }) : undefined),
  async beforeTool() {},
  onNodeError: async (_, error) => (error instanceof Error ? shortCircuit({}) : undefined),
  afterNode: (_, update) => ({ ...(update as object), x: 1 }),
  onEvent: ({ thread, ns, event }) => void [thread, ns[0], event],
}
const wrong: Hook[] = [
  // @ts-expect-error a value is no verdict
  { beforeNode: () => ({ x: 1 }) },
  // @ts-expect-error the record is read only
  { beforeNode: (inv) => void (inv.node = 'other') },
  // @ts-expect-error and so is the state in it
  { beforeNode: (inv) => void (inv.state['x'] = 1) },
  // @ts-expect-error there is no such method
  { beforeNodes() {} },
]

export const before = runBefore([hook], 'beforeTool', {})
same<typeof before, Promise<ShortCircuit | undefined>>(true)
export const onError = runOnError([hook], 'onLlmError', {}, 0)
same<typeof onError, Promise<ShortCircuit | undefined>>(true)
export const after = runAfter(wrong, 'afterNode', {}, 'text')
same<typeof after, Promise<string>>(true)
// @ts-expect-error a method of another kind
void runBefore([], 'afterTool', {})

const app = compile(
  graph({
    name: 'g',
    state: { x: field(0) },
    nodes: { a: () => ({ x: 1 }) },
    edges: { start: 'a', a: 'end' },
  }),
  { hooks: [hook], graceMs: 10 },
)
void app.run({ thread: 't', input: {}, hooks: [hook] })
// @ts-expect-error one hook is no list
void app.run({ thread: 't', input: {}, hooks: hook })
