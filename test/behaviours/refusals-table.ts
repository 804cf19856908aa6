// Requests that are refused, and why.
import { field, graph, question, type Graph } from 'heddle'
import { expect } from 'vitest'
import { z } from 'zod'

const listed = question({ key: 'listed', answer: z.object({ ok: z.boolean() }) })

/** Asks what its input says, then ends; counts how often a node was entered. */
export function desk(calls: string[], easy?: true): Graph {
  return graph({
    name: 'desk',
    state: {
      asks: easy ? z.array(z.string()).default([]) : z.array(z.string()),
      size: z.number().min(1).default(1),
      got: field<unknown>(undefined),
      __proto__: z.string().default('p'),
    },
    questions: [listed],
    nodes: {
      async ask({ asks }, ctx) {
        calls.push('ask')
        if (asks.includes('fail')) throw new Error('failed')
        const got = asks.map((one) =>
          one === 'wait'
            ? ctx.wait('2999-01-01T00:00:00Z')
            : one === 'listed'
              ? ctx.interrupt(one, listed)
              : ctx.interrupt(one),
        )
        return { got: await Promise.all(got) }
      },
      last: () => void calls.push('last'),
    },
    edges: { start: 'ask', ask: 'last', last: 'end' },
  }) as Graph
}

/** A request that is refused. */
export interface Refused {
  /** What the thread has been through; no entry, no thread. */
  readonly asks?: readonly string[]
  /** Every field has a default. */
  readonly easy?: true
  readonly request: object | ((open: readonly { readonly id: string }[]) => object)
  readonly code: string
  readonly details?: object
}

const fn = (): void => {}
const circular: { self?: unknown } = {}
circular.self = circular
const UNKNOWN = `int_${'0'.repeat(32)}`

