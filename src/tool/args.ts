import { issueText } from '../lib/issue.ts'
import { decode, encode, type Cell } from '../durable/codec.ts'
import { SchemaError } from '../errors.ts'
import { argsOf } from '../model/args.ts'
import { frozen } from '../model/frozen.ts'
import type { Issue, Schema } from '../schema.ts'
import type { ToolCall } from './tool.ts'

/** The arguments of a call as nobody can change them any more; nothing if its text is no JSON. `UnserializableValue` for others. */
export function cellOf(call: Partial<ToolCall>, tool: string): Cell | undefined {
  const given = argsOf(call)
  return 'args' in given ? encode(given.args, undefined, `${tool}(args)`) : undefined
}

/** The call as hooks see it: frozen, its arguments a frozen copy. */
export function frozenCall({ args: _, ...call }: ToolCall, cell: Cell | undefined): ToolCall {
  return Object.freeze(cell === undefined ? call : { ...call, args: frozen(decode(cell)) })
}

/**
 * A copy that shares nothing with the value.
 *
 * @param root How the path to what can't be copied starts in the error
 * @throws UnserializableValue
 */
export const copied = (value: unknown, root: string): unknown =>
  decode(encode(value, undefined, root))

/**
 * What a schema makes of a value.
 *
 * @throws SchemaError naming the tool
 */
export async function fitted(
  schema: Schema,
  value: unknown,
  tool: string,
  what: string,
): Promise<unknown> {
  const result = await schema['~standard'].validate(value)
  if (result.issues) throw unfit(tool, what, result.issues)
  return result.value
}

/** What is wrong with arguments or with a result. */
export const unfit = (tool: string, what: string, issues: readonly Issue[]): SchemaError =>
  new SchemaError(`Cannot accept the ${what} of tool "${tool}": ${issueText(issues)}`, {
    tool,
    issues,
  })

/** The refusal of arguments that are no JSON. They may be long, or secret, so they stay out of it. */
export const notJson = ({ tool }: ToolCall): SchemaError =>
  unfit(tool, 'arguments', [{ message: 'they are not JSON' }])
