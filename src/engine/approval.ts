import type { Issue } from '../schema.ts'

/** How the ids of approvals begin. */
export const APPROVAL = 'apr_'

/** The place of the approval of a tool's call, among those of the call. */
export const OF_TOOL = 'a:'

/** Whether a pause is an approval. */
export const isApproval = ({ id }: { readonly id: string }): boolean => id.startsWith(APPROVAL)

/** What is wrong with edited arguments, as a part of the answer that has them. */
export const inArgs = (issue: Issue): Issue => ({
  ...issue,
  path: ['args', ...(issue.path ?? [])],
})

/** What is wrong with an answer to an approval, whichever tool it is about; nothing, if it has the right shape. */
export function approvalIssues(answer: unknown): readonly Issue[] | undefined {
  if (typeof answer !== 'object')
    return [{ message: 'Expected { approve: true } or { approve: false }' }]
  const given = Object(answer) as Readonly<Record<string, unknown>>
  const types: Readonly<Record<string, string>> = {
    approve: 'boolean',
    remember: 'boolean',
    ...(given.approve === true ? { args: '' } : { reason: 'string' }),
  }
  for (const name of new Set(['approve', ...Object.keys(given)])) {
    const type = Object.hasOwn(types, name) ? types[name] : undefined
    const value = given[name]
    if (name !== 'approve' && value === undefined) continue
    const message = type === undefined ? 'There is no such member' : `Expected a ${type}`
    if (type === undefined || (type && typeof value !== type)) return [{ message, path: [name] }]
  }
  return undefined
}
