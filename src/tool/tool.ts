import type { RunContext } from '../graph/context.ts'
import type { CacheScope, Retry } from '../graph/graph.ts'
import type { JsonSchema, Schema } from '../schema.ts'

/** One call that a model asked for. `id` is ours (`call_…`); `wireId` is the provider's. */
export interface ToolCall {
  readonly id: string
  readonly tool: string
  /** Parsed arguments; absent when `raw` wasn't JSON. */
  readonly args?: unknown
  readonly raw: string
  readonly wireId?: string
}

/** What a running tool gets. */
export interface ToolContext extends RunContext {
  /** `call_…`, the same on re-entry. */
  readonly callId: string
  /** The agent that called. */
  readonly agent?: string
  /** Shows how far it is: an agent streams it as `tool_progress`, a node gets it through `call(tool, args, { emit })`. */
  emit(data: unknown): Promise<void>
}

/** Something a model or a node can call. */
export interface Tool<Input = any, Result = any> {
  readonly name: string
  readonly description: string
  readonly input: Schema<Input, unknown>
  readonly output?: Schema<any, Result>
  /** JSON Schema of the input, as models read it. */
  readonly parameters?: JsonSchema
  readonly settings: ToolSettings
  run(args: unknown, ctx: ToolContext): Promise<Result>
}

export interface ToolSettings {
  readonly approve?: Approve<any>
  /** Keeps successful results, `ttl` milliseconds. @default no cache */
  readonly cache?: { readonly scope: CacheScope; readonly ttl?: number }
  /** Milliseconds. @default none */
  readonly timeout?: number
  readonly retry?: Retry
}

/** Whether a call needs a person: always, or when the predicate says so. */
export type Approve<Args> = boolean | ((args: Args, ctx: ToolContext) => boolean | Promise<boolean>)

/** A call to run: a model's, or your own. Without an id one is minted from its place. */
export type Call =
  | ToolCall
  | { readonly tool: string; readonly args: unknown; readonly id?: string }

/** How one call ended. */
export type Ending =
  | { readonly status: 'success'; readonly value: unknown; readonly cached?: true }
  | { readonly status: 'error'; readonly error: unknown }
  | { readonly status: 'denied'; readonly reason?: string }

/** What became of one call. */
export type CallResult = {
  readonly id: string
  readonly tool: string
  /** Taken from the record, not run again. */
  readonly replayed?: true
} & Ending
