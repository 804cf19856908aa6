import { pairCalls } from '../../src/index.ts'
import type { FilePart, Message, ModelRequest, ToolMessage } from '../../src/index.ts'

type Json = { readonly [member: string]: unknown }

/** The options of `doStream`, in the form of a specification. */
export function callOptions(request: ModelRequest, version: string): Json {
  const { instructions, messages, tools = [], toolChoice, output, extra = {} } = request
  const { temperature, maxTokens, stop, seed } = request
  const paired = pairCalls(messages)
  const turn = paired.findLastIndex(({ role }) => role === 'user')
  const given = Object.entries(extra)
  const isOption = ([, value]: readonly [string, unknown]): boolean => Object(value) !== value
  return {
    ...Object.fromEntries(given.filter(isOption)),
    providerOptions: Object.fromEntries(given.filter((one) => !isOption(one))),
    prompt: [
      ...(instructions ? [{ role: 'system', content: instructions }] : []),
      ...paired.map((message, n) => promptOf(message, version, n > turn)),
    ],
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({
        type: 'function',
        name,
        description,
        inputSchema: parameters,
      })),
      ...(toolChoice && { toolChoice: choice(toolChoice) }),
    }),
    ...(output && { responseFormat: { type: 'json', name: 'output', schema: output } }),
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
    ...(stop && { stopSequences: [...stop] }),
    ...(seed !== undefined && { seed }),
  }
}

/** @param isRunning Whether it belongs to the running turn: then providers want its reasoning back */
function promptOf(message: Message, version: string, isRunning: boolean): Json {
  const { role, text } = message
  const texts = text === '' ? [] : [{ type: 'text', text }]
  switch (role) {
    case 'system':
      return { role, content: text }
    case 'user':
      return {
        role,
        content: [...texts, ...(message.files ?? []).map((file) => filePart(file, version))],
      }
    case 'assistant': {
      const thoughts = isRunning && message.reasoning ? [message.reasoning] : []
      return {
        role,
        content: [
          ...thoughts.map((thought) => ({ type: 'reasoning', text: thought })),
          ...texts,
          ...(message.calls ?? []).map(({ wireId, tool, args = {} }) => ({
            type: 'tool-call',
            toolCallId: wireId,
            toolName: tool,
            input: args,
          })),
        ],
      }
    }
    case 'tool':
      return {
        role,
        content: [
          {
            type: 'tool-result',
            toolCallId: message.call,
            toolName: message.tool,
            output: resultOf(message, version),
          },
        ],
      }
  }
}

/** The model reads the text of a message, whatever its value is. */
function resultOf({ status, text }: ToolMessage, version: string): Json {
  if (status === 'success') return { type: 'text', value: text }
  if (status === 'denied' && version !== 'v2') return { type: 'execution-denied', reason: text }
  return { type: 'error-text', value: text }
}

function filePart({ mediaType, data }: FilePart, version: string): Json {
  const content = typeof data === 'string' ? contentOf(data) : data
  if (version !== 'v4') return { type: 'file', mediaType, data: content }
  const isUrl = content instanceof URL
  return {
    type: 'file',
    mediaType,
    data: isUrl ? { type: 'url', url: content } : { type: 'data', data: content },
  }
}

/** A URL, or the base64 that is in it. */
function contentOf(url: string): URL | string {
  return /^data:[^,]*;base64,([^]*)$/i.exec(url)?.[1] ?? new URL(url)
}

function choice(wanted: NonNullable<ModelRequest['toolChoice']>): Json {
  return typeof wanted === 'string' ? { type: wanted } : { type: 'tool', toolName: wanted.tool }
}