export const refused: Readonly<Record<string, Refused>> = {
  'an input without a field that has no default': {
    request: { input: {} },
    code: 'schema_error',
    details: { graph: 'desk', field: 'asks' },
  },
  'no input at all': { request: { input: undefined }, code: 'schema_error' },
  'an input with a wrong field': {
    request: { input: { asks: [], size: 0 } },
    code: 'schema_error',
    details: { graph: 'desk', field: 'size' },
  },
  'an input with a wrong item deep inside': {
    request: { input: { asks: ['a', 1] } },
    code: 'schema_error',
    details: { field: 'asks', issues: [{ path: [1] }] },
  },
  'an input with an unknown field': {
    request: { input: { asks: [], sise: 1 } },
    code: 'schema_error',
    details: { graph: 'desk', field: 'sise' },
  },
  'an input with a field named as a method of objects': {
    request: { input: { asks: [], toString: 'x' } },
    code: 'schema_error',
    details: { field: 'toString' },
  },
  'a list as input': { request: { input: [['a']] }, code: 'schema_error' },
  'a number as input': { request: { input: 7 }, code: 'schema_error' },
  'a map as input': { request: { input: new Map([['asks', []]]) }, code: 'schema_error' },
  'null as input': { request: { input: null }, code: 'schema_error' },
  'a list as input of a graph that needs none': {
    easy: true,
    request: { input: [1] },
    code: 'schema_error',
  },
  'a number as input of a graph that needs none': {
    easy: true,
    request: { input: 7 },
    code: 'schema_error',
  },
  'an empty text as input of a graph that needs none': {
    easy: true,
    request: { input: '' },
    code: 'schema_error',
  },
  'null as input of a graph that needs none': {
    easy: true,
    request: { input: null },
    code: 'schema_error',
  },
  'undefined as input of a graph that needs none': {
    easy: true,
    request: { input: undefined },
    code: 'schema_error',
  },
  'a date as input of a graph that needs none': {
    easy: true,
    request: { input: new Date(0) },
    code: 'schema_error',
  },
  'null as input of another turn': { asks: [], request: { input: null }, code: 'schema_error' },
  'a map as input of another turn': {
    asks: [],
    request: { input: new Map() },
    code: 'schema_error',
  },
  'a wrong input for another turn': {
    asks: [],
    request: { input: { size: 0 } },
    code: 'schema_error',
    details: { graph: 'desk', field: 'size' },
  },
  'an unknown field for another turn': {
    asks: [],
    request: { input: { sise: 1 } },
    code: 'schema_error',
    details: { field: 'sise' },
  },
  'a list as input of another turn': { asks: [], request: { input: [1] }, code: 'schema_error' },
  'a text as input of another turn': { asks: [], request: { input: 'x' }, code: 'schema_error' },
  'a function in the input': {
    request: { input: { asks: [], got: { a: [{ b: fn }] } } },
    code: 'unserializable_value',
    details: { path: 'got.a[0].b', type: 'function' },
  },
  'a promise in the input of another turn': {
    asks: [],
    request: { input: { got: [Promise.resolve(1)] } },
    code: 'unserializable_value',
    details: { path: 'got[0]', type: 'Promise' },
  },
  'a function in the metadata': {
    request: { input: { asks: [] }, metadata: { a: [fn] } },
    code: 'unserializable_value',
    details: { path: 'metadata.a[0]', type: 'function' },
  },
  'a function as the answer': {
    asks: ['q'],
    request: { answer: { a: fn } },
    code: 'unserializable_value',
    details: { path: 'answer.a', type: 'function' },
  },
  'a circular answer among others': {
    asks: ['q', 'r'],
    request: ([q, r]) => ({ answers: { [q!.id]: 1, [r!.id]: circular } }),
    code: 'unserializable_value',
    details: { path: 'answer.self', type: 'circular reference' },
  },
  'an answer that its listed question does not take': {
    asks: ['listed'],
    request: { answer: { ok: 'yes' } },
    code: 'schema_error',
    details: { graph: 'desk', issues: [{ path: ['ok'] }] },
  },
  'a good answer beside one that its question does not take': {
    asks: ['q', 'listed'],
    request: ([q, l]) => ({ answers: { [q!.id]: 1, [l!.id]: null } }),
    code: 'schema_error',
  },
  'a bare answer to two questions': {
    asks: ['q', 'r'],
    request: { answer: 1 },
    code: 'ambiguous_resume',
    details: { thread: 't1' },
  },
  "an answer to nobody's question": {
    asks: ['q'],
    request: { answers: { [UNKNOWN]: 1 } },
    code: 'unknown_interruption',
    details: { thread: 't1', interruptions: [UNKNOWN] },
  },
  "a good answer beside one to nobody's question": {
    asks: ['q'],
    request: ([q]) => ({ answers: { [q!.id]: 1, __proto__x: 2, [UNKNOWN]: 3 } }),
    code: 'unknown_interruption',
    details: { interruptions: ['__proto__x', UNKNOWN] },
  },
  'a bare answer to a clock': { asks: ['wait'], request: { answer: 1 }, code: 'nothing_to_resume' },
  'an answer to a thread that has ended': {
    asks: [],
    request: { answer: 1 },
    code: 'nothing_to_resume',
  },
  'going on with a thread that has ended': { asks: [], request: {}, code: 'nothing_to_resume' },
  'going on with a thread that waits for a person': {
    asks: ['q'],
    request: {},
    code: 'nothing_to_resume',
  },
  'going on with a thread that waits for a clock': {
    asks: ['wait'],
    request: {},
    code: 'nothing_to_resume',
  },
  'going on with a thread that there is not': {
    request: {},
    code: 'nothing_to_resume',
    details: { thread: 't1' },
  },
  'an answer to a thread that there is not': { request: { answer: 1 }, code: 'nothing_to_resume' },
  'answers to a thread that there is not': {
    request: { answers: { a: 1 } },
    code: 'nothing_to_resume',
  },
  'an input for a thread with open questions': {
    asks: ['q', 'wait'],
    request: { input: { asks: [] } },
    code: 'thread_paused',
    details: {
      thread: 't1',
      interruptions: [expect.stringMatching(/^int_/)],
      timers: [expect.stringMatching(/^tmr_/)],
    },
  },
  'a checkpoint that there is not': {
    asks: [],
    request: { from: '00000000000000' },
    code: 'unknown_checkpoint',
    details: { thread: 't1', checkpoint: '00000000000000' },
  },
  'a checkpoint of another shape': {
    asks: [],
    request: { from: '../../h/t1' },
    code: 'unknown_checkpoint',
    details: { checkpoint: '../../h/t1' },
  },
  'an input from a checkpoint that there is not': {
    asks: [],
    request: { from: 'zzzzzzzzzzzzzz', input: {} },
    code: 'unknown_checkpoint',
  },
  'a checkpoint of a thread that there is not': {
    request: { from: '00000000000000' },
    code: 'nothing_to_resume',
  },
}
