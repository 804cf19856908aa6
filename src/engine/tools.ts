import { ToolUsageError } from '../errors.ts'
import type { Tool } from '../tool/tool.ts'

/**
 * Tools by name.
 *
 * @param cannot What can't be done with two of one name
 * @throws TypeError for what is no tool, ToolUsageError for two of one name
 */
export function toolsByName(
  cannot: string,
  tools: readonly Tool[] = [],
): ReadonlyMap<string, Tool> {
  const named = new Map<string, Tool>()
  if (!Array.isArray(tools)) throw new TypeError(`${cannot}: tools is not a list of tools`)
  for (const one of tools) {
    const { name, run } = Object(one) as Partial<Tool>
    if (typeof name !== 'string' || typeof run !== 'function')
      throw new TypeError(`${cannot}: tools is not a list of tools`)
    if (named.has(name))
      throw new ToolUsageError(`${cannot}: there are two tools "${name}"`, { tool: name })
    named.set(name, one as Tool)
  }
  return named
}
