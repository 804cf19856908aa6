import type { Issue } from './schema.ts'

/** What each error says beside its message. A code is its class name in snake case. */
export interface ErrorDetails {
  // --- refusals: nothing ran, nothing stored changed
  /** `compile` found a graph that can't work: a name, a way out, a join, a setting. */
  graph_invalid: { readonly graph: string; readonly node?: string; readonly problem: string }
  /** A value doesn't fit its schema: input, update, item, answer, arguments, output. HTTP 400. */
  schema_error: {
    readonly graph?: string
    readonly node?: string
    readonly field?: string
    readonly tool?: string
    readonly interruption?: string
    readonly issues: readonly Issue[]
  }
  /** The codec can't store a value. */
  unserializable_value: { readonly node?: string; readonly path: string; readonly type: string }
  /** Another run has the thread. HTTP 409, as all of the next. */
  thread_busy: { readonly thread: string; readonly until?: string }
  /** Somebody else answered or woke it first. */
  resume_conflict: { readonly thread: string }
  /** New input for a thread that waits for an answer or a clock. Answer, or `cancel` first. */
  thread_paused: {
    readonly thread: string
    readonly interruptions: readonly string[]
    readonly timers: readonly string[]
  }
  /** The same, when what is open is an approval; also a tool that needs one outside a thread. */
  approval_pending: { readonly thread: string; readonly interruptions: readonly string[] }
  /** A bare answer with more than one question open. */
  ambiguous_resume: { readonly thread: string; readonly interruptions: readonly string[] }
  /** No question is open under these ids. HTTP 404. */
  unknown_interruption: { readonly thread: string; readonly interruptions: readonly string[] }
  /** Nothing is open and nothing is left to run. */
  nothing_to_resume: { readonly thread: string }
  unknown_checkpoint: { readonly thread: string; readonly checkpoint: string }
  thread_exists: { readonly thread: string }
  /** The thread belongs to another graph. */
  graph_mismatch: { readonly thread: string; readonly graph: string }
  /** Neither the agent nor the run has a model. */
  no_model: { readonly agent: string }
  /** A node that should run next isn't in the graph any more. */
  graph_changed: { readonly thread: string; readonly missing: readonly string[] }
  /** The store can't do this safely; see `needs`. */
  store_unsafe: { readonly store: string; readonly needs: string }
  // --- the run failed, and its record says so
  /** Two nodes of one step wrote a field that has no reducer. */
  write_conflict: { readonly field: string; readonly nodes: readonly string[] }
  /** A re-entered node asked something else than was recorded. */
  replay_mismatch: { readonly node: string; readonly key?: string; readonly position: number }
  step_limit_exceeded: { readonly limit: number }
  run_limit_exceeded: {
    readonly limit: 'toolCalls' | 'modelCalls' | 'time' | 'maxTurns'
    readonly allowed: number
  }
  budget_exceeded: {
    readonly limit: 'tokens' | 'calls' | 'cost'
    readonly used: number
    readonly allowed: number
  }
  guardrail_blocked: { readonly guardrail: string; readonly reason: string }
  approval_denied: { readonly tool: string; readonly reason?: string }
  /** It killed its process three times in a row. */
  recovery_limit_exceeded: { readonly attempts: number }
  cancelled: { readonly reason?: string }
  /** Another owner took the thread over; what this one does is discarded. */
  lease_lost: { readonly thread: string }
  tool_usage_error: { readonly tool?: string }
  /** A model's provider failed. */
  model_error: {
    readonly provider: string
    readonly model: string
    readonly status?: number
    readonly retryAfterMs?: number
  }
  // --- the store
  /** What is stored can't be read. The thread isn't touched. */
  corrupt_checkpoint: {
    readonly thread: string
    readonly checkpoint?: string
    readonly why: string
  }
  storage_quota: { readonly freed: number; readonly needed?: number }
  /** It didn't open in time; other tabs may hold it. */
  storage_blocked: { readonly store: string }
  storage_closed: { readonly store: string }
  // --- over HTTP only
  access_denied: { readonly action: string }
  unreachable: { readonly status?: number }
}

export type ErrorCode = keyof ErrorDetails

const MARK: unique symbol = /* @__PURE__ */ Symbol.for('heddle.error') as never

