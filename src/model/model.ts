import type { JsonSchema } from '../schema.ts'
import type { ToolCall } from '../tool/tool.ts'
import type { TokenUsage } from '../usage.ts'
import type { AssistantMessage, Message } from './message.ts'

/** A language model. Adapters make one; anything with these three members is one. */
export interface Model {
  readonly provider: string
  readonly model: string
  /**
   * Starts one request.
   *
   * @param request What to say to the model
   * @param options `signal` aborts it; `call` is our id of this request, the same on a retry
   */
  stream(
    request: ModelRequest,
    options: { readonly signal: AbortSignal; readonly call: string },
  ): AsyncIterable<ModelEvent>
}

/** What a model says, in order. A stream without `finish` counts as broken: none of its calls runs. */
export type ModelEvent =
  | { readonly kind: 'text'; readonly delta: string }
  | { readonly kind: 'reasoning'; readonly delta: string }
  | { readonly kind: 'args'; readonly id?: string; readonly tool?: string; readonly delta: string }
  | { readonly kind: 'call'; readonly id?: string; readonly tool: string; readonly raw: string }
  | { readonly kind: 'download'; readonly loaded: number; readonly total?: number }
  /** Cumulative: a later report replaces an earlier one. */
  | { readonly kind: 'usage'; readonly usage: TokenUsage }
  | { readonly kind: 'finish'; readonly reason: FinishReason; readonly usage?: TokenUsage }

/** What a model is asked. */
export interface ModelRequest {
  readonly instructions?: string
  readonly messages: readonly Message[]
  readonly tools?: readonly {
    readonly name: string
    readonly description: string
    readonly parameters: JsonSchema
  }[]
  /** @default 'auto' */
  readonly toolChoice?: 'auto' | 'none' | 'required' | { readonly tool: string }
  /** Asks for JSON of this shape. */
  readonly output?: JsonSchema
  readonly temperature?: number
  readonly maxTokens?: number
  readonly stop?: readonly string[]
  readonly seed?: number
  /** Passed to the provider as it is. */
  readonly extra?: { readonly [key: string]: unknown }
}

export type FinishReason = 'stop' | 'length' | 'calls' | 'filter' | 'error' | 'other'

/** What a model answered. */
export interface Reply<Output = undefined> {
  readonly message: Omit<AssistantMessage, 'id' | 'createdAt'>
  readonly text: string
  readonly output: Output
  readonly calls: readonly ToolCall[]
  readonly usage: TokenUsage
  readonly finish: FinishReason
  /** It comes from the cache, or from the same request beside it: nothing was used for it. */
  readonly cached?: true
}
