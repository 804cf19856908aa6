import type { Issue } from '../schema.ts'

/** What is wrong, and where in the value. */
export function issueText([issue]: readonly Issue[]): string {
  const keys = issue?.path?.map((key) => String(typeof key === 'object' ? key.key : key))
  return `${keys?.length ? `at "${keys.join('.')}": ` : ''}${issue?.message ?? 'it is not valid'}`
}
