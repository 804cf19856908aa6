import type { FinishReason } from '../model/model.ts'
import type { TokenUsage } from '../usage.ts'

/** What an agent emits, as `backend` events. */
export type AgentEvent =
  /** A piece of a message, which has this id in the history. */
  | { readonly kind: 'text'; readonly message: string; readonly delta: string }
  | { readonly kind: 'reasoning'; readonly message: string; readonly delta: string }
  /** `args` is undefined if what the model wrote is no JSON. */
  | {
      readonly kind: 'tool_call'
      readonly call: string
      readonly tool: string
      readonly args: unknown
    }
  | { readonly kind: 'tool_progress'; readonly call: string; readonly data: unknown }
  /** `value` is what the tool returned, or what the model reads of a failure or a denial. */
  | {
      readonly kind: 'tool_result'
      readonly call: string
      readonly tool: string
      readonly status: 'success' | 'error' | 'denied'
      readonly value?: unknown
      /** It ended before a pause or a crash, and was told of then, unless the crash came first. */
      readonly replayed?: true
    }
  /** A message is whole, and all its calls are told. */
  | {
      readonly kind: 'message'
      readonly message: string
      readonly finish: FinishReason
      readonly usage: TokenUsage
    }
