import type { ModelRequest, Reply } from '../model/model.ts'
import type { RunContext } from '../graph/context.ts'
import type { Tool, ToolCall, ToolContext } from '../tool/tool.ts'

/** A tool call as hooks see it: a frozen record. */
export interface ToolInvocation {
  readonly spec: Tool
  readonly call: ToolCall
  readonly ctx: ToolContext
}

/** A request to a model as hooks see it: a frozen record. */
export interface LLMInvocation {
  readonly request: ModelRequest
  readonly provider: string
  readonly model: string
  readonly ctx: RunContext
}

/** A node about to run as hooks see it: a frozen record. */
export interface NodeInvocation {
  readonly flow: string
  readonly node: string
  readonly state: Readonly<Record<string, unknown>>
  readonly ctx: RunContext
}

/** Ends a call with this value: before it ran, or instead of its error. Made by `shortCircuit`. */
export interface ShortCircuit {
  readonly '~heddle': symbol
  readonly shortCircuit: unknown
}

/** An event and where it came from. */
export interface Emitted {
  readonly thread: string
  readonly run: string
  readonly ns: readonly string[]
  readonly step: number
  readonly node: string
  readonly event: unknown
}

type Verdict = ShortCircuit | void | Promise<ShortCircuit | void>

/**
 * Watches or decides what runs. All methods are optional and awaited; `before*` and `on*Error` may
 * return a `shortCircuit`, `after*` may return another value (`undefined` keeps it). Hooks belong to the
 * app, so they also cover resumed and recovered runs; one that differs per run reads `inv.ctx`.
 */
export interface Hook {
  /** Names it in logs and errors. */
  readonly name?: string
  beforeTool?(inv: ToolInvocation): Verdict
  afterTool?(inv: ToolInvocation, value: unknown): unknown
  onToolError?(inv: ToolInvocation, error: unknown): Verdict
  beforeLlm?(inv: LLMInvocation): Verdict
  afterLlm?(
    inv: LLMInvocation,
    reply: Reply<unknown>,
  ): Reply<unknown> | void | Promise<Reply<unknown> | void>
  onLlmError?(inv: LLMInvocation, error: unknown): Verdict
  beforeNode?(inv: NodeInvocation): Verdict
  afterNode?(inv: NodeInvocation, update: unknown): unknown
  onNodeError?(inv: NodeInvocation, error: unknown): Verdict
  /** Every event that a node emits, in order, one at a time, also with nobody on the stream. Never delays or fails a node; the outcome waits for it, at most the grace. */
  onEvent?(emitted: Emitted): void | Promise<void>
}
