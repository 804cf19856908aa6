import { pairCalls } from '../../src/index.ts'
import type { FilePart, Message, ModelRequest, ToolCall } from '../../src/index.ts'

type Json = { readonly [member: string]: unknown }

/**
 * The body of a request.
 *
 * @param reasoning In which member reasoning of the running turn goes back
 */
export function bodyOf(request: ModelRequest, model: string, reasoning: string | undefined): Json {
  const { instructions, messages, tools = [], toolChoice, output, extra } = request
  const { temperature, maxTokens, stop, seed } = request
  const paired = pairCalls(messages)
  const turn = paired.findLastIndex(({ role }) => role === 'user')
  return {
    model,
    messages: [
      ...(instructions ? [{ role: 'system', content: instructions }] : []),
      ...paired.map((message, n) => wire(message, n > turn ? reasoning : undefined)),
    ],
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({
        type: 'function',
        function: { name, description, parameters },
      })),
      ...(toolChoice && { tool_choice: choice(toolChoice) }),
    }),
    ...(output && {
      response_format: { type: 'json_schema', json_schema: { name: 'output', schema: output } },
    }),
    temperature,
    max_tokens: maxTokens,
    stop,
    seed,
    stream: true,
    stream_options: { include_usage: true },
    ...extra,
  }
}

function wire(message: Message, reasoning: string | undefined): Json {
  const { role, text } = message
  switch (role) {
    case 'system':
      return { role, content: text }
    case 'user':
      return { role, content: message.files?.length ? parts(text, message.files) : text }
    case 'tool':
      return { role, tool_call_id: message.call, content: text }
    case 'assistant': {
      const { calls = [] } = message
      return {
        role,
        content: text || null,
        ...(reasoning && message.reasoning && { [reasoning]: message.reasoning }),
        ...(calls.length > 0 && { tool_calls: calls.map(call) }),
      }
    }
  }
}

/** Arguments that were no JSON aren't repeated: many servers parse them, and refuse the whole request. */
function call({ wireId, tool, args, raw }: ToolCall): Json {
  return {
    id: wireId,
    type: 'function',
    function: { name: tool, arguments: args === undefined ? '{}' : raw || JSON.stringify(args) },
  }
}

function parts(text: string, files: readonly FilePart[]): readonly Json[] {
  return [...(text ? [{ type: 'text', text }] : []), ...files.map(part)]
}

function part({ mediaType, data }: FilePart): Json {
  const [kind, subtype] = mediaType.split(/[/;]/)
  if (typeof data !== 'string') {
    if (kind === 'text') return { type: 'text', text: new TextDecoder().decode(data) }
    if (kind === 'audio') {
      const format = subtype === 'mpeg' ? 'mp3' : subtype
      return { type: 'input_audio', input_audio: { data: base64(data), format } }
    }
  }
  const url = typeof data === 'string' ? data : `data:${mediaType};base64,${base64(data)}`
  if (kind === 'image') return { type: 'image_url', image_url: { url } }
  return { type: 'file', file: { filename: `file.${subtype}`, file_data: url } }
}

/** Byte by byte: an argument list has a limit, and `toBase64` isn't everywhere yet. */
function base64(bytes: Uint8Array): string {
  return btoa(bytes.reduce((text, byte) => text + String.fromCharCode(byte), ''))
}

function choice(wanted: NonNullable<ModelRequest['toolChoice']>): unknown {
  return typeof wanted === 'string' ? wanted : { type: 'function', function: { name: wanted.tool } }
}
