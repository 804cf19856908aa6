// What comes of it when an endpoint fails, or when nobody wants its answer any more.
import { isHeddleError, type AnyError } from 'heddle'
import { equal, pause } from '../behaviours/portable.ts'
import type { ChatAnswer } from '../fakes/chat-endpoint.ts'
import { chunk, greeting, oneCall, sse } from '../fakes/chat-shapes.ts'
import { heard, user, type At, type Heard } from './openai.tools.ts'

type Table = Readonly<Record<string, () => Promise<void>>>
type Details = Extract<AnyError, { code: 'model_error' }>['details']

const CANARY = 'canary-4f1d'
const html = { 'content-type': 'text/html; charset=utf-8' }
const json = { 'content-type': 'application/json' }
const said = (error: object): string => JSON.stringify({ error })
const start = sse(chunk({ content: 'So ' }))

interface Failure {
  readonly answer: ChatAnswer
  readonly details?: Omit<Details, 'provider' | 'model'>
  readonly words: string
  /** What is heard before it. */
  readonly before?: number
}

/** Failures as endpoints have them. */
const failures: Readonly<Record<string, Failure>> = {
  'too many requests': {
    answer: {
      status: 429,
      headers: { ...json, 'retry-after': '7' },
      body: said({ message: 'Rate limit reached', type: 'requests', code: 'rate_limit_exceeded' }),
    },
    details: { status: 429, retryAfterMs: 7000 },
    words: 'its provider answered 429, "Rate limit reached"',
  },
  'too many requests until a date': {
    answer: {
      status: 503,
      headers: { 'retry-after': 'Fri, 31 Dec 1999 23:59:59 GMT' },
      body: 'Overloaded',
    },
    details: { status: 503, retryAfterMs: 0 },
    words: 'its provider answered 503, "Overloaded"',
  },
  'a page of HTML': {
    answer: {
      status: 502,
      headers: html,
      body: '<html><head><title>502 Bad Gateway</title></head><body><center>nginx</center></body></html>',
    },
    details: { status: 502 },
    words: 'its provider answered 502, "502 Bad Gateway nginx"',
  },
  'a page of HTML that calls itself an answer': {
    answer: { status: 200, headers: html, body: '<!doctype html><title>Sign in</title>' },
    details: { status: 200 },
    words: 'its provider answered 200, "Sign in"',
  },
  'nothing at all': {
    answer: { status: 500, body: '' },
    details: { status: 500 },
    words: 'its provider answered 500',
  },
  'FastAPI, as vLLM has it': {
    answer: { status: 422, headers: json, body: '{"detail":[{"msg":"Field required"}]}' },
    details: { status: 422 },
    words: 'its provider answered 422, "Field required"',
  },
  'Ollama, with a text': {
    answer: { status: 404, headers: json, body: '{"error":"model \\"m\\" not found"}' },
    details: { status: 404 },
    words: 'its provider answered 404, "model "m" not found"',
  },
  'an error in the middle': {
    answer: { body: start + sse({ error: { message: 'Overloaded', code: 529 } }) + greeting },
    details: { status: 529 },
    words: 'its provider answered 529, "Overloaded"',
    before: 1,
  },
  'an error in the middle, as an event': {
    answer: { body: `${start}event: error\ndata: ${said({ message: 'Out of memory' })}\n\n` },
    words: '"Out of memory"',
    before: 1,
  },
  'an error in the middle, as an event without the member': {
    answer: { body: `${start}event: error\ndata: {"message":"Overloaded: sk-live-${CANARY}"}\n\n` },
    words: '"Overloaded: …"',
    before: 1,
  },
  'an error in the middle, as an event that is a text': {
    answer: { body: `${start}event: error\ndata: Overloaded\n\n` },
    words: '"Overloaded"',
    before: 1,
  },
  'an error in the middle, as an event with a code': {
    answer: {
      body: `${start}event: error\ndata: ${said({ message: 'Overloaded', code: 529 })}\n\n`,
    },
    details: { status: 529 },
    words: 'its provider answered 529, "Overloaded"',
    before: 1,
  },
  'an error in the middle, as vLLM has it': {
    answer: { body: start + sse({ object: 'error', message: 'Engine died', code: 500 }, '[DONE]') },
    details: { status: 500 },
    words: 'its provider answered 500, "Engine died"',
    before: 1,
  },
  'an error instead of an answer that is no stream': {
    answer: { headers: json, body: said({ message: 'Quota', code: 'insufficient_quota' }) },
    words: '"Quota"',
  },
  'half a chunk at the end': {
    answer: { body: start + oneCall.slice(0, 40) },
    words: '"a part of its answer is no JSON"',
    before: 1,
  },
}

