import { modelError, toolsByOutput } from '../src/index.ts'
import type { FinishReason, Model, ModelEvent, TokenUsage } from '../src/index.ts'
import { bodyOf } from './web-llm/body.ts'
import { stoppable } from './web-llm/chunks.ts'
import type { Body, Chunk, Usage, WebLlmEngine } from './web-llm/engine.ts'

export type { WebLlmEngine }

/** Which model of an engine is asked, and how. */
export interface WebLlmOptions {
  /** As the engine has loaded it. Named in keys, prices and records. */
  readonly model: string
  /**
   * Keeps what is generated in the browser's file system as it comes, so that an answer that a crash or a stop broke off goes on
   * where it was. WebLLM can't where the answer has a schema, as with tools, nor with images. Needs its version 0.2.86.
   *
   * @default false
   */
  readonly resumable?: boolean
}

const FINISH: { readonly [reason: string]: FinishReason } = { stop: 'stop', length: 'length' }

/**
 * A model in WebLLM. Tools are asked for by a schema of the answer, which every one of its models can follow: its own way
 * knows few models, and with it they can't answer in words.
 *
 * @param engine An `MLCEngine`, also one in a worker, with its model loaded; it stays the caller's
 * @throws {TypeError} An option that isn't known, or a wrong one
 */
export function webLlm(engine: WebLlmEngine, options: WebLlmOptions): Model {
  const { model, resumable = false, ...more } = options
  for (const name of Object.keys(more))
    throw new TypeError(`Cannot use WebLLM: "${name}" is not known here`)
  if (typeof engine?.chat?.completions?.create !== 'function')
    throw new TypeError('Cannot use WebLLM: the engine has no chat.completions.create')
  if (typeof model !== 'string' || model === '')
    throw new TypeError('Cannot use WebLLM: model is not a name')
  if (typeof resumable !== 'boolean')
    throw new TypeError('Cannot use WebLLM: resumable is not a boolean')
  const name = { provider: 'web-llm', model }
  return toolsByOutput({
    ...name,
    async *stream(request, { signal, call }) {
      signal.throwIfAborted()
      const plain = !request.output && request.messages.every((one) => !('files' in one))
      const session = resumable && plain ? call : undefined
      try {
        yield* generate(engine, bodyOf(model, request, session), signal, session)
      } catch (error) {
        signal.throwIfAborted()
        throw modelError(name, { said: error })
      }
    },
  })
}

async function* generate(
  engine: WebLlmEngine,
  body: Body,
  signal: AbortSignal,
  session: string | undefined,
): AsyncGenerator<ModelEvent> {
  const kept = session === undefined ? undefined : await begun(engine, session)
  if (kept?.text) yield { kind: 'text', delta: kept.text }
  const chunks = kept?.chunks ?? (await engine.chat.completions.create(body))
  let reason: string | undefined
  let usage: TokenUsage | undefined
  for await (const chunk of stoppable(chunks, engine, signal)) {
    const [choice] = chunk.choices
    if (choice?.delta.content) yield { kind: 'text', delta: choice.delta.content }
    reason = choice?.finish_reason ?? reason
    if (chunk.usage) usage = usageOf(chunk.usage)
  }
  // Interrupted by somebody else: without a finish it counts as broken off.
  if (reason === undefined || reason === 'abort') return
  if (session !== undefined) await engine.deleteResumableSession?.(session)
  yield { kind: 'finish', reason: FINISH[reason] ?? 'other', ...(usage && { usage }) }
}

/** What an earlier try of the same request has come to, and its rest. One that can't go on makes room for a new one. */
async function begun(
  engine: WebLlmEngine,
  session: string,
): Promise<{ readonly text: string; readonly chunks: AsyncIterable<Chunk> } | undefined> {
  const known = await engine.listResumableSessions?.()
  const found = known?.find(({ sessionId }) => sessionId === session)
  if (!found || !engine.resumeChatCompletion) return undefined
  if (found.resumable) {
    const before = await engine.resumeChatCompletion(session)
    const rest = await engine.resumeChatCompletion(session, {
      continueGeneration: true,
      stream: true,
    })
    // Half a character at the end comes again, with its other half.
    if ('recoveredText' in before && Symbol.asyncIterator in rest)
      return { text: before.recoveredText.replace(/\uFFFD+$/, ''), chunks: rest }
  }
  await engine.deleteResumableSession?.(session)
  return undefined
}

const usageOf = (usage: Usage): TokenUsage => ({
  input: usage.prompt_tokens,
  output: usage.completion_tokens,
  total: usage.total_tokens,
})
