// What a graph is
export { each, goto, graph } from './graph/graph.ts'
export type {
  CacheScope,
  Each,
  Edge,
  Goto,
  Graph,
  GraphSpec,
  Node,
  NodeFn,
  NodeSpec,
  Retry,
  Target,
} from './graph/graph.ts'
export { subgraph } from './graph/subgraph.ts'
export { toJson, toMermaid } from './graph/picture.ts'
export type { GraphJson } from './graph/picture.ts'
export { messages } from './graph/messages.ts'
export { append, merge, reduced, sum } from './graph/state.ts'
export type { Field, Fields, InputFor, Reduced, StateOf, UpdateOf } from './graph/state.ts'
export { field } from './schema.ts'
export type { Issue, Json, JsonSchema, Schema, Storable } from './schema.ts'
export { question } from './graph/question.ts'
export type { Question } from './graph/question.ts'

// How it runs
export { compile } from './engine/app.ts'
export type { CompileOptions } from './engine/app.ts'
export type { CompiledGraph, LocalRunner, Runner, RunnerOf } from './engine/runner.ts'
export type { AskOptions, Context, PauseOptions, RunContext } from './graph/context.ts'
export type { StreamEvent } from './engine/event.ts'
export type { LiveRun } from './engine/live.ts'
export type { Durability, LocalOptions, Outcome, RunRequest } from './engine/request.ts'
export type { Ticked } from './engine/tick.ts'
export type { ThreadExport } from './durable/transfer.ts'
export type {
  ErrorInfo,
  Interruption,
  Metadata,
  Run,
  Snapshot,
  Status,
  Thread,
  Timer,
} from './durable/records.ts'
export { addUsage } from './usage.ts'
export type { Prices, TokenUsage } from './usage.ts'
export * from './errors.ts'

// Tools, hooks, policies, cache
export { createExecutor } from './tool/executor.ts'
export type { CallContext, Executor, ExecutorOptions } from './tool/executor.ts'
export { tool } from './tool/tool.ts'
export type {
  Approve,
  Call,
  CallResult,
  Tool,
  ToolCall,
  ToolContext,
  ToolSettings,
  ToolSpec,
} from './tool/tool.ts'
export { budget } from './policy/budget.ts'
export type { BudgetLimits } from './policy/budget.ts'
export { runLimits } from './policy/limits.ts'
export type { RunLimits } from './policy/limits.ts'
export { guardrail } from './policy/guardrail.ts'
export type { GuardrailSpec, GuardrailVerdict } from './policy/guardrail.ts'
export type { PolicyOptions } from './policy/policy.ts'
export { approvals } from './policy/approvals.ts'
export type { ApprovalsOptions } from './policy/approvals.ts'
export { gate } from './policy/gate.ts'
export type { GateRecord, GateResult } from './policy/gate.ts'
export { gateEvent } from './policy/gate-event.ts'
export type { GateEvent } from './policy/gate-event.ts'
export { approval } from './tool/approval.ts'
export type { ApprovalAnswer, ApprovalRequest } from './tool/approval.ts'
export { runAfter, runBefore, runOnError, shortCircuit } from './hook/dispatch.ts'
export { isControlFlow } from './hook/outcome.ts'
export type {
  Emitted,
  Hook,
  LLMInvocation,
  NodeInvocation,
  ShortCircuit,
  ToolInvocation,
} from './hook/hook.ts'
export { canonicalJson, digest } from './cache/canonical.ts'
export { envelope } from './cache/envelope.ts'
export type { CacheHit, CacheKind, Envelope } from './cache/envelope.ts'
export { cacheKey } from './cache/key.ts'
export type { CacheKey, GeminiKeyParts, KeyScope, LlmKeyParts, ToolKeyParts } from './cache/key.ts'
export type { CachePort } from './cache/port.ts'
export { ToolResultCache } from './cache/results.ts'
export type { ToolResultCacheOptions } from './cache/results.ts'
export { storeCache } from './cache/store-cache.ts'
export type { StoreCacheOptions } from './cache/store-cache.ts'

// Models, agents, threads
export { agent } from './agent/agent.ts'
export type { AgentSpec } from './agent/agent.ts'
export type { DeepState, Todo } from './agent/deep.ts'
export type { AgentEvent } from './agent/event.ts'
export type { AgentSettings } from './agent/spec.ts'
export type { AgentFields, AgentGraph, AgentState } from './agent/state.ts'
export { ThreadRunner } from './agent/thread-runner.ts'
export type { ThreadRunnerOptions, Turn } from './agent/thread-runner.ts'
export type { Generate } from './model/ask.ts'
export type {
  AssistantMessage,
  FilePart,
  Message,
  NewMessage,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
  UserMessage,
} from './model/message.ts'
export type { FinishReason, Model, ModelEvent, ModelRequest, Reply } from './model/model.ts'
export { toolsByOutput } from './model/tools-by-output.ts'
export { modelError } from './model/failure.ts'
export type { ModelFailure } from './model/failure.ts'
export { pairCalls } from './model/wire.ts'
export type { Monitor, MonitorEvent, Presence, PresenceState } from './engine/monitor.ts'

// Scopes
export { scoped } from './scope/scoped.ts'
export { LoopRunner } from './scope/runner.ts'
export { closeScope, scopeLocal } from './scope/local.ts'
export { currentContext, withContext } from './scope/current.ts'
export type { Scope } from './scope/scope.ts'
export type { ScopeOptions } from './scope/bounded.ts'
export type { ScopeLocal, ScopeLocalOptions } from './scope/local.ts'
export { newId } from './lib/ids.ts'

// Where it is kept
export { memory } from './store/memory.ts'
export { encrypted } from './store/encrypted.ts'
export type { EncryptedOptions } from './store/encrypted.ts'
export type { Batch, Caps, Check, Entry, Key, Put, Range, Revision, Store } from './store/store.ts'
export type { Clock } from './lib/clock.ts'
export type { Logger } from './lib/logger.ts'
