import type { FinishReason, ModelEvent, TokenUsage } from '../../src/index.ts'

/** A part of a stream, of any specification: what is read of it. */
export interface Part {
  readonly type: string
  readonly id?: string
  readonly delta?: string
  readonly toolCallId?: string
  readonly toolName?: string
  readonly input?: unknown
  readonly providerExecuted?: boolean
  readonly error?: unknown
  readonly usage?: Usage
  readonly finishReason?: string | { readonly unified?: string; readonly raw?: string }
}

type Figures = { readonly [figure: string]: number | undefined }

/** Flat in specification 2, by kind from 3 on. */
interface Usage {
  readonly inputTokens?: number | Figures
  readonly outputTokens?: number | Figures
  readonly totalTokens?: number
  readonly reasoningTokens?: number
  readonly cachedInputTokens?: number
}

/**
 * Makes events of the parts of a stream. Parts that aren't known are passed over; one that is an error is thrown.
 * The reader is cancelled, wherever one stops.
 */
export async function* eventsOf(
  stream: ReadableStream<Part>,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const reader = stream.getReader()
  const cancel = (): void => void reader.cancel().catch(() => {})
  signal.addEventListener('abort', cancel)
  if (signal.aborted) cancel()
  const ours = new Map<string, { readonly tool?: string }>()
  let calls = 0
  try {
    for (;;) {
      const { done, value: part } = await reader.read()
      if (done) return
      const { type, id = '', delta = '', toolName: tool = '' } = part
      if (type === 'text-delta' || type === 'reasoning-delta') {
        if (delta) yield { kind: type === 'text-delta' ? 'text' : 'reasoning', delta }
      } else if (type === 'tool-input-start') {
        if (!part.providerExecuted) ours.set(id, { tool })
      } else if (type === 'tool-input-delta') {
        const call = ours.get(id)
        if (call && delta) yield { kind: 'args', id, ...call, delta }
        if (call) ours.set(id, {})
      } else if (type === 'tool-call') {
        if (part.providerExecuted) continue
        calls++
        yield { kind: 'call', id: part.toolCallId ?? '', tool, raw: rawOf(part.input) }
      } else if (type === 'error') {
        throw part.error
      } else if (type === 'finish') {
        yield* finish(part, calls > 0)
        return
      }
    }
  } finally {
    signal.removeEventListener('abort', cancel)
    cancel()
  }
}

/** Text of JSON; some providers hand over the value. */
function rawOf(input: unknown): string {
  return (typeof input === 'string' ? input : JSON.stringify(input))?.trim() || '{}'
}

const REASONS: { readonly [reason: string]: FinishReason } = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'calls',
  'content-filter': 'filter',
  error: 'error',
}

/**
 * Providers end a stream that broke off with a part `finish` of their own. That one doesn't count as one: it is
 * interrupted, or nobody gave a reason, and there are calls that may be halves, or no usage, which comes last.
 */
function* finish(part: Part, called: boolean): Generator<ModelEvent> {
  const { finishReason } = part
  const usage = usageOf(part.usage)
  const isText = typeof finishReason === 'string'
  const name = (isText ? finishReason : finishReason?.unified) ?? 'unknown'
  const nobody = isText ? name === 'unknown' : name === 'other' && finishReason?.raw === undefined
  if (name === 'interrupted' || (nobody && (called || !usage))) {
    if (usage) yield { kind: 'usage', usage }
    return
  }
  const known = (Object.hasOwn(REASONS, name) && REASONS[name]) || 'other'
  // Some servers stop, rather than call, when they call.
  const reason = known === 'stop' && called ? 'calls' : known
  yield { kind: 'finish', reason, ...(usage && { usage }) }
}

/** A usage in our figures; what nobody reported stays absent, and without any there is none. */
function usageOf(usage: Usage | undefined): TokenUsage | undefined {
  const { inputTokens, outputTokens, totalTokens, reasoningTokens, cachedInputTokens } = usage ?? {}
  const input = byKind(inputTokens)
  const output = byKind(outputTokens)
  const figures = {
    input: input['total'],
    output: output['total'],
    total: totalTokens,
    cacheRead: input['cacheRead'] ?? cachedInputTokens,
    cacheWrite: input['cacheWrite'],
    reasoning: output['reasoning'] ?? reasoningTokens,
  }
  const known = Object.entries(figures).filter(([, figure]) => Number.isFinite(figure))
  return known.length > 0 ? Object.fromEntries(known) : undefined
}

function byKind(tokens: number | Figures | undefined): Figures {
  return typeof tokens === 'object' ? (tokens ?? {}) : { total: tokens }
}
