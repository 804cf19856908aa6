import { ToolUsageError } from '../errors.ts'
import { quietly } from '../lib/quietly.ts'
import type { Call, ToolCall } from './tool.ts'

/** A call as it came in. */
export interface Wanted {
  /** Its own id; one that was there before in the list has a number behind it. Absent: it has none. */
  readonly given: string | undefined
  readonly call: Omit<ToolCall, 'id'>
}

/**
 * Reads a list of calls.
 *
 * @throws ToolUsageError for what is no call
 */
export function wantedFrom(list: readonly Call[]): Wanted[] {
  if (!Array.isArray(list))
    throw new ToolUsageError('Cannot call tools: it takes a list of calls', {})
  const taken = new Set<string>()
  return list.map((one) => {
    const { id, tool, args, raw, wireId } = Object(one) as Partial<ToolCall>
    if (typeof tool !== 'string')
      throw new ToolUsageError('Cannot call a tool: the call names none', {})
    const text = typeof raw === 'string' ? raw : (quietly(() => JSON.stringify(args)) ?? '')
    const own = typeof id === 'string' && id !== '' ? id : undefined
    let given = own
    for (let n = 2; given !== undefined && taken.has(given); n++) given = `${own}-${n}`
    if (given !== undefined) taken.add(given)
    const wire = wireId ?? (isOurs(own) ? undefined : own)
    return {
      given,
      call: {
        tool,
        raw: text,
        ...(args !== undefined && { args }),
        ...(wire !== undefined && { wireId: wire }),
      },
    }
  })
}

/** How the places of calls of this id begin, among those of their task. */
export const groupOf = (given: string, tool: string): string => `T${given.length}:${given}:${tool}:`

/** Whether an id is one that was minted here: providers give such as begin alike. */
export const isOurs = (id: string | undefined): id is string =>
  id !== undefined && /^call_(?:[\da-f]{32}|[\w-]{21})$/.test(id)
