import type { FinishReason, ModelEvent, ModelFailure, TokenUsage } from '../../src/index.ts'
import { assembly, type CallDelta } from './calls.ts'
import { parsed } from './payloads.ts'
import { usageOf, type Usage } from './usage.ts'

/** A chunk of a stream, or the whole answer of a server that doesn't stream. */
interface Chunk {
  readonly object?: unknown
  readonly error?: unknown
  readonly choices?: readonly Choice[] | null
  readonly usage?: Usage | null
}

interface Choice {
  readonly index?: number | null
  readonly delta?: Delta | null
  readonly message?: Delta | null
  readonly finish_reason?: string | null
  readonly usage?: Usage | null
}

interface Delta {
  readonly content?: string | readonly Part[] | null
  readonly refusal?: string | null
  readonly reasoning_content?: string | null
  readonly reasoning?: string | null
  readonly tool_calls?: readonly CallDelta[] | null
}

interface Part {
  readonly type?: string
  readonly text?: string
  readonly thinking?: readonly Part[]
}

/** Makes events of what an endpoint says. Without a reason to finish there is neither a call nor a finish. */
export async function* answerOf(
  payloads: AsyncIterable<string>,
  fail: (failure: ModelFailure) => Error,
): AsyncGenerator<ModelEvent> {
  const calls = assembly()
  let reason: string | undefined
  let usage: TokenUsage | undefined
  for await (const payload of payloads) {
    const text = payload.trim()
    if (text === '[DONE]') break
    if (!text.startsWith('{')) continue
    const chunk = parsed(text) as Chunk | undefined
    if (!chunk) throw fail({ said: 'a part of its answer is no JSON' })
    const failure = chunk.error ?? (chunk.object === 'error' ? chunk : undefined)
    if (failure) throw fail({ status: statusOf(failure), said: failure })
    const choice = chunk.choices?.find(({ index }) => !index)
    const delta = choice?.delta ?? choice?.message
    if (delta) yield* said(delta)
    for (const [place, call] of (delta?.tool_calls ?? []).entries()) {
      const args = calls.add(call, place)
      if (args) yield args
    }
    reason = choice?.finish_reason || reason
    const reported = usageOf(chunk.usage ?? choice?.usage)
    if (reported) yield { kind: 'usage', usage: (usage = reported) }
  }
  if (!reason) return
  const whole = calls.events()
  yield* whole
  yield { kind: 'finish', reason: finishOf(reason, whole.length > 0), ...(usage && { usage }) }
}

function* said(delta: Delta): Generator<ModelEvent> {
  const thought = delta.reasoning_content ?? delta.reasoning
  if (thought && typeof thought === 'string') yield { kind: 'reasoning', delta: thought }
  const parts = Array.isArray(delta.content)
    ? (delta.content as readonly Part[])
    : [{ type: 'text', text: delta.content as string }]
  for (const { type, text, thinking } of parts) {
    const thoughts = type === 'thinking' && thinking?.map((part) => part.text).join('')
    if (thoughts) yield { kind: 'reasoning', delta: thoughts }
    else if (type === 'text' && text) yield { kind: 'text', delta: text }
  }
  if (delta.refusal) yield { kind: 'text', delta: delta.refusal }
}

const REASONS: { readonly [reason: string]: FinishReason } = {
  // So that it has nothing but these.
  __proto__: null as never,
  stop: 'stop',
  length: 'length',
  tool_calls: 'calls',
  content_filter: 'filter',
  error: 'error',
}

/** Some servers stop, rather than call, when they call. */
function finishOf(reason: string, called: boolean): FinishReason {
  return called && reason === 'stop' ? 'calls' : (REASONS[reason] ?? 'other')
}

/** A status among the words of a stream: OpenRouter says it as a code. */
function statusOf(failure: unknown): number | undefined {
  const { status, code = status } = Object(failure) as { status?: unknown; code?: unknown }
  return typeof code === 'number' && code >= 400 && code < 600 ? code : undefined
}
