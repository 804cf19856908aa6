import { isHeddleError, modelError } from '../src/index.ts'
import type { Model, ModelEvent, ModelFailure, ModelRequest } from '../src/index.ts'
import { answerOf } from './openai/answer.ts'
import { bodyOf } from './openai/body.ts'
import { parsed, payloadsOf, textOf } from './openai/payloads.ts'

/** What `Headers` of the platform are made of, or they themselves. */
export type RequestHeaders = Readonly<Record<string, string>> | Iterable<readonly [string, string]>

/** Where an endpoint is, and how it is asked. */
export interface OpenAiCompatibleOptions {
  /** Up to and without `/chat/completions`. In a page it may be relative to it. A query is kept. */
  readonly url: string | URL
  readonly model: string
  /** Named in keys, prices and records. @default host of the URL */
  readonly provider?: string
  /** Called per request; never stored, never in a cache key. */
  readonly headers?: RequestHeaders | (() => RequestHeaders | Promise<RequestHeaders>)
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
  const { url, model, provider, headers, reasoning, ...others } = options
  const { fetch = (request) => globalThis.fetch(request), ...more } = others
  const refused = (why: string): Error => new TypeError(`Cannot use model "${model}": ${why}`)
  for (const name of Object.keys(more)) throw refused(`"${name}" is not known here`)
  if (!model || typeof model !== 'string') throw refused('it has no name')
  if (typeof fetch !== 'function') throw refused('fetch is not a function')
  const endpoint = endpointOf(String(url), refused)
  endpoint.pathname = endpoint.pathname.replace(/\/*$/, '/chat/completions')
  const identity = { provider: provider ?? endpoint.host, model }

  async function* stream(
    request: ModelRequest,
    { signal }: { readonly signal: AbortSignal },
  ): AsyncGenerator<ModelEvent> {
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
    return new Headers((typeof headers === 'function' ? await headers() : headers) as HeadersInit)
  } catch {
    throw fail({ said: 'its headers cannot be made' })
  }
}

/** What may be a password, or a key in the query, isn't shown. */
function endpointOf(url: string, refused: (why: string) => Error): URL {
  const { location } = globalThis as { readonly location?: { readonly href: string } }
  try {
    const endpoint = new URL(url, location?.href)
    // With a user or a password it goes on with an @ behind the slashes.
    if (/^https?:\/\/[^/@]*\//.test(endpoint.href)) return endpoint
  } catch {}
  const shown = url.replace(/^.*@|[?#].*/gs, '…')
  throw refused(`its URL "${shown}" does not begin with http:// or https://, or has a password`)
}

const LONGEST_REFUSAL = 65_536

/** Throws unless what comes is an answer of a model. */
async function refuse(
  response: Response,
  signal: AbortSignal,
  fail: (failure: ModelFailure) => Error,
): Promise<void> {
  const { ok, status, headers, body } = response
  // Pages show of a redirect that there is one, without a status.
  if (!status || (status >= 300 && status < 400))
    throw fail({ status: status || undefined, said: 'a redirect, which is not followed' })
  // A page of HTML is no answer, whatever its status says.
  if (ok && !/\bhtml\b/.test(headers.get('content-type') ?? '')) return
  let text = ''
  if (body)
    for await (const piece of textOf(body, signal))
      if ((text += piece).length > LONGEST_REFUSAL) break
  throw fail({ status, headers, said: parsed(text) ?? text })
}
