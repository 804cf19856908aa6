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
    ...(tools[0] && {
      tools: tools.map((tool) => ({ type: 'function', function: tool })),
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
  const { role, text: content } = message
  if (role === 'tool') return { role, tool_call_id: message.call, content }
  if (role === 'assistant') {
    const { calls = [] } = message
    return {
      role,
      content: content || null,
      ...(reasoning && message.reasoning && { [reasoning]: message.reasoning }),
      ...(calls[0] && { tool_calls: calls.map(call) }),
    }
  }
  const files = role === 'user' && message.files
  return { role, content: files && files[0] ? parts(content, files) : content }
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

/** In chunks, since an argument list has a limit; `toBase64` isn't everywhere yet. */
function base64(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 4096)
    text += String.fromCharCode(...bytes.subarray(at, at + 4096))
  return btoa(text)
}

function choice(wanted: NonNullable<ModelRequest['toolChoice']>): unknown {
  return typeof wanted === 'string' ? wanted : { type: 'function', function: { name: wanted.tool } }
}
