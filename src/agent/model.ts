import type { JsonSchema } from '../schema.ts'
import type { ToolCall } from '../tool/tool.ts'
import type { TokenUsage } from '../usage.ts'
import type { AssistantMessage, Message } from './message.ts'

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
}
