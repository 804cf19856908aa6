import { approvalIssues, inArgs, isApproval } from '../engine/approval.ts'
import { question, type Question } from '../graph/question.ts'
import type { Interruption } from '../durable/records.ts'
import type { JsonSchema, Schema, SchemaResult } from '../schema.ts'
import type { Tool } from './tool.ts'

/** What a person is asked before a tool runs. */
export interface ApprovalRequest {
  /** `apr_…`, stable across re-entries. */
  readonly id: string
  /** `call_…` of the call that waits. */
  readonly call: string
  readonly tool: string
  readonly description?: string
  /** The text that came, where it was no JSON. */
  readonly args: unknown
  /** The tool's input as JSON Schema, for a form that edits `args`. */
  readonly parameters?: JsonSchema
}

/** What a person may answer. Edited `args` are checked against the tool's input again. */
export type ApprovalAnswer =
  | { readonly approve: true; readonly args?: unknown; readonly remember?: boolean }
  | { readonly approve: false; readonly reason?: string; readonly remember?: boolean }

type Checked = SchemaResult<ApprovalAnswer>

/** The shape of an answer, for forms. */
const answerJson = (): JsonSchema => {
  const form = (approve: boolean, own: object): object => ({
    type: 'object',
    properties: { approve: { const: approve }, ...own, remember: { type: 'boolean' } },
    required: ['approve'],
    additionalProperties: false,
  })
  return { anyOf: [form(true, { args: {} }), form(false, { reason: { type: 'string' } })] }
}

/**
 * The schema of an answer.
 *
 * @param input Of the tool that it is about: edited arguments have to fit it. They stay as they were given
 */
export function answerSchema(input?: Tool['input']): Schema<ApprovalAnswer> {
  const standard = {
    version: 1 as const,
    vendor: 'heddle',
    validate(value: unknown): Checked | Promise<Checked> {
      const issues = approvalIssues(value)
      if (issues) return { issues }
      const answer = value as ApprovalAnswer
      if (!input || !answer.approve || answer.args === undefined) return { value: answer }
      return Promise.resolve(input['~standard'].validate(answer.args)).then((result) =>
        result.issues ? { issues: result.issues.map(inArgs) } : { value: answer },
      )
    },
    jsonSchema: { input: answerJson, output: answerJson },
  }
  return { '~standard': standard }
}

const declared = (): Question<ApprovalRequest, ApprovalAnswer> => ({
  ...question<ApprovalRequest, ApprovalAnswer>({ key: 'approval', answer: answerSchema() }),
  // By its id, as a key may be anybody's.
  is: (interruption): interruption is Interruption<ApprovalRequest> => isApproval(interruption),
})

/** The question every approval asks. `remember` makes the decision stick to the tool for the rest of the thread. */
export const approval: Question<ApprovalRequest, ApprovalAnswer> = /* @__PURE__ */ declared()
