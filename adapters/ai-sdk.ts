import { isHeddleError, modelError } from '../src/index.ts'
import type { Model, ModelEvent, ModelRequest } from '../src/index.ts'
import { callOptions } from './ai-sdk/call.ts'
import { eventsOf, type Part } from './ai-sdk/events.ts'
import { secretsOf } from './ai-sdk/secrets.ts'

/** What a provider model of AI SDK specification 2, 3 or 4 has in common. */
export interface AiSdkModel {
  readonly specificationVersion: string
  readonly provider: string
  readonly modelId: string
  doStream(options: never): PromiseLike<{ readonly stream: ReadableStream<unknown> }>
}

/**
 * A model from any AI SDK provider. `provider` and `model` are what it calls itself: `openai.chat`, for instance.
 *
 * In `extra` of a request, objects are options of a provider by its name (`providerOptions`), anything else an option of
 * the call: `{ topP: 0.9, openai: { reasoningEffort: 'low' } }`. Tools that the provider runs by itself are never calls
 * of ours. Files by URL go to the provider as they are; nothing is downloaded.
 *
 * @throws {TypeError} A model of another specification, or none
 */
export function fromAiSdk(model: AiSdkModel): Model {
  const { specificationVersion: version, provider, modelId } = Object(model) as AiSdkModel
  if (typeof model?.doStream !== 'function')
    throw new TypeError(
      `Cannot use AI SDK model ${JSON.stringify(modelId ?? model)}: it has no doStream`,
    )
  if (!/^v[234]$/.test(version))
    throw new TypeError(
      `Cannot use AI SDK model "${provider}/${modelId}": its specification is "${version}", not v2, v3 or v4`,
    )
  const identity = { provider, model: modelId }

  async function* stream(
    request: ModelRequest,
    { signal }: { readonly signal: AbortSignal },
  ): AsyncGenerator<ModelEvent> {
    signal.throwIfAborted()
    // A signal of its own, so that no request leaves anything with one that lives longer.
    const going = new AbortController()
    const stop = (): void => going.abort(signal.reason)
    signal.addEventListener('abort', stop)
    try {
      const options = { ...callOptions(request, version), abortSignal: going.signal }
      const answer = await model.doStream(options as never)
      yield* eventsOf(answer.stream as ReadableStream<Part>, going.signal)
      signal.throwIfAborted()
    } catch (error) {
      if (signal.aborted) throw signal.reason
      if (isHeddleError(error)) throw error
      throw modelError(identity, { ...failureOf(error), secrets: await secretsOf(model) })
    } finally {
      signal.removeEventListener('abort', stop)
      going.abort()
    }
  }
  return { ...identity, stream }
}

/** What is known of an error: those of the AI SDK have a status and the headers of the response. */
function failureOf(error: unknown): Parameters<typeof modelError>[1] {
  const { statusCode, responseHeaders } = Object(error) as {
    readonly statusCode?: unknown
    readonly responseHeaders?: Readonly<Record<string, string>>
  }
  return {
    // Of a stream that broke off it is what the response began with: no status of a failure.
    status: typeof statusCode === 'number' && statusCode >= 400 ? statusCode : undefined,
    headers: responseHeaders && { get: (name) => responseHeaders[name] ?? null },
    said: error,
  }
}