/** Failures, aborts, and what nobody may see of them. */
export function failureCases(at: At): Table {
  const failing = (answer: ChatAnswer): Promise<Heard> => at([answer], ({ model }) => heard(model))

  return {
    'a failure is a model_error with what is known of it': async () => {
      for (const [name, { answer, details, words, before = 0 }] of Object.entries(failures)) {
        const { error, events } = await failing({ cut: 13, ...answer })
        equal(isHeddleError(error, 'model_error'), true, `${name}: ${String(error)}`)
        const { message, details: told } = error as AnyError
        equal(message, `Cannot ask model "acme/m": ${words}`, name)
        equal(told, { provider: 'acme', model: 'm', ...details }, `${name}: details`)
        equal(events.length, before, `${name}: heard before`)
      }
    },

    'a connection that is lost is a model_error, and what was said stands': async () => {
      const { error, events } = await failing({ body: start, ending: 'lost' })
      equal(isHeddleError(error, 'model_error'), true, String(error))
      equal(events, [{ kind: 'text', delta: 'So ' }], 'events')
    },

    'a redirect is not followed, and takes no header along': async () => {
      for (const status of [301, 302, 307, 308])
        await at(
          [{ status, headers: { location: 'http://127.0.0.1:9/v1' }, body: '' }],
          async ({ model, endpoint }) => {
            const { error } = await heard(model)
            equal(isHeddleError(error, 'model_error'), true, String(error))
            const { message } = error as Error
            equal(/a redirect, which is not followed/.test(message), true, message)
            equal(endpoint.seen.length, 1, 'requests')
          },
          { headers: { authorization: `Bearer ${CANARY}` } },
        )
    },

    'an abort ends it with its reason, and the endpoint sees it': async () => {
      for (const body of [start, oneCall.slice(0, -100)])
        await at([{ body, ending: 'open' }], async ({ model, endpoint }) => {
          const caller = new AbortController()
          const reason = new Error('enough')
          const asked = { messages: [user('Hi')] }
          let error: unknown
          try {
            for await (const event of model.stream(asked, { signal: caller.signal, call: 'c' }))
              if (event.kind !== 'usage') setTimeout(() => caller.abort(reason), 1)
          } catch (thrown) {
            error = thrown
          }
          equal(error === reason, true, `the reason, not ${String(error)}`)
          await endpoint.left
        })
    },

    'an abort before the answer ends it, too': async () => {
      const caller = new AbortController()
      const reason = new Error('enough')
      const waiting = {
        fetch: ({ signal }: Request) =>
          new Promise<Response>((_, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason))
            setTimeout(() => caller.abort(reason), 1)
          }),
      }
      await at(
        [],
        async ({ model }) => {
          const { error } = await heard(model, {}, caller.signal)
          equal(error === reason, true, `the reason, not ${String(error)}`)
          const again = await heard(model, {}, caller.signal)
          equal(again.error === reason, true, 'aborted from the start')
        },
        waiting,
      )
    },

    'whoever stops listening ends it, and the endpoint sees it': async () => {
      await at([{ body: start, ending: 'open' }], async ({ model, endpoint }) => {
        const { signal } = new AbortController()
        for await (const _ of model.stream({ messages: [user('Hi')] }, { signal, call: 'c' })) break
        await endpoint.left
      })
    },

    'no error shows a key, whoever says it': async () => {
      const echo = `Incorrect API key provided: ${CANARY}. Authorization: Bearer ${CANARY}`
      const answers: readonly ChatAnswer[] = [
        { status: 401, headers: json, body: said({ message: echo }) },
        { status: 500, body: echo },
        { status: 500, headers: html, body: `<p>${echo}</p>` },
        { body: start + sse({ error: { message: echo } }) },
        { body: start, ending: 'lost' },
      ]
      const headers = () => ({ authorization: `Bearer ${CANARY}`, 'x-api-key': `${CANARY}-2` })
      for (const answer of answers) {
        const { error } = await at([answer], ({ model }) => heard(model), { headers })
        holdsNone(error)
      }
      const ways = {
        'a header that is none': { headers: { authorization: `Bearer ${CANARY}\n\u0100` } },
        'headers that can not be made': {
          headers: () => Promise.reject(new Error(`sk-${CANARY} has expired`)),
        },
        'a fetch that fails': {
          headers,
          fetch: async ({ headers: sent }: Request) => {
            throw new TypeError(`fetch failed: ${sent.get('authorization')}`, {
              cause: new Error(sent.get('x-api-key')!),
            })
          },
        },
      }
      for (const [way, options] of Object.entries(ways)) {
        const { error } = await at([], ({ model }) => heard(model), options)
        equal(isHeddleError(error, 'model_error'), true, `${way}: ${String(error)}`)
        holdsNone(error)
      }
    },

    'what has no place to go is refused when the model is made': async () => {
      const options = [
        { url: 'https://' },
        { url: 'file:///v1' },
        { url: `https://ann:${CANARY}@model.test/v1` },
        { model: '' },
        { model: 7 },
        { fetch: 'fetch' },
        { apiKey: CANARY },
      ]
      for (const one of options) {
        const error = await at([], async () => undefined, one as never).catch((thrown) => thrown)
        equal(error instanceof TypeError, true, `${JSON.stringify(one)}: ${String(error)}`)
        holdsNone(error)
      }
    },

    'a URL that is refused is shown, without what may be a password': async () => {
      const shown = {
        'localhost:11434/v1': 'localhost:11434/v1',
        'file:///v1': 'file:///v1',
        [`https://ann:${CANARY}@model.test/v1?key=${CANARY}`]: '…model.test/v1…',
        [`https://ann:${CANARY}/?${CANARY}@model.test/v1#${CANARY}`]: '…model.test/v1…',
      }
      for (const [url, told] of Object.entries(shown)) {
        const error = await at([], async () => undefined, { url }).catch((thrown) => thrown)
        const what = 'does not begin with http:// or https://, or has a password'
        equal(String(error), `TypeError: Cannot use model "m": its URL "${told}" ${what}`, url)
      }
    },

    'nothing is left with the signal of whoever asks': async () => {
      const { signal } = new AbortController()
      let listeners = 0
      const { addEventListener, removeEventListener } = signal
      signal.addEventListener = (...args: [never, never]) => {
        listeners++
        addEventListener.apply(signal, args)
      }
      signal.removeEventListener = (...args: [never, never]) => {
        listeners--
        removeEventListener.apply(signal, args)
      }
      const answers = [{ body: greeting }, { status: 500, body: '' }]
      await at(answers, async ({ model }) => {
        for (const _ of answers) await heard(model, {}, signal)
      })
      await pause(1)
      equal(listeners, 0, 'listeners')
    },
  }
}

/** Neither in its words nor in anything that hangs on it. */
function holdsNone(error: unknown): void {
  const { message, stack, cause, details } = error as Error & { details?: unknown }
  const all = [message, stack, String(cause), JSON.stringify(details)].join('\n')
  equal(all.includes('canary'), false, `a key in ${message}`)
  equal(cause, undefined, 'cause')
}
