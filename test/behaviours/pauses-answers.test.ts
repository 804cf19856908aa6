// B04: an answer counts because it is given, whatever it is. Answers over HTTP come with the server.
import { describe, expect } from 'vitest'
import { field, graph, type Graph } from 'heddle'
import { everyWay, keepBooks } from './harness.ts'

keepBooks()

const proto = JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":1}}') as object

const ANSWERS: Readonly<Record<string, unknown>> = {
  false: false,
  zero: 0,
  'minus zero': -0,
  'an empty string': '',
  null: null,
  undefined: undefined,
  NaN: NaN,
  'an empty list': [],
  'an empty object': {},
  'keys that touch prototypes': proto,
  'a lone surrogate': '\ud83d',
  'a list with a hole': Object.assign([], { 2: null }),
  'an invalid date': new Date(NaN),
  'a big integer': 0n,
  'a map': new Map<unknown, unknown>([[NaN, new Set([-0])]]),
  bytes: new Uint8Array(0),
  'what looks like a request': { answers: { id: 1 }, status: 'success' },
  'what looks like a stored value': [['x'], [['Date', 0]]],
}

for (const [name, value] of Object.entries(ANSWERS)) {
  describe(name, () => {
    for (const how of ['by id', 'bare'] as const) {
      everyWay(`is an answer ${how}`, async (open) => {
        const calls = { node: 0, twice: 0 }
        const story = open(() => one(calls))
        const [question] = (await story.start()).open
        const { id } = question as { id: string }
        const pass = how === 'bare' ? story.answerOne(value) : story.answer({ [id]: value })
        const { status, state, open: left } = await pass
        expect({ status, left, calls }).toEqual({
          status: 'success',
          left: [],
          calls: { node: 2, twice: 0 },
        })
        for (const seen of [state, (await story.snapshot()).state]) {
          expect(seen['type']).toBe(typeof value)
          same(seen['got'], value)
        }
        const [record] = await story.app.interruptions({ thread: 't1', status: 'answered' })
        expect(record).toMatchObject({ id, status: 'answered' })
        expect(Object.hasOwn(record as object, 'answer')).toBe(true)
        same(record?.answer, value)
      })
    }
  })
}

everyWay('every question of a node gets its own, empty ones too', async (open) => {
  const calls = { node: 0, twice: 0 }
  const story = open(() => one(calls, 'twice'))
  await story.start()
  await story.answerOne(null)
  await story.answerOne(undefined)
  const ended = await story.answerOne(false)
  expect(ended).toMatchObject({ status: 'success', state: { got: [null, undefined, false] } })
  expect(calls).toEqual({ node: 0, twice: 4 })
})

everyWay('a request without the key is no answer', async (open) => {
  const calls = { node: 0, twice: 0 }
  const story = open(() => one(calls))
  await story.start()
  // What JSON makes of `{ answer: undefined }`.
  await story.refuses(JSON.parse(JSON.stringify({ answer: undefined })), 'nothing_to_resume')
  expect(calls.node).toBe(1)
  expect((await story.snapshot()).status).toBe('interrupted')
  expect((await story.answerOne(undefined)).status).toBe('success')
})

everyWay('what can’t be stored is refused before anything runs', async (open) => {
  const calls = { node: 0, twice: 0 }
  const story = open(() => one(calls))
  const [question] = (await story.start()).open
  const loop: Record<string, unknown> = {}
  loop['self'] = loop
  for (const value of [() => 1, Symbol('s'), Promise.resolve(1), loop, new WeakMap()]) {
    await story.refuses({ answer: value }, 'unserializable_value')
    await story.refuses({ answers: { [question?.id as string]: value } }, 'unserializable_value')
  }
  expect(calls.node).toBe(1)
})

function same(seen: unknown, value: unknown): void {
  if (typeof value === 'object' && value !== null) {
    expect(seen).toEqual(value)
    expect(Object.keys(seen as object)).toEqual(Object.keys(decoded(value)))
    expect(Object.getPrototypeOf(seen)).toBe(Object.getPrototypeOf(value))
  } else expect(Object.is(seen, value), `${String(seen)} is ${String(value)}`).toBe(true)
}

/** Holes are kept as `undefined`. */
function decoded(value: object): object {
  return Array.isArray(value) ? Array.from(value as unknown[]) : value
}

function one(calls: { node: number; twice: number }, first: 'node' | 'twice' = 'node'): Graph {
  return graph({
    name: 'one',
    state: { got: field<unknown>(undefined), type: field<string>('') },
    nodes: {
      async node(_, ctx) {
        calls.node++
        const got = await ctx.interrupt('?')
        return { got, type: typeof got }
      },
      async twice(_, ctx) {
        calls.twice++
        return { got: [await ctx.interrupt(1), await ctx.interrupt(2), await ctx.interrupt(3)] }
      },
    },
    edges: { start: { to: ['node', 'twice'], pick: () => first }, node: 'end', twice: 'end' },
  })
}
