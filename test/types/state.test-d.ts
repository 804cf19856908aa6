// What the compiler knows about state: what is read, what may be written, what must be supplied.
import { type } from 'arktype'
import * as v from 'valibot'
import { z } from 'zod'
import { append, field, graph, merge, reduced, sum } from 'heddle'
import type { InputFor, Schema, StateOf, UpdateOf } from 'heddle'
import { same, type Flat } from './same.ts'

const state = {
  name: z.string(),
  tags: v.optional(v.array(v.string()), []),
  city: type('string'),
  seen: reduced(z.set(z.string()).default(new Set()), (seen, name: string) =>
    new Set(seen).add(name),
  ),
}

// --- schemas of three libraries in one state, and a reducer of one's own
type State = {
  readonly name: string
  readonly tags: string[]
  readonly city: string
  readonly seen: Set<string>
}
same<Flat<StateOf<typeof state>>, State>(true)
type Update = {
  readonly name?: string
  readonly tags?: string[]
  readonly city?: string
  readonly seen?: string
}
same<Flat<UpdateOf<typeof state>>, Update>(true)
type Input = {
  readonly name: string
  readonly city: string
  readonly tags?: string[] | undefined
  readonly seen?: Set<string> | undefined
}
same<Flat<InputFor<typeof state>>, Input>(true)

// A transforming schema is read by its output and supplied by its input.
const when = { at: z.string().transform((text) => new Date(text)) }
same<StateOf<typeof when>, { readonly at: Date }>(true)
same<InputFor<typeof when>, { readonly at: string }>(true)
same<UpdateOf<typeof when>, { readonly at?: Date }>(true)

const schemas: Schema[] = [
  z.object({ a: z.date() }),
  v.object({ a: v.string() }),
  type({ a: 'string' }),
]
void schemas

// --- reducers written in place keep their types
const inline = graph({
  name: 'g',
  state: {
    notes: reduced(z.array(z.string()).default([]), append),
    count: reduced(z.number().default(0), sum),
    by: reduced(z.record(z.string(), z.number()).default({}), merge),
    seen: reduced(z.set(z.string()).default(new Set()), (seen, name: string) =>
      new Set(seen).add(name),
    ),
    bare: field<{ x: number }>(),
    fallback: field<number[]>([]),
    made: field<Set<string>>(() => new Set()),
  },
  nodes: {
    a: ({ notes, bare, by, made }) => {
      same<typeof by, Record<string, number>>(true)
      same<typeof made, Set<string>>(true)
      return { notes: [...notes, String(bare.x)], count: 1, by: { a: 1 }, seen: 'a', fallback: [1] }
    },
  },
  edges: { start: 'a', a: 'end' },
})
type InlineUpdate = {
  readonly notes?: readonly string[]
  readonly count?: number
  readonly by?: Readonly<Record<string, number>>
  readonly seen?: string
  readonly bare?: { x: number }
  readonly fallback?: number[]
  readonly made?: Set<string>
}
const everything: InlineUpdate = {} as UpdateOf<(typeof inline)['state']>
void everything
type InlineInput = InputFor<(typeof inline)['state']>
type Needed = {
  [K in keyof InlineInput as undefined extends InlineInput[K] ? never : K]: 1
}
same<keyof Needed, 'bare'>(true)

graph({
  name: 'g',
  state: { notes: reduced(z.array(z.string()).default([]), append) },
  // @ts-expect-error the wrong update for a reducer written in place
  nodes: { a: () => ({ notes: [5] }) },
  edges: { start: 'a', a: 'end' },
})
graph({
  name: 'g',
  // @ts-expect-error a field that is neither a schema nor reduced
  state: { notes: { nope: 1 } },
  nodes: { a: () => {} },
  edges: { start: 'a', a: 'end' },
})
// @ts-expect-error the ready reducers only fit what they fold
reduced(z.string(), append)
// @ts-expect-error a sum of what is no number
reduced(z.string(), sum)

// --- updates
const edges = { start: 'a', a: 'end' } as const
// @ts-expect-error an update of the wrong type
graph({ name: 'g', state, nodes: { a: () => ({ name: 1 }) }, edges })
// @ts-expect-error an update to no known field
graph({ name: 'g', state, nodes: { a: () => ({ nam: 'x' }) }, edges })
// @ts-expect-error the same from an async node
graph({ name: 'g', state, nodes: { a: async () => ({ nam: 'x' }) }, edges })
// @ts-expect-error undefined for a string
graph({ name: 'g', state, nodes: { a: () => ({ name: undefined }) }, edges })
// TypeScript lets an unknown field ride along with a known one: the engine refuses it.
graph({ name: 'g', state, nodes: { a: () => ({ name: 'x', nam: 'y' }) }, edges })
// A field may be called like what `goto` and `each` make.
graph({
  name: 'g',
  state: { goto: z.string(), each: z.string(), update: z.number(), items: z.array(z.string()) },
  nodes: {
    a: ({ each, items }) => ({ goto: each, each: 'x', update: items.length, items: [] }),
  },
  edges,
})
