import type { Message, ModelRequest, Reply } from '../../src/index.ts'
import { FINISH } from './finish.ts'

/** The instructions of a request, as JSON. */
export const systemInstructions = ({ instructions }: ModelRequest): string | undefined =>
  instructions ? JSON.stringify([text(instructions)]) : undefined

/** What a model is told, as JSON. Files are left out. */
export const inputMessages = (messages: readonly Message[]): string =>
  JSON.stringify(messages.map((message) => ({ role: message.role, parts: partsOf(message) })))

/** What a model answered, as JSON. */
export const outputMessage = ({ message, finish }: Reply<unknown>): string =>
  JSON.stringify([
    { role: 'assistant', parts: partsOf(message), finish_reason: FINISH[finish] ?? finish },
  ])

/** The tools of a request, as JSON. */
export const toolDefinitions = (tools: ModelRequest['tools']): string | undefined =>
  tools && JSON.stringify(tools.map((tool) => ({ type: 'function', ...tool })))

function partsOf(message: Message | Reply<unknown>['message']): object[] {
  if (message.role === 'tool')
    return [{ type: 'tool_call_response', id: message.call, response: message.text }]
  const { reasoning, calls = [] } = message.role === 'assistant' ? message : {}
  return [
    ...(reasoning ? [{ type: 'reasoning', content: reasoning }] : []),
    ...(message.text ? [text(message.text)] : []),
    ...calls.map(({ id, tool, raw, args = raw }) => ({
      type: 'tool_call',
      id,
      name: tool,
      arguments: args,
    })),
  ]
}

const text = (content: string): object => ({ type: 'text', content })
