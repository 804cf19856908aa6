import type { TokenUsage } from '../usage.ts'
import type { ToolCall } from '../tool/tool.ts'

/** An image or other file in a message: bytes, or a URL the model's provider can read. */
export interface FilePart {
  readonly mediaType: string
  readonly data: Uint8Array | string
}

interface Base {
  /** Minted when a node's result is accepted; the same id replaces in place. */
  readonly id: string
  readonly text: string
  /** ISO 8601 with `Z`. */
  readonly createdAt: string
}

export interface SystemMessage extends Base {
  readonly role: 'system'
}

export interface UserMessage extends Base {
  readonly role: 'user'
  readonly files?: readonly FilePart[]
}

export interface AssistantMessage extends Base {
  readonly role: 'assistant'
  readonly reasoning?: string
  readonly calls?: readonly ToolCall[]
  /** The stream broke off; its calls never run. */
  readonly partial?: true
  readonly model?: string
  readonly usage?: TokenUsage
}

export interface ToolMessage extends Base {
  readonly role: 'tool'
  /** The `ToolCall.id` this answers. */
  readonly call: string
  readonly tool: string
  readonly status: 'success' | 'error' | 'denied'
  /** What the tool returned; `text` is what the model reads. */
  readonly value?: unknown
}

/** One message of a thread. */
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage

type Draft<Kind extends Message> = Kind extends Message
  ? Omit<Kind, 'id' | 'createdAt'> & { readonly id?: string }
  : never

/** A message before it has an id. */
export type NewMessage = Draft<Message> | Message

/** Removes a message by id. An unknown id is an error. */
export interface RemoveMessage {
  readonly remove: string
}
