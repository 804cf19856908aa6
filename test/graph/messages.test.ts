// The schema of messages: what it takes, what it says is wrong and where.
import { compile, graph, messages, reduced, type Message, type NewMessage } from 'heddle'
import { describe, expect, it } from 'vitest'
import { plan } from '../../src/graph/plan.ts'
import { failure } from '../behaviours/harness.ts'

const call = { id: 'call_1', tool: 'search', raw: '{}', args: {} }

const GOOD: Readonly<Record<string, object>> = {
  'the least of each role': [
    { role: 'system', text: '' },
    { role: 'user', text: 'Hi' },
    { role: 'assistant', text: 'Hello' },
    { role: 'tool', text: '7', call: 'call_1', tool: 'search', status: 'success' },
  ],
  'every member of each role': [
    { role: 'system', text: 's', id: 'a', createdAt: '2026-11-30T00:00:00.000Z' },
    {
      role: 'user',
      text: '',
      files: [
        { mediaType: 'image/png', data: Uint8Array.of(1, 2) },
        { mediaType: 'image/png', data: 'https://example.com/a.png' },
      ],
    },
    {
      role: 'assistant',
      text: '',
      reasoning: 'because',
      calls: [call, { ...call, wireId: 'x', args: undefined }],
      partial: true,
      model: 'p/m',
      usage: { input: 1 },
    },
    { role: 'tool', text: '', call: 'c', tool: 't', status: 'denied', value: new Map([[1, 2]]) },
  ],
  'members that are not known': [
    { role: 'user', text: 'x', author: { name: 'Ann' }, at: new Date(0) },
  ],
  'removals beside messages': [{ remove: 'a' }, { role: 'user', text: 'x' }],
  nothing: [],
}

const WRONG: readonly (readonly [what: string, value: unknown, path: unknown, message: string])[] =
  [
    ['what is no list', { role: 'user', text: '' }, undefined, 'Expected a list of messages'],
    ['null', null, undefined, 'Expected a list of messages'],
    ['text for a message', ['Hi'], [0], 'Expected a message, or { remove: id }'],
    ['a hole', Array(1), [0], 'Expected a message, or { remove: id }'],
    ['a list for a message', [[]], [0], 'Expected a message, or { remove: id }'],
    [
      'a role that is none',
      [{ role: 'robot', text: '' }],
      [0, 'role'],
      'Expected "system", "user", "assistant", "tool"',
    ],
    [
      'a role of every object',
      [{ role: 'constructor', text: '' }],
      [0, 'role'],
      'Expected "system", "user", "assistant", "tool"',
    ],
    ['a message without text', [{ role: 'user' }], [0, 'text'], 'Expected a string'],
    ['content for text', [{ role: 'user', content: 'x' }], [0, 'text'], 'Expected a string'],
    [
      'an empty id',
      [{ id: '', role: 'user', text: '' }],
      [0, 'id'],
      'Expected a string that is not empty',
    ],
    [
      'a number for an id',
      [{ id: 1, role: 'user', text: '' }],
      [0, 'id'],
      'Expected a string that is not empty',
    ],
    [
      'a Date for a time',
      [{ role: 'user', text: '', createdAt: new Date(0) }],
      [0, 'createdAt'],
      'Expected an ISO 8601 time with "Z"',
    ],
    [
      'a time of another zone',
      [{ role: 'user', text: '', createdAt: '2026-11-30T00:00:00+01:00' }],
      [0, 'createdAt'],
      'Expected an ISO 8601 time with "Z"',
    ],
    [
      'a time that is none',
      [{ role: 'user', text: '', createdAt: '2026-13-30T00:00:00Z' }],
      [0, 'createdAt'],
      'Expected an ISO 8601 time with "Z"',
    ],
    [
      'files that are no list',
      [{ role: 'user', text: '', files: {} }],
      [0, 'files'],
      'Expected a list',
    ],
    [
      'text for a file',
      [{ role: 'user', text: '', files: ['a'] }],
      [0, 'files', 0],
      'Expected an object',
    ],
    [
      'a file without a type',
      [{ role: 'user', text: '', files: [{ data: 'x' }] }],
      [0, 'files', 0, 'mediaType'],
      'Expected a string',
    ],
    [
      'a list of numbers for bytes',
      [
        { role: 'system', text: '' },
        { role: 'user', text: '', files: [{ mediaType: 'a/b', data: [1] }] },
      ],
      [1, 'files', 0, 'data'],
      'Expected a Uint8Array or a URL',
    ],
    [
      'reasoning that is no text',
      [{ role: 'assistant', text: '', reasoning: 1 }],
      [0, 'reasoning'],
      'Expected a string',
    ],
    [
      'a call without raw',
      [{ role: 'assistant', text: '', calls: [call, { id: 'a', tool: 't' }] }],
      [0, 'calls', 1, 'raw'],
      'Expected a string',
    ],
    [
      'partial: false',
      [{ role: 'assistant', text: '', partial: false }],
      [0, 'partial'],
      'Expected true',
    ],
    [
      'usage that is a number',
      [{ role: 'assistant', text: '', usage: 7 }],
      [0, 'usage'],
      'Expected an object',
    ],
    [
      'a result of no call',
      [{ role: 'tool', text: '', tool: 't', status: 'success' }],
      [0, 'call'],
      'Expected a string',
    ],
    [
      'a status that is none',
      [{ role: 'tool', text: '', tool: 't', call: 'c', status: 'ok' }],
      [0, 'status'],
      'Expected "success" or "error" or "denied"',
    ],
    [
      'a removal of a message',
      [{ remove: { id: 'a' } }],
      [0, 'remove'],
      'Expected a string that is not empty',
    ],
    [
      'a message and a removal in one',
      [{ remove: 'a', role: 'user', text: '' }],
      [0],
      'Expected a message or { remove: id }, not both',
    ],
  ]

