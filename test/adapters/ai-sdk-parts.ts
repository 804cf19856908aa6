// Streams of parts that no endpoint brings about by itself.
import { isHeddleError, type AnyError } from 'heddle'
import { fromAiSdk } from 'heddle/ai-sdk'
import { equal } from '../behaviours/portable.ts'
import { handMade, partsHeard, specifications } from './ai-sdk.tools.ts'
import { heard, user } from './openai.tools.ts'

const flat = { inputTokens: 9, outputTokens: 5, totalTokens: 14 }
const byKind = {
  inputTokens: { total: 9, noCache: 1, cacheRead: 6, cacheWrite: 2 },
  outputTokens: { total: 5, text: 2, reasoning: 3 },
}
const finish = (specification: string, reason = 'stop', raw: string | undefined = reason) => ({
  type: 'finish',
  usage: specification === 'v2' ? flat : byKind,
  finishReason: specification === 'v2' ? reason : { unified: reason, raw },
})
const calling = { type: 'tool-call', toolCallId: 'a', toolName: 'add', input: '{"a":1}' }

/** By hand, with every specification. */
export function partCases(): Readonly<Record<string, () => Promise<void>>> {
  return {
    'usage of every shape, and what is in it': async () => {
      const usages: readonly (readonly [object | undefined, object | undefined])[] = [
        [flat, { input: 9, output: 5, total: 14 }],
        [
          { ...flat, reasoningTokens: 3, cachedInputTokens: 6 },
          { input: 9, output: 5, total: 14, cacheRead: 6, reasoning: 3 },
        ],
        [byKind, { input: 9, output: 5, cacheRead: 6, cacheWrite: 2, reasoning: 3 }],
        [{ inputTokens: { total: 0 }, outputTokens: {} }, { input: 0 }],
        [{ inputTokens: Number.NaN, outputTokens: undefined }, undefined],
        [{ inputTokens: null, outputTokens: null }, undefined],
        [undefined, undefined],
      ]
      for (const [usage, expected] of usages) {
        const { events } = await partsHeard('v3', { type: 'finish', finishReason: 'stop', usage })
        const told = { kind: 'finish', reason: 'stop', ...(expected && { usage: expected }) }
        equal(events, [told], 'finish')
      }
    },

    'parts that are not known are passed over': async () => {
      for (const specification of specifications) {
        const { events, error } = await partsHeard(
          specification,
          { type: 'stream-start', warnings: [{ type: 'other', message: 'hm' }] },
          { type: 'response-metadata', id: 'r', modelId: 'm' },
          { type: 'ping' },
          { type: 'text-start', id: '1' },
          { type: 'text-delta', id: '1', delta: 'Yes' },
          { type: 'text-delta', id: '1', delta: '' },
          { type: 'text-end', id: '1' },
          { type: 'source', sourceType: 'url', url: 'https://a.test' },
          { type: 'file', mediaType: 'image/png', data: 'iVBORw==' },
          { type: 'tool-approval-request', approvalId: 'a', toolCallId: 'b' },
          { type: 'raw', rawValue: {} },
          { type: 'from-the-future', delta: 'no' },
          finish(specification),
        )
        equal(error, undefined, 'error')
        equal(
          events.map((event) => (event.kind === 'text' ? event.delta : event.kind)),
          ['Yes', 'finish'],
          specification,
        )
      }
    },

    'tools that the provider runs by itself are no calls': async () => {
      for (const specification of specifications) {
        const own = { providerExecuted: true }
        const { events } = await partsHeard(
          specification,
          { type: 'tool-input-start', id: 's', toolName: 'search', ...own },
          { type: 'tool-input-delta', id: 's', delta: '{}' },
          { type: 'tool-input-end', id: 's' },
          { type: 'tool-call', toolCallId: 's', toolName: 'search', input: '{}', ...own },
          { type: 'tool-result', toolCallId: 's', toolName: 'search', result: {}, ...own },
          { type: 'text-delta', id: '1', delta: 'Found' },
          finish(specification),
        )
        equal(
          events.map((event) => (event.kind === 'finish' ? event.reason : event.kind)),
          ['text', 'stop'],
          specification,
        )
      }
    },

    'the input of a call may be a value, or nothing': async () => {
      const inputs: readonly (readonly [unknown, string])[] = [
        [{ a: 1 }, '{"a":1}'],
        [[], '[]'],
        ['', '{}'],
        [undefined, '{}'],
        ['{"a":', '{"a":'],
      ]
      for (const [input, raw] of inputs) {
        const { events } = await partsHeard('v4', { ...calling, input }, finish('v4', 'tool-calls'))
        equal(events[0], { kind: 'call', id: 'a', tool: 'add', raw }, 'call')
      }
    },

    'a finish of a stream that broke off counts as none': async () => {
      const text = { type: 'text-delta', id: '1', delta: 'So f' }
      const noUsage = { usage: { inputTokens: undefined, outputTokens: undefined } }
      const broken = [
        ['v2', text, { ...finish('v2', 'unknown'), ...noUsage }],
        ['v2', calling, finish('v2', 'unknown')],
        ['v3', text, { ...finish('v3'), finishReason: { unified: 'other' }, ...noUsage }],
        ['v3', calling, { ...finish('v3'), finishReason: { unified: 'other' } }],
        ['v4', text, finish('v4', 'interrupted')],
        ['v4', text],
      ] as const
      for (const [specification, ...parts] of broken) {
        const { events, error } = await partsHeard(specification, ...parts)
        equal(error, undefined, 'error')
        equal(
          events.some(({ kind }) => kind === 'finish'),
          false,
          JSON.stringify(parts),
        )
      }
      const { events } = await partsHeard('v4', text, finish('v4', 'interrupted'))
      equal(events.at(-1)?.kind, 'usage', 'what it used is known all the same')
      const odd = [
        ['v2', text, finish('v2', 'unknown')],
        ['v3', text, finish('v3', 'other', 'eos')],
        ['v4', calling, finish('v4', 'other', 'eos')],
      ] as const
      for (const [specification, ...parts] of odd) {
        const told = (await partsHeard(specification, ...parts)).events.at(-1)
        equal(told?.kind === 'finish' && told.reason, 'other', JSON.stringify(parts))
      }
    },

    'an error may come as a part, a throw or a rejection, and be anything': async () => {
      const api = Object.assign(new Error('Overloaded'), {
        statusCode: 529,
        responseHeaders: { 'retry-after-ms': '1500', 'set-cookie': 'canary' },
        responseBody: 'canary',
        requestBodyValues: { canary: true },
        url: 'https://model.test/?key=canary',
      })
      const errors: readonly (readonly [unknown, string, object])[] = [
        [api, 'its provider answered 529, "Overloaded"', { status: 529, retryAfterMs: 1500 }],
        // Of a stream that broke off the SDK tells the status with which it began.
        [Object.assign(new Error('Cut'), { statusCode: 200 }), '"Cut"', {}],
        ['Overloaded', '"Overloaded"', {}],
        [{ type: 'error', error: { message: 'Overloaded' } }, '"Overloaded"', {}],
        [undefined, 'it failed, and does not say why', {}],
      ]
      for (const [thrown, words, details] of errors) {
        const ways = [
          handMade('v3', [{ type: 'error', error: thrown }]),
          { ...handMade('v3', []), doStream: () => Promise.reject(thrown) },
          {
            ...handMade('v3', []),
            doStream: () => {
              throw thrown
            },
          },
        ]
        for (const model of ways) {
          const { error } = await heard(fromAiSdk(model))
          equal(isHeddleError(error, 'model_error'), true, String(error))
          const { message, details: told, cause } = error as AnyError
          equal(message, `Cannot ask model "acme.chat/m": ${words}`, 'message')
          equal(told, { provider: 'acme.chat', model: 'm', ...details }, 'details')
          equal(cause, undefined, 'cause')
        }
      }
    },

    'the stream is cancelled by whoever stops, and behind an error': async () => {
      const text = { type: 'text-delta', id: '1', delta: 'a' }
      const stopped = handMade('v3', [text, text, text])
      const options = { signal: new AbortController().signal, call: 'c' }
      for await (const _ of fromAiSdk(stopped).stream({ messages: [user('Hi')] }, options)) break
      await stopped.left
      const broken = handMade('v3', [{ type: 'error', error: 'no' }, text, text])
      await heard(fromAiSdk(broken))
      await broken.left
    },

    'an abort is passed on, and is heard even by a stream that does not listen': async () => {
      const caller = new AbortController()
      const reason = new Error('enough')
      let left = false
      let passed: AbortSignal | undefined
      const model = {
        ...handMade('v4', []),
        async doStream({ abortSignal }: { abortSignal: AbortSignal }) {
          passed = abortSignal
          setTimeout(() => caller.abort(reason), 1)
          return { stream: new ReadableStream({ cancel: () => void (left = true) }) }
        },
      }
      const { error } = await heard(fromAiSdk(model as never), {}, caller.signal)
      equal(error === reason, true, `the reason, not ${String(error)}`)
      equal(left, true, 'left')
      equal(passed!.reason === reason, true, 'passed on')
    },

    'a model of another specification is refused by name': async () => {
      for (const version of ['v1', 'v5', 'v22', undefined]) {
        const error = refusal(handMade(version as string, []))
        equal(error instanceof TypeError, true, String(error))
        const words = `Cannot use AI SDK model "acme.chat/m": its specification is "${version}", not v2, v3 or v4`
        equal((error as Error).message, words, 'message')
      }
      for (const model of ['openai/gpt', undefined, null, {}])
        equal(refusal(model) instanceof TypeError, true, JSON.stringify(model))
    },

    'what it calls itself is what it is called': async () => {
      const { provider, model } = fromAiSdk(handMade('v3', []))
      equal([provider, model], ['acme.chat', 'm'], 'names')
    },
  }
}

function refusal(model: unknown): unknown {
  try {
    return fromAiSdk(model as never)
  } catch (error) {
    return error
  }
}
