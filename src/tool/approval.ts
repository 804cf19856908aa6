import type { JsonSchema } from '../schema.ts'

/** What a person is asked before a tool runs. */
export interface ApprovalRequest {
  /** `apr_…`, stable across re-entries. */
  readonly id: string
  /** `call_…` of the call that waits. */
  readonly call: string
  readonly tool: string
  readonly description?: string
  readonly args: unknown
  /** The tool's input as JSON Schema, for a form that edits `args`. */
  readonly parameters?: JsonSchema
}

/** What a person may answer. Edited `args` are checked against the tool's input again. */
export type ApprovalAnswer =
  | { readonly approve: true; readonly args?: unknown; readonly remember?: boolean }
  | { readonly approve: false; readonly reason?: string; readonly remember?: boolean }
