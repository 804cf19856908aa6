import type { ToolCall } from '../tool/tool.ts'

/** What a call is made with, unless its text is no JSON. Nothing (`undefined`, or empty text) is `{}`. */
export function argsOf({ args, raw }: Partial<ToolCall>): { readonly args?: unknown } {
  if (args !== undefined) return { args }
  if (typeof raw !== 'string' || raw.trim() === '') return { args: {} }
  try {
    return { args: JSON.parse(raw) }
  } catch {
    return {}
  }
}
