import { SchemaError } from '../errors.ts'
import { issueText } from '../lib/issue.ts'
import type { Issue } from '../schema.ts'

/** Whose value is looked at, for errors. */
export interface Origin {
  readonly graph: string
  readonly node?: string
}

/** What was refused, as errors tell it. */
export type Refused = Partial<Origin> & { readonly field?: string; readonly interruption?: string }

/** What is wrong with a value, and where it came from. */
export function refusal(issues: readonly Issue[], at: Refused): SchemaError {
  const { graph, node, field, interruption } = at
  const part = node === undefined ? 'the input' : 'the update'
  const named = field === undefined ? part : `field "${field}"`
  const what = interruption === undefined ? named : `the answer to "${interruption}"`
  const whose = node === undefined ? '' : ` of node "${node}"`
  const where = graph === undefined ? '' : ` in graph "${graph}"`
  return new SchemaError(`Cannot accept ${what}${whose}${where}: ${issueText(issues)}`, {
    ...at,
    issues,
  })
}
