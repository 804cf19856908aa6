// What comes of the answers of an endpoint by way of a real provider.
import { isHeddleError, type AnyError, type TokenUsage } from 'heddle'
import { equal } from '../behaviours/portable.ts'
import type { ChatAnswer } from '../fakes/chat-endpoint.ts'
import { callStream, chunk, greeting, oneCall, piece, sse, usage } from '../fakes/chat-shapes.ts'
import type { Specification } from './ai-sdk.tools.ts'
import { eventsOf, heard, user, type At } from './openai.tools.ts'

const CANARY = 'canary-4f1d'
const json = { 'content-type': 'application/json' }
const start = sse(chunk({ role: 'assistant', content: 'So ' }))

/** Real streams, real failures. */
export function answerCases(
  at: At,
  specification: Specification,
): Readonly<Record<string, () => Promise<void>>> {
  const events = (answer: ChatAnswer) => at([answer], ({ model }) => eventsOf(model))
  const said = { input: 9, output: 5 }
  // From the third on, the provider says 0 for what its endpoint doesn't report.
  const counted: TokenUsage =
    specification === 'v2' ? { ...said, total: 14 } : { ...said, cacheRead: 0, reasoning: 0 }

  return {
    'an answer is the same however its bytes are cut': async () => {
      const told = [
        { kind: 'text', delta: 'Grüße' },
        { kind: 'text', delta: ', 世界 👋🏽' },
        { kind: 'finish', reason: 'stop', usage: counted },
      ]
      for (const cut of [1, 3, 7, 64]) {
        equal(await events({ body: greeting, cut }), told, `by ${cut}`)
        const windows = greeting.replaceAll('\n', '\r\n').replaceAll('data:', ': hm\r\ndata:')
        equal(await events({ body: windows, cut }), told, `CRLF and comments by ${cut}`)
      }
      equal(await events({ body: greeting.replace('data: [DONE]\n\n', '') }), told, 'no [DONE]')
    },

    'calls come with their arguments, as they are written and whole': async () => {
      for (const cut of [1, 50])
        equal(
          (await events({ body: oneCall, cut })).filter(({ kind }) => kind !== 'args'),
          [
            { kind: 'call', id: 'call_a', tool: 'add', raw: '{"a":1,"b":2}' },
            { kind: 'finish', reason: 'calls' },
          ],
          `by ${cut}`,
        )
      const args = (await events({ body: oneCall })).flatMap((event) =>
        event.kind === 'args' ? [event] : [],
      )
      equal(args.map(({ delta }) => delta).join(''), '{"a":1,"b":2}', 'arguments')
      equal(
        args.map(({ id, tool }) => tool ?? id),
        ['add', ...args.slice(1).map(() => 'call_a')],
        'whose they are',
      )
      const two = callStream([
        [piece(0, 'call_a', 'add', '{"a":1}'), piece(1, 'call_b', 'add', '')],
        [piece(1, undefined, undefined, '{}')],
      ])
      const ids = (await events({ body: two })).flatMap((event) =>
        event.kind === 'call' ? [`${event.id} ${event.raw}`] : [],
      )
      equal(ids, ['call_a {"a":1}', 'call_b {}'], 'two')
    },

    'reasoning is told apart from text': async () => {
      const body = sse(
        chunk({ reasoning_content: 'Hm', content: '' }),
        chunk({ content: 'Yes' }, 'stop'),
      )
      const told = await events({ body })
      equal(
        told.slice(0, 2),
        [
          { kind: 'reasoning', delta: 'Hm' },
          { kind: 'text', delta: 'Yes' },
        ],
        'told',
      )
    },

    'usage is in our figures': async () => {
      const figures = {
        prompt_tokens: 100,
        completion_tokens: 40,
        total_tokens: 140,
        prompt_tokens_details: { cached_tokens: 64 },
        completion_tokens_details: { reasoning_tokens: 32 },
      }
      const told = (await events({ body: sse(chunk({}, 'stop'), usage(figures)) })).at(-1)
      const expected = { input: 100, output: 40, cacheRead: 64, reasoning: 32 }
      equal(
        told,
        {
          kind: 'finish',
          reason: 'stop',
          usage: sorted(specification === 'v2' ? { ...expected, total: 140 } : expected),
        },
        'usage',
      )
      const none = (await events({ body: sse(chunk({}, 'stop')) })).at(-1)
      equal(none, { kind: 'finish', reason: 'stop' }, 'nothing reported')
    },

    'the reason to finish is one of ours': async () => {
      const reasons = { stop: 'stop', length: 'length', content_filter: 'filter', eos: 'other' }
      for (const [word, reason] of Object.entries(reasons)) {
        const body = sse(
          chunk({ content: 'a' }, word),
          usage({ prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 }),
        )
        equal((await events({ body })).at(-1), { kind: 'finish', reason, usage: counted }, word)
      }
      const stopped = callStream([[piece(0, 'call_a', 'add', '{}')]]).replace(
        'tool_calls"}]',
        'stop"}]',
      )
      equal((await events({ body: stopped })).at(-1), { kind: 'finish', reason: 'calls' }, 'a call')
    },

    'a stream that nobody finished has no finish': async () => {
      const whole = sse(chunk({ content: 'So ' }), chunk({ content: 'far' }))
      for (const body of [
        whole,
        oneCall.split('\n\n').slice(0, -3).join('\n\n'),
        oneCall.replace('"tool_calls"}', 'null}'),
      ]) {
        const { events: told, error } = await at([{ body }], ({ model }) => heard(model))
        equal(
          told.some(({ kind }) => kind === 'finish'),
          false,
          'finish',
        )
        if (specification !== 'v2') equal(isHeddleError(error, 'model_error'), true, String(error))
      }
    },

    'a failure is a model_error with what is known of it': async () => {
      const limited = { message: 'Rate limit reached', type: 'requests' }
      const table: readonly (readonly [ChatAnswer, object, RegExp])[] = [
        [
          {
            status: 429,
            headers: { ...json, 'retry-after': '7' },
            body: JSON.stringify({ error: limited }),
          },
          { status: 429, retryAfterMs: 7000 },
          /answered 429, "Rate limit reached"$/,
        ],
        [
          {
            status: 503,
            headers: { 'retry-after': 'Fri, 31 Dec 1999 23:59:59 GMT' },
            body: 'Overloaded',
          },
          { status: 503, retryAfterMs: 0 },
          /answered 503/,
        ],
        [{ status: 500, body: 'Out of memory' }, { status: 500 }, /answered 500/],
        [
          { status: 400, headers: json, body: '{"error":{"message":"No such model"}}' },
          { status: 400 },
          /answered 400, "No such model"$/,
        ],
      ]
      for (const [answer, details, words] of table) {
        const { error } = await at([answer], ({ model }) => heard(model))
        equal(isHeddleError(error, 'model_error'), true, String(error))
        const { message, details: told, cause } = error as AnyError
        equal(told, { provider: 'acme.chat', model: 'm', ...details }, message)
        equal(words.test(message), true, message)
        equal(cause, undefined, 'cause')
      }
    },

    'an error in the middle is thrown, and what was said stands': async () => {
      const broken = {
        body: start + sse({ error: { message: 'Overloaded', code: 529 } }) + greeting,
      }
      const { events: told, error } = await at([broken], ({ model }) => heard(model))
      equal(told, [{ kind: 'text', delta: 'So ' }], 'events')
      equal(isHeddleError(error, 'model_error'), true, String(error))
      equal((error as Error).message.includes('Overloaded'), true, String(error))
    },

    'a connection that is lost is a model_error, and what was said stands': async () => {
      const lost: ChatAnswer = { body: start, ending: 'lost' }
      const { events: told, error } = await at([lost], ({ model }) => heard(model))
      equal(isHeddleError(error, 'model_error'), true, String(error))
      equal(told, [{ kind: 'text', delta: 'So ' }], 'events')
    },

    'an abort ends it with its reason, and the endpoint sees it': async () => {
      await at([{ body: start, ending: 'open' }], async ({ model, endpoint }) => {
        const caller = new AbortController()
        const reason = new Error('enough')
        const options = { signal: caller.signal, call: 'c' }
        let error: unknown
        try {
          for await (const _ of model.stream({ messages: [user('Hi')] }, options))
            setTimeout(() => caller.abort(reason), 1)
        } catch (thrown) {
          error = thrown
        }
        equal(error === reason, true, `the reason, not ${String(error)}`)
        await endpoint.left
      })
    },

    'whoever stops listening ends it, and the endpoint sees it': async () => {
      await at([{ body: start, ending: 'open' }], async ({ model, endpoint }) => {
        const options = { signal: new AbortController().signal, call: 'c' }
        for await (const _ of model.stream({ messages: [user('Hi')] }, options)) break
        await endpoint.left
      })
    },

    'no error shows a key': async () => {
      const echo = `Incorrect API key provided: sk-${CANARY}. Authorization: Bearer ${CANARY}`
      const headers = { authorization: `Bearer ${CANARY}` }
      const answers: readonly ChatAnswer[] = [
        { status: 401, headers: json, body: JSON.stringify({ error: { message: echo } }) },
        { body: start + sse({ error: { message: echo } }) },
        { status: 500, body: echo },
      ]
      for (const answer of answers) {
        const { error } = await at([answer], ({ model }) => heard(model), { headers })
        const { message, stack, cause, details } = error as AnyError
        const all = [message, stack, String(cause), JSON.stringify(details)].join('\n')
        equal(all.includes('canary'), false, message)
      }
    },
  }
}

/** In the order that figures have. */
function sorted({ input, output, total, ...rest }: TokenUsage): TokenUsage {
  return { input: input!, output: output!, ...(total !== undefined && { total }), ...rest }
}