const validate = (...given: unknown[]) =>
  (messages().schema['~standard'].validate as (...all: unknown[]) => unknown)(...given)

describe('the schema of messages', () => {
  it.each(Object.entries(GOOD))('takes %s as they are', (_, value) => {
    expect(validate(value)).toEqual({ value })
  })

  it.each(WRONG)('refuses %s', (_, value, path, message) => {
    expect(validate(value)).toEqual({
      issues: [path === undefined ? { message } : { message, path }],
    })
  })

  it('takes nothing for none', () => {
    expect(validate()).toEqual({ value: [] })
    expect(validate(undefined)).toEqual({ value: [] })
  })

  it('names everything that is wrong', () => {
    const { issues } = validate([{ role: 'user', id: 1 }, 5, { role: 'tool', text: '' }]) as {
      readonly issues: readonly { readonly path: readonly unknown[] }[]
    }
    expect(issues.map(({ path }) => path.join('.'))).toEqual([
      '0.id',
      '0.text',
      '1',
      '2.call',
      '2.tool',
      '2.status',
    ])
  })

  it('leaves out what is undefined, and touches nothing that it is given', () => {
    const given = Object.freeze([Object.freeze({ role: 'user', text: 'x', files: undefined })])
    const { value } = validate(given) as { readonly value: readonly object[] }
    expect(value.map((one) => Object.keys(one))).toEqual([['role', 'text']])
    expect(Object.keys(given[0] as object)).toEqual(['role', 'text', 'files'])
  })

  it('takes bytes of another realm, and of a subclass', () => {
    class Bytes extends Uint8Array {}
    const data = new Bytes([1, 2])
    const { value } = validate([
      { role: 'user', text: '', files: [{ mediaType: 'a/b', data }] },
    ]) as {
      readonly value: readonly [{ readonly files: readonly [{ readonly data: Uint8Array }] }]
    }
    expect(value[0].files[0].data.constructor).toBe(Uint8Array)
    expect([...value[0].files[0].data]).toEqual([1, 2])
  })
})

describe('the reducer of messages, by hand', () => {
  const { reduce } = messages()
  const named = (id: string, text: string): Message => ({
    id,
    role: 'user',
    text,
    createdAt: '2026-11-30T00:00:00.000Z',
  })

  it('replaces in place, appends, removes, and keeps apart what has no id', () => {
    const there = [named('1', 'a'), named('2', 'b')]
    const texts = (update: readonly (NewMessage | { readonly remove: string })[]) =>
      reduce(there, update).map(({ text }) => text)
    expect(texts([named('2', 'B'), named('3', 'c'), named('3', 'C')])).toEqual(['a', 'B', 'C'])
    expect(texts([{ remove: '1' }, named('1', 'new')])).toEqual(['b', 'new'])
    expect(texts([named('1', 'new'), { remove: '1' }])).toEqual(['b'])
    expect(
      texts([
        { role: 'user', text: 'x' },
        { role: 'user', text: 'y' },
      ]),
    ).toEqual(['a', 'b', 'x', 'y'])
    expect(there.map(({ text }) => text)).toEqual(['a', 'b'])
  })
})

describe('a graph with messages', () => {
  const nodes = { go: () => {} }
  const edges = { start: 'go', go: 'end' } as const

  it('has a field of that kind, with a schema of its own too', () => {
    const own = reduced(messages().schema, messages().reduce)
    const { fields } = plan(graph({ name: 'g', state: { a: messages(), own }, nodes, edges }))
    expect(fields.map(({ kind }) => kind)).toEqual(['messages', 'messages'])
  })

  it('says where in an input something is wrong', async () => {
    const app = compile(graph({ name: 'g', state: { chat: messages() }, nodes, edges }))
    const error = await failure(
      app.run({ thread: 't', input: { chat: [{ role: 'user', text: 5 }] as never } }),
    )
    expect(error).toMatchObject({
      code: 'schema_error',
      message: 'Cannot accept field "chat" in graph "g": at "0.text": Expected a string',
      details: { graph: 'g', field: 'chat', issues: [{ path: [0, 'text'] }] },
    })
    expect(await app.state('t')).toBeUndefined()
  })
})
