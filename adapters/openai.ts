import { isHeddleError, modelError } from '../src/index.ts'
import type { Model, ModelEvent, ModelFailure, ModelRequest } from '../src/index.ts'
import { answerOf } from './openai/answer.ts'
import { bodyOf } from './openai/body.ts'
import { parsed, payloadsOf, textOf } from './openai/payloads.ts'

/** Where an endpoint is, and how it is asked. */
export interface OpenAiCompatibleOptions {
  /** Up to and without `/chat/completions`. In a page it may be relative to it. A query is kept. */
  readonly url: string | URL
  readonly model: string
  /** Named in keys, prices and records. @default host of the URL */
  readonly provider?: string
  /** Called per request; never stored, never in a cache key. */
  readonly headers?: HeadersInit | (() => HeadersInit | Promise<HeadersInit>)
  /** @default the platform's, as it is when asked */
  readonly fetch?: (request: Request) => Promise<Response>
  /**
   * The member in which the endpoint wants its reasoning of the running turn back: `reasoning_content` for instance.
   *
   * @default it isn't sent back
   */
  readonly reasoning?: string
}

/**
 * A model behind any OpenAI-compatible `chat/completions`.
 *
 * Answers are streamed; a server that doesn't stream is understood, too. `extra` of a request goes into the body as it
 * is, over what stands there. Redirects aren't followed: they would take the headers along.
 *
 * @throws {TypeError} A URL that is none or holds a password, no model, or an option that isn't known
 */
export function openAiCompatible(options: OpenAiCompatibleOptions): Model {
  const { model, endpoint, provider, headers, fetch, reasoning } = checked(options)
  const identity = { provider, model }

  async function* stream(
    request: ModelRequest,
    { signal }: { readonly signal: AbortSignal },
  ): AsyncGenerator<ModelEvent> {
    signal.throwIfAborted()
    const secrets = [endpoint.search, ...endpoint.searchParams.values()]
    const fail = (failure: ModelFailure): Error => modelError(identity, { ...failure, secrets })
    // A signal of its own, so that no request leaves anything with one that lives longer.
    const going = new AbortController()
    const stop = (): void => going.abort(signal.reason)
    signal.addEventListener('abort', stop)
    try {
      const sent = await headersOf(headers, fail)
      sent.forEach((value) => secrets.push(value, ...value.split(/\s+/).slice(1)))
      sent.set('content-type', 'application/json')
      signal.throwIfAborted()
      const response = await fetch(
        new Request(endpoint.href, {
          method: 'POST',
          headers: sent,
          body: JSON.stringify(bodyOf(request, model, reasoning)),
          signal: going.signal,
          // Workers know no "error".
          redirect: 'manual',
        }),
      )
      await refuse(response, going.signal, fail)
      if (response.body) yield* answerOf(payloadsOf(textOf(response.body, going.signal)), fail)
      signal.throwIfAborted()
    } catch (error) {
      if (signal.aborted) throw signal.reason
      throw isHeddleError(error) ? error : fail({ said: error })
    } finally {
      signal.removeEventListener('abort', stop)
      going.abort()
    }
  }
  return { ...identity, stream }
}

/** What goes wrong here may tell of what isn't known as a secret yet: its words are left out. */
async function headersOf(
  headers: OpenAiCompatibleOptions['headers'],
  fail: (failure: ModelFailure) => Error,
): Promise<Headers> {
  try {
    return new Headers(typeof headers === 'function' ? await headers() : headers)
  } catch {
    throw fail({ said: 'its headers cannot be made' })
  }
}

interface Checked extends Omit<OpenAiCompatibleOptions, 'url'> {
  readonly endpoint: URL
  readonly provider: string
  readonly fetch: (request: Request) => Promise<Response>
}

function checked(options: OpenAiCompatibleOptions): Checked {
  const { url, model, provider, headers, fetch = ask, reasoning, ...more } = options
  const cannot = `Cannot use model "${model}"`
  for (const name of Object.keys(more))
    throw new TypeError(`${cannot}: "${name}" is not known here`)
  if (typeof model !== 'string' || model === '') throw new TypeError(`${cannot}: it has no name`)
  if (typeof fetch !== 'function') throw new TypeError(`${cannot}: fetch is not a function`)
  const endpoint = endpointOf(String(url))
  // Not quoted: it may hold a key.
  if (!endpoint) throw new TypeError(`${cannot}: its URL is none of HTTP, or holds a password`)
  endpoint.pathname = endpoint.pathname.replace(/\/*$/, '/chat/completions')
  return {
    model,
    endpoint,
    provider: provider ?? endpoint.host,
    fetch,
    ...(headers && { headers }),
    ...(reasoning && { reasoning }),
  }
}

const ask = (request: Request): Promise<Response> => globalThis.fetch(request)

function endpointOf(url: string): URL | undefined {
  const { location } = globalThis as { readonly location?: { readonly href: string } }
  try {
    const endpoint = new URL(url, location?.href)
    // With a user or a password it goes on with an @ behind the slashes.
    return /^https?:\/\/[^/@]*\//.test(endpoint.href) ? endpoint : undefined
  } catch {
    return undefined
  }
}

/** Throws unless what comes is an answer of a model. */
async function refuse(
  response: Response,
  signal: AbortSignal,
  fail: (failure: ModelFailure) => Error,
): Promise<void> {
  const { ok, status, headers, body } = response
  // Pages show of a redirect that there is one, without a status.
  if (status === 0 || (status >= 300 && status < 400))
    throw fail({ status: status || undefined, said: 'a redirect, which is not followed' })
  // A page of HTML is no answer, whatever its status says.
  if (ok && !/\bhtml\b/.test(headers.get('content-type') ?? '')) return
  let text = ''
  if (body)
    for await (const piece of textOf(body, signal))
      if ((text += piece).length > LONGEST_REFUSAL) break
  throw fail({ status, headers, said: parsed(text) ?? text })
}

const LONGEST_REFUSAL = 65_536
