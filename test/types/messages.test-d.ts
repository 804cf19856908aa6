// What the compiler knows of messages: what a graph takes, what its nodes read and return, and what is listed.
import { compile, each, field, goto, graph, messages } from 'heddle'
import type {
  InputFor,
  Message,
  NewMessage,
  Reduced,
  RemoveMessage,
  Runner,
  StateOf,
  UpdateOf,
} from 'heddle'
import { same, type Flat } from './same.ts'

const state = { chat: messages(), n: field(0) }

same<
  ReturnType<typeof messages>,
  Reduced<
    readonly NewMessage[] | undefined,
    readonly Message[],
    readonly (NewMessage | RemoveMessage)[]
  >
>(true)

type State = { readonly chat: readonly Message[]; readonly n: number }
same<Flat<StateOf<typeof state>>, State>(true)
type Update = {
  readonly chat?: readonly (NewMessage | RemoveMessage)[]
  readonly n?: number
}
same<Flat<UpdateOf<typeof state>>, Update>(true)
type Input = {
  readonly chat?: readonly NewMessage[] | undefined
  readonly n?: number | undefined
}
same<Flat<InputFor<typeof state>>, Input>(true)

// --- a node writes messages as they are, without saying that a role is one
const said = graph({
  name: 'said',
  state,
  nodes: {
    short: () => ({ chat: [{ role: 'user', text: 'Hi', files: [] }] }),
    long: async ({ chat, n }) => ({
      chat: [...chat, { role: 'assistant', text: `${n}`, partial: true }, { remove: 'msg_1' }],
      n: n + 1,
    }),
    changed: {
      item: field<string>(),
      run: ({ chat }) => ({ chat: chat.map((one) => ({ ...one, text: '' })) }),
    },
    result: ({ n }) => ({
      chat: [{ role: 'tool', text: '', tool: 't', call: 'c', status: 'success', value: { n } }],
    }),
    asks: (_, ctx) => ctx.interrupt('well?').then(() => {}),
    jumps: ({ chat }) => goto('end', { chat: [...chat, { remove: 'msg_2' }] }),
  },
  edges: {
    start: 'short',
    short: 'long',
    long: () => each('changed', ['a']),
    changed: 'result',
    result: 'asks',
    asks: 'jumps',
    jumps: 'end',
  },
})

const app = compile(said)
const { state: ended } = await app.run({
  thread: 't',
  input: { chat: [{ role: 'user', text: 'Hi' }] },
})
ended.chat satisfies readonly Message[]
same<Awaited<ReturnType<typeof app.messages>>, readonly Message[]>(true)
declare const runner: Runner
same<Awaited<ReturnType<typeof runner.messages>>, readonly Message[]>(true)
await app.messages('t', { limit: 5, before: 'msg_1' })
await app.tenant('ann').messages('t')

for (const message of ended.chat) {
  if (message.role === 'tool') message.status satisfies 'success' | 'error' | 'denied'
  // @ts-expect-error only an assistant's has calls
  else if (message.role === 'user') void message.calls
}

// @ts-expect-error an input removes nothing
await app.run({ thread: 't', input: { chat: [{ remove: 'msg_1' }] } })
// @ts-expect-error no such role
await app.run({ thread: 't', input: { chat: [{ role: 'robot', text: '' }] } })
// @ts-expect-error a result has a status
await app.run({ thread: 't', input: { chat: [{ role: 'tool', text: '', tool: 't', call: 'c' }] } })

const edges = { start: 'a', a: 'end' } as const
// @ts-expect-error no such role
graph({ name: 'g', state, nodes: { a: () => ({ chat: [{ role: 'robot', text: '' }] }) }, edges })
// @ts-expect-error a message has text
graph({ name: 'g', state, nodes: { a: () => ({ chat: [{ role: 'user' }] }) }, edges })
// @ts-expect-error no such field
graph({ name: 'g', state, nodes: { a: () => ({ chta: [] }) }, edges })

// --- literals of any field stay what they are
graph({
  name: 'literals',
  state: { kind: field<'a' | 'b'>('a'), deep: field<readonly { readonly one: 1 | 2 }[]>([]) },
  nodes: {
    a: ({ kind }) => ({ kind: kind === 'a' ? 'b' : 'a', deep: [{ one: 1 }] }),
  },
  edges,
})
