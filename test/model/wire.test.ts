import { pairCalls, type Message } from 'heddle'
import { expect, it } from 'vitest'

const at = { createdAt: '2026-11-30T04:00:00.000Z' }

it('every call has its result right behind the message that called, in the order of the calls', () => {
  const messages = [user('1'), calling('a', ['c1', 'x'], ['c2', 'y']), result('c2'), result('c1')]
  expect(outline(pairCalls([...messages, user('2')]))).toEqual([
    'user',
    'assistant c1=x c2=y',
    'tool x',
    'tool y',
    'user',
  ])
})

it('ids of providers that number calls anew are unique on the wire, and stay so as messages follow', () => {
  const one = [calling('a', ['c1', '0'], ['c2', '0']), result('c1'), result('c2')]
  const two = [...one, calling('b', ['c3', '0'], ['c4', '0-2'], ['c5', '']), result('c3')]
  const all = [...two, result('c4'), result('c5')]
  expect(outline(pairCalls(one))).toEqual(['assistant c1=0 c2=0-2', 'tool 0', 'tool 0-2'])
  expect(outline(pairCalls(all))).toEqual([
    'assistant c1=0 c2=0-2',
    'tool 0',
    'tool 0-2',
    'assistant c3=0-3 c4=0-2-2 c5=c5',
    'tool 0-3',
    'tool 0-2-2',
    'tool c5',
  ])
})

it('what has no counterpart is left out: calls, results, and messages that are empty without them', () => {
  expect(
    outline(
      pairCalls([
        result('gone'),
        calling('said', ['c1', 'x'], ['c2', 'y']),
        result('c2'),
        calling('', ['c3', 'z']),
        calling('only said', ['c4', 'z']),
      ]),
    ),
  ).toEqual(['assistant c2=y', 'tool y', 'assistant'])
})

it('an id that comes again in a later turn is of another call, with a result of its own', () => {
  const [oslo, rome] = ['Oslo', 'Rome'].map((text) => ({ ...result('0'), text }) as Message)
  const turns = [calling('a', ['0', '']), oslo!, calling('b', ['0', '']), rome!]
  const paired = pairCalls(turns)
  expect(outline(paired)).toEqual(['assistant 0=0', 'tool 0', 'assistant 0=0-2', 'tool 0-2'])
  expect(paired.map(({ text }) => text)).toEqual(['a', 'Oslo', 'b', 'Rome'])
  expect(pairCalls([calling('a', ['0', '']), ...turns.slice(2)])).toEqual([
    { id: 'a', ...at, role: 'assistant', text: 'a' },
    ...pairCalls(turns.slice(2)),
  ])
  // One that comes late is of the call that has none.
  expect(outline(pairCalls([calling('a', ['0', '']), ...turns.slice(2), oslo!]))).toEqual([
    ...['assistant 0=0', 'tool 0', 'assistant 0=0-2', 'tool 0-2'],
  ])
})

it('calls of one id in one message have their results in order; the last of several for one counts', () => {
  const [one, two, three] = ['1', '2', '3'].map((text) => ({ ...result('c'), text }) as Message)
  const texts = (...messages: Message[]): string[] => pairCalls(messages).map(({ text }) => text)
  expect(texts(calling('a', ['c', ''], ['c', '']), one!, two!)).toEqual(['a', '1', '2'])
  expect(texts(calling('a', ['c', '']), one!, two!, three!)).toEqual(['a', '3'])
})

it('a partial message keeps its text and none of its calls, with or without results', () => {
  const partial = { ...calling('so far', ['c1', 'x']), partial: true } as Message
  expect(pairCalls([partial, result('c1')])).toEqual([
    { id: 'so far', ...at, role: 'assistant', text: 'so far', partial: true },
  ])
})

it('the messages that are given stay as they are', () => {
  const messages = [calling('a', ['c1', 'x'], ['c2', 'x']), result('c1'), result('c2')]
  const before = structuredClone(messages)
  pairCalls(messages)
  expect(messages).toEqual(before)
})

function user(text: string): Message {
  return { id: text, ...at, role: 'user', text }
}

function calling(text: string, ...calls: readonly (readonly [string, string])[]): Message {
  return {
    id: text,
    ...at,
    role: 'assistant',
    text,
    calls: calls.map(([id, wireId]) => ({ id, wireId, tool: 't', args: {}, raw: '{}' })),
  }
}

function result(call: string): Message {
  return { id: `r-${call}`, ...at, role: 'tool', text: '', call, tool: 't', status: 'success' }
}

function outline(messages: readonly Message[]): readonly string[] {
  return messages.map((message) => {
    if (message.role === 'tool') return `tool ${message.call}`
    const calls = message.role === 'assistant' ? (message.calls ?? []) : []
    return [message.role, ...calls.map(({ id, wireId }) => `${id}=${wireId}`)].join(' ')
  })
}
