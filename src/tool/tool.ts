import { MACHINE } from '../engine/machine.ts'
import type { RunContext } from '../graph/context.ts'
import type { CacheScope, Retry } from '../graph/graph.ts'
import { jsonSchemaOf } from '../lib/json-schema.ts'
import { tidy } from '../lib/tidy.ts'
import type { JsonSchema, Schema } from '../schema.ts'
import { checkTool } from './rules.ts'
import { machine } from './thread.ts'

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
  /** JSON Schema of the input, as models read it. Absent when it wasn't given and `input` can't tell it. */
  readonly parameters?: JsonSchema
  readonly settings: ToolSettings
  /** The bare body: no hooks, no checks. `args` have been through `input` already. */
  run(args: unknown, ctx: ToolContext): Promise<Result>
}

/** How a tool is run. */
export interface ToolSettings {
  /** Asks a person first. @default false */
  readonly approve?: Approve<any>
  /** Keeps successful results, `ttl` milliseconds. @default no cache */
  readonly cache?: { readonly scope: CacheScope; readonly ttl?: number }
  /** Milliseconds for each attempt, and for each hook before and after it. @default none */
  readonly timeout?: number
  /** @default one attempt */
  readonly retry?: Retry
}

/** What `tool` takes. */
export interface ToolSpec<Input, Args, Returned, Result> {
  /** Not empty. Most models take letters, digits, "_" and "-", at most 64 of them. */
  readonly name: string
  /** What it does and when to use it, for the model. */
  readonly description: string
  /** Checks what it is called with; `run` gets what comes out. */
  readonly input: Schema<Input, Args>
  /** Checks what `run` returns; the caller gets what comes out. */
  readonly output?: Schema<Returned, Result>
  /** JSON Schema of the input. @default what `input` tells (Standard JSON Schema, such as zod 4) */
  readonly parameters?: JsonSchema
  /** Asks a person first (the `approval` question). @default false */
  readonly approve?: Approve<NoInfer<Args>>
  /** Keeps successful results, `ttl` milliseconds. @default no cache */
  readonly cache?: { readonly scope: CacheScope; readonly ttl?: number }
  /** Milliseconds for each attempt, and for each hook before and after it. @default none */
  readonly timeout?: number
  /** @default one attempt */
  readonly retry?: Retry
  readonly run: (args: Args, ctx: ToolContext) => Returned | Promise<Returned>
}

/**
 * Declares a tool.
 *
 * @throws TypeError for what is missing, misspelt or of another type, RangeError for a number out of range
 */
export function tool<Input, Args, Returned, Result = Returned>(
  spec: ToolSpec<Input, Args, Returned, Result>,
): Tool<Input, Result> {
  checkTool(spec)
  const { name, description, input, output, parameters, approve, cache, timeout, retry } = spec
  let told: { readonly parameters: JsonSchema | undefined } | undefined
  return Object.freeze({
    name,
    description,
    input,
    ...(output && { output: output as Schema<any, Result> }),
    // Worked out when it is first needed: a page that runs no model has no use for it.
    get parameters(): JsonSchema {
      told ??= { parameters: parameters ?? jsonSchemaOf(input) }
      return told.parameters as JsonSchema
    },
    // What runs it inside a thread, so that an app without tools bundles none of that.
    ...{ [MACHINE]: machine },
    settings: Object.freeze(tidy({ approve, cache, timeout, retry })),
    async run(args: unknown, ctx: ToolContext) {
      // What the output schema makes of it comes later.
      return (await spec.run(args as Args, ctx)) as unknown as Result
    },
  })
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
