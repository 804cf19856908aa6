import { SchemaError } from '../errors.ts'
import { issueText } from '../lib/issue.ts'
import type { Issue, Schema } from '../schema.ts'
import { addUsage } from '../usage.ts'
import type { Reply } from './model.ts'
import { requestFrom, type Asked } from './request.ts'

/** What came of a request: a reply, and what is wrong with it if it isn't of the shape that was asked for. */
export interface Answer {
  readonly reply: Reply<unknown>
  readonly issues?: readonly Issue[] | undefined
}

/** Reads what a reply says in the shape that was asked for. One that calls tools says nothing yet. */
export async function answerOf(reply: Reply<unknown>, schema: Schema | undefined): Promise<Answer> {
  if (!schema || reply.calls.length > 0) return { reply }
  const json = jsonIn(reply.text)
  if (!json) return { reply, issues: [{ message: 'it is not JSON' }] }
  const result = await schema['~standard'].validate(json.value)
  if (result.issues) return { reply, issues: result.issues }
  return { reply: { ...reply, output: result.value } }
}

/** The JSON in a text: all of it, or what stands in its first fence. */
function jsonIn(text: string): { readonly value: unknown } | undefined {
  for (const part of [text, /```\w*\s*\n([^]*?)```/.exec(text)?.[1]])
    try {
      if (part !== undefined) return { value: JSON.parse(part) }
    } catch {
      // Perhaps in the fence.
    }
  return undefined
}

/**
 * Asks, and once more if the answer isn't of the shape that was asked for.
 *
 * @param round Makes one request: the first, or the repair
 * @throws SchemaError naming the model and the place, if the repair isn't either
 */
export async function answered(
  { name, request, stamp }: Asked,
  round: (request: Asked['request'], repair: boolean) => Promise<Answer>,
): Promise<Reply<unknown>> {
  const first = await round(request, false)
  if (!first.issues) return first.reply
  const wrong = issueText(first.issues)
  const messages = [
    ...request.messages,
    { role: 'assistant', text: first.reply.text },
    {
      role: 'user',
      text: `Your answer can't be used: ${wrong}. Answer again, with nothing but JSON of the shape that was asked for.`,
    },
  ]
  const { reply, issues } = await round(requestFrom(name, { ...request, messages }, stamp), true)
  if (issues)
    throw new SchemaError(`Cannot accept the output of model "${name}": ${issueText(issues)}`, {
      issues,
    })
  const usage = addUsage(first.reply.usage, reply.usage)
  return { ...reply, usage, message: { ...reply.message, usage } }
}
