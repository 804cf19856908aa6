// Streams as endpoints send them: what each of them does in its own way is in here, what they have in common once.
// Seen in the wild: ollama/ollama#15457 and #7881 (indexes), sgl-project/sglang#7048 (ids), BerriAI/litellm#11407.
import type { ModelEvent } from 'heddle'

/** Chunks, or other payloads, as server-sent events. */
export function sse(...payloads: readonly unknown[]): string {
  return payloads
    .map((one) => `data: ${typeof one === 'string' ? one : JSON.stringify(one)}\n\n`)
    .join('')
}

/** A chunk with one choice. */
export function chunk(delta: object, finish: string | null = null, more: object = {}): object {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }]
  return {
    id: 'chatcmpl-7',
    object: 'chat.completion.chunk',
    created: 1796000000,
    model: 'm',
    choices,
    ...more,
  }
}

/** A chunk with the usage, behind the others. */
export const usage = (figures: object): object => chunk({}, null, { choices: [], usage: figures })

/** A piece of a call. */
export const piece = (
  index: number | undefined,
  id: string | number | undefined,
  name: string | undefined,
  args?: unknown,
): object => ({
  ...(index !== undefined && { index }),
  ...(id !== undefined && { id, type: 'function' }),
  function: { ...(name !== undefined && { name }), ...(args !== undefined && { arguments: args }) },
})

const calls = (...pieces: readonly object[]): object => chunk({ tool_calls: pieces })

/** "Grüße, 世界 👋🏽" in pieces, with usage behind it. */
export const greeting = sse(
  chunk({ role: 'assistant', content: '', refusal: null }),
  chunk({ content: 'Grüße' }),
  chunk({ content: ', 世界 👋🏽' }),
  chunk({}, 'stop'),
  usage({ prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 }),
  '[DONE]',
)

export const greetingEvents: readonly ModelEvent[] = [
  { kind: 'text', delta: 'Grüße' },
  { kind: 'text', delta: ', 世界 👋🏽' },
  { kind: 'usage', usage: { input: 9, output: 5, total: 14 } },
  { kind: 'finish', reason: 'stop', usage: { input: 9, output: 5, total: 14 } },
]

/** One call, whole and finished. */
export const oneCall = sse(
  chunk({ role: 'assistant', content: null }),
  calls(piece(0, 'call_a', 'add', '')),
  calls(piece(0, undefined, undefined, '{"a":1,')),
  calls(piece(0, undefined, undefined, '"b":2}')),
  chunk({}, 'tool_calls'),
  '[DONE]',
)

const a = ['call_a', 'add', '{"a":1}'] as const
const b = ['call_b', 'add', '{"a":2}'] as const

/** Two calls by every way of sending them: the pieces, and the ids that come of them. */
export const callShapes: Readonly<
  Record<
    string,
    { readonly pieces: readonly (readonly object[])[]; readonly ids?: readonly string[] }
  >
> = {
  'OpenAI: id and name in the first piece, then by index': {
    pieces: [
      [piece(0, a[0], a[1], '')],
      [piece(0, undefined, undefined, '{"a"')],
      [piece(0, undefined, undefined, ':1}')],
      [piece(1, b[0], b[1], '')],
      [piece(1, undefined, undefined, b[2])],
    ],
  },
  'in turns': {
    pieces: [
      [piece(0, a[0], a[1], '{"a"'), piece(1, b[0], b[1], '{"a"')],
      [piece(1, undefined, undefined, ':2'), piece(0, undefined, undefined, ':1')],
      [piece(0, undefined, undefined, '}')],
      [piece(1, undefined, undefined, '}')],
    ],
  },
  'Anthropic: the first index is not 0': {
    pieces: [[piece(1, a[0], a[1], '')], [piece(1, undefined, undefined, a[2])], [piece(2, ...b)]],
  },
  'a name in pieces': {
    pieces: [
      [piece(0, a[0], 'a')],
      [piece(0, undefined, 'dd')],
      [piece(0, undefined, undefined, a[2])],
      [piece(1, b[0], 'ad'), piece(1, undefined, 'd', b[2])],
    ],
  },
  'id and name again in each piece': {
    pieces: [
      [piece(0, a[0], a[1], '{"a"')],
      [piece(0, a[0], a[1], ':1}')],
      [piece(0, a[0], a[1], '')],
      [piece(1, b[0], b[1], '{"a":')],
      [piece(1, b[0], b[1], '2}')],
    ],
  },
  'id and name again in each piece, behind arguments that are whole too': {
    pieces: [
      [piece(0, a[0], a[1], '{"a":1}')],
      [piece(0, a[0], a[1], '')],
      [piece(1, b[0], b[1], '{"a":2')],
      [piece(1, b[0], b[1], '}')],
      [piece(1, b[0], b[1], undefined)],
    ],
  },
  'ids that are numbers': {
    pieces: [[piece(0, 5, a[1], '')], [piece(0, 5, undefined, a[2])], [piece(1, 6, b[1], b[2])]],
    ids: ['5', '6'],
  },
  'Ollama: whole calls, all of index 0': {
    pieces: [[piece(0, ...a)], [piece(0, ...b)]],
  },
  'Ollama: all of index 0, in pieces, and back to the first': {
    pieces: [
      [piece(0, a[0], a[1], '{"a"')],
      [piece(0, b[0], b[1], '{"a":')],
      [piece(0, undefined, undefined, '2}')],
      [piece(0, a[0], undefined, ':1')],
      [piece(0, undefined, undefined, '}')],
    ],
  },
  'no index, in one chunk': { pieces: [[piece(undefined, ...a), piece(undefined, ...b)]] },
  'no index, one after the other': {
    pieces: [
      [piece(undefined, a[0], a[1], '{"a"')],
      [piece(undefined, undefined, undefined, ':1}')],
      [piece(undefined, b[0], b[1], '{"a":')],
      [piece(undefined, undefined, undefined, '2}')],
    ],
  },
  'no index, by id in turns': {
    pieces: [
      [piece(undefined, a[0], a[1], '{"a"')],
      [piece(undefined, b[0], b[1], '{"a":')],
      [piece(undefined, a[0], undefined, ':1}')],
      [piece(undefined, b[0], undefined, '2}')],
    ],
  },
  'SGLang: no id behind the first': {
    pieces: [[piece(0, ...a)], [piece(1, undefined, b[1], b[2])]],
    ids: ['call_a', '1'],
  },
  'Gemini: no index, no id, arguments as a value': {
    pieces: [[piece(undefined, '', 'add', { a: 1 })], [piece(undefined, '', 'add', { a: 2 })]],
    ids: ['0', '1'],
  },
  'one id for two calls (B32)': {
    pieces: [
      [piece(0, 'x', 'add', '')],
      [piece(0, undefined, undefined, a[2])],
      [piece(1, 'x', 'add', b[2])],
    ],
    ids: ['x', 'x'],
  },
  'one id for two calls, in turns (B32)': {
    pieces: [
      [piece(0, 'x', 'add', ''), piece(1, 'x', 'add', '')],
      [piece(0, undefined, undefined, a[2]), piece(1, undefined, undefined, b[2])],
    ],
    ids: ['x', 'x'],
  },
  'one id for two whole calls without an index (B32)': {
    pieces: [[piece(undefined, 'x', a[1], a[2]), piece(undefined, 'x', b[1], b[2])]],
    ids: ['x', 'x'],
  },
}

/** A stream of those pieces. */
export const callStream = (pieces: readonly (readonly object[])[]): string =>
  sse(...pieces.map((list) => calls(...list)), chunk({}, 'tool_calls'), '[DONE]')