/**
 * A condition that a caller is expected to handle. Mistakes in calling throw `TypeError` or `RangeError`; a timeout is
 * the platform's `TimeoutError`.
 */
export class HeddleError<Code extends ErrorCode = ErrorCode> extends Error {
  /** Stable; also what HTTP carries. */
  readonly code: Code
  readonly details: ErrorDetails[Code]

  constructor(code: Code, message: string, details: ErrorDetails[Code], options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.details = details
  }

  /** The class name of the code. */
  override get name(): string {
    return this.code.replace(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase())
  }

  /** Survives two copies of the package. */
  get [MARK](): true {
    return true
  }
}

/** Any of ours, so that `switch (error.code)` narrows `details`. */
export type AnyError = { [Code in ErrorCode]: HeddleError<Code> }[ErrorCode]

/** Whether an error is ours (of this code, if given); also across copies of the package and from a client. */
export function isHeddleError(error: unknown): error is AnyError
export function isHeddleError<Code extends ErrorCode>(
  error: unknown,
  code: Code,
): error is HeddleError<Code>
export function isHeddleError(error: unknown, code?: ErrorCode): boolean {
  if (typeof error !== 'object' || error === null || !(MARK in error)) return false
  return code === undefined || (error as HeddleError).code === code
}

/** The class of one code. */
export interface ErrorClass<Code extends ErrorCode> {
  new (message: string, details: ErrorDetails[Code], options?: ErrorOptions): HeddleError<Code>
  readonly prototype: HeddleError<Code>
}

function errorClass<Code extends ErrorCode>(code: Code): ErrorClass<Code> {
  return class extends HeddleError<Code> {
    constructor(message: string, details: ErrorDetails[Code], options?: ErrorOptions) {
      super(code, message, details, options)
    }
  }
}

// One class per code, for `instanceof` within one copy of the package.
export type GraphInvalid = HeddleError<'graph_invalid'>
export const GraphInvalid: ErrorClass<'graph_invalid'> = /* @__PURE__ */ errorClass('graph_invalid')
export type SchemaError = HeddleError<'schema_error'>
export const SchemaError: ErrorClass<'schema_error'> = /* @__PURE__ */ errorClass('schema_error')
export type UnserializableValue = HeddleError<'unserializable_value'>
export const UnserializableValue: ErrorClass<'unserializable_value'> =
  /* @__PURE__ */ errorClass('unserializable_value')
export type ThreadBusy = HeddleError<'thread_busy'>
export const ThreadBusy: ErrorClass<'thread_busy'> = /* @__PURE__ */ errorClass('thread_busy')
export type ResumeConflict = HeddleError<'resume_conflict'>
export const ResumeConflict: ErrorClass<'resume_conflict'> =
  /* @__PURE__ */ errorClass('resume_conflict')
export type ThreadPaused = HeddleError<'thread_paused'>
export const ThreadPaused: ErrorClass<'thread_paused'> = /* @__PURE__ */ errorClass('thread_paused')
export type ApprovalPending = HeddleError<'approval_pending'>
export const ApprovalPending: ErrorClass<'approval_pending'> =
  /* @__PURE__ */ errorClass('approval_pending')
export type AmbiguousResume = HeddleError<'ambiguous_resume'>
export const AmbiguousResume: ErrorClass<'ambiguous_resume'> =
  /* @__PURE__ */ errorClass('ambiguous_resume')
export type UnknownInterruption = HeddleError<'unknown_interruption'>
export const UnknownInterruption: ErrorClass<'unknown_interruption'> =
  /* @__PURE__ */ errorClass('unknown_interruption')
export type NothingToResume = HeddleError<'nothing_to_resume'>
export const NothingToResume: ErrorClass<'nothing_to_resume'> =
  /* @__PURE__ */ errorClass('nothing_to_resume')
export type UnknownCheckpoint = HeddleError<'unknown_checkpoint'>
export const UnknownCheckpoint: ErrorClass<'unknown_checkpoint'> =
  /* @__PURE__ */ errorClass('unknown_checkpoint')
export type ThreadExists = HeddleError<'thread_exists'>
export const ThreadExists: ErrorClass<'thread_exists'> = /* @__PURE__ */ errorClass('thread_exists')
export type GraphMismatch = HeddleError<'graph_mismatch'>
export const GraphMismatch: ErrorClass<'graph_mismatch'> =
  /* @__PURE__ */ errorClass('graph_mismatch')
