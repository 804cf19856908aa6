// What the cases of messages share: a graph that says what it is told to, and how it runs.
import {
  field,
  graph,
  messages,
  type CompileOptions,
  type Message,
  type NewMessage,
  type RemoveMessage,
  type Store,
} from 'heddle'
import { countingIds, manualClock } from 'heddle/testing'
import { silent } from '../fakes/silent.ts'

export type Update = readonly (NewMessage | RemoveMessage)[]

export const START = '2026-01-01T00:00:00.000Z'
export const user = (text: string, id?: string): NewMessage => ({
  role: 'user',
  text,
  ...(id !== undefined && { id }),
})
export const texts = (list: readonly Message[] | undefined): readonly string[] =>
  (list ?? []).map(({ text }) => text)

/** Says what it is told to, step by step. */
export const saying = (...steps: readonly ((list: readonly Message[]) => Update)[]) =>
  graph({
    name: 'saying',
    state: { chat: messages(), step: field(0) },
    nodes: {
      say: ({ chat, step }) => ({ chat: steps[step]?.(chat) ?? [], step: step + 1 }),
    },
    edges: { start: 'say', say: ({ step }) => (step < steps.length ? 'say' : 'end') },
  })

/** With ids that are counted and a clock that stands still. */
export const options = (store: Store, more: CompileOptions = {}): CompileOptions => ({
  store,
  newId: countingIds(),
  clock: manualClock(START),
  logger: silent,
  ...more,
})