export type NoModel = HeddleError<'no_model'>
export const NoModel: ErrorClass<'no_model'> = /* @__PURE__ */ errorClass('no_model')
export type GraphChanged = HeddleError<'graph_changed'>
export const GraphChanged: ErrorClass<'graph_changed'> = /* @__PURE__ */ errorClass('graph_changed')
export type StoreUnsafe = HeddleError<'store_unsafe'>
export const StoreUnsafe: ErrorClass<'store_unsafe'> = /* @__PURE__ */ errorClass('store_unsafe')
export type WriteConflict = HeddleError<'write_conflict'>
export const WriteConflict: ErrorClass<'write_conflict'> =
  /* @__PURE__ */ errorClass('write_conflict')
export type ReplayMismatch = HeddleError<'replay_mismatch'>
export const ReplayMismatch: ErrorClass<'replay_mismatch'> =
  /* @__PURE__ */ errorClass('replay_mismatch')
export type StepLimitExceeded = HeddleError<'step_limit_exceeded'>
export const StepLimitExceeded: ErrorClass<'step_limit_exceeded'> =
  /* @__PURE__ */ errorClass('step_limit_exceeded')
export type RunLimitExceeded = HeddleError<'run_limit_exceeded'>
export const RunLimitExceeded: ErrorClass<'run_limit_exceeded'> =
  /* @__PURE__ */ errorClass('run_limit_exceeded')
export type BudgetExceeded = HeddleError<'budget_exceeded'>
export const BudgetExceeded: ErrorClass<'budget_exceeded'> =
  /* @__PURE__ */ errorClass('budget_exceeded')
export type GuardrailBlocked = HeddleError<'guardrail_blocked'>
export const GuardrailBlocked: ErrorClass<'guardrail_blocked'> =
  /* @__PURE__ */ errorClass('guardrail_blocked')
export type ApprovalDenied = HeddleError<'approval_denied'>
export const ApprovalDenied: ErrorClass<'approval_denied'> =
  /* @__PURE__ */ errorClass('approval_denied')
export type RecoveryLimitExceeded = HeddleError<'recovery_limit_exceeded'>
export const RecoveryLimitExceeded: ErrorClass<'recovery_limit_exceeded'> =
  /* @__PURE__ */ errorClass('recovery_limit_exceeded')
export type Cancelled = HeddleError<'cancelled'>
export const Cancelled: ErrorClass<'cancelled'> = /* @__PURE__ */ errorClass('cancelled')
export type LeaseLost = HeddleError<'lease_lost'>
export const LeaseLost: ErrorClass<'lease_lost'> = /* @__PURE__ */ errorClass('lease_lost')
export type ToolUsageError = HeddleError<'tool_usage_error'>
export const ToolUsageError: ErrorClass<'tool_usage_error'> =
  /* @__PURE__ */ errorClass('tool_usage_error')
export type ModelError = HeddleError<'model_error'>
export const ModelError: ErrorClass<'model_error'> = /* @__PURE__ */ errorClass('model_error')
export type CorruptCheckpoint = HeddleError<'corrupt_checkpoint'>
export const CorruptCheckpoint: ErrorClass<'corrupt_checkpoint'> =
  /* @__PURE__ */ errorClass('corrupt_checkpoint')
export type StorageQuota = HeddleError<'storage_quota'>
export const StorageQuota: ErrorClass<'storage_quota'> = /* @__PURE__ */ errorClass('storage_quota')
export type StorageBlocked = HeddleError<'storage_blocked'>
export const StorageBlocked: ErrorClass<'storage_blocked'> =
  /* @__PURE__ */ errorClass('storage_blocked')
export type StorageClosed = HeddleError<'storage_closed'>
export const StorageClosed: ErrorClass<'storage_closed'> =
  /* @__PURE__ */ errorClass('storage_closed')
export type AccessDenied = HeddleError<'access_denied'>
export const AccessDenied: ErrorClass<'access_denied'> = /* @__PURE__ */ errorClass('access_denied')
export type Unreachable = HeddleError<'unreachable'>
export const Unreachable: ErrorClass<'unreachable'> = /* @__PURE__ */ errorClass('unreachable')
