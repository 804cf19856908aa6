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
  const turn = messages.findLastIndex(({ role }) => role === 'user')
  const running = new Set(messages.slice(turn + 1).map(({ id }) => id))
  return {
    model,
    messages: [
      ...(instructions ? [{ role: 'system', content: instructions }] : []),
      ...pairCalls(messages).map((message) =>
        wire(message, running.has(message.id) ? reasoning : undefined),
      ),
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
  const [kind = '', subtype = ''] = mediaType.split(/[/;]/)
  const isBytes = typeof data !== 'string'
  if (kind === 'text' && isBytes) return { type: 'text', text: new TextDecoder().decode(data) }
  const format = SOUNDS[subtype]
  if (kind === 'audio' && format && isBytes)
    return { type: 'input_audio', input_audio: { data: base64(data), format } }
  const url = isBytes ? `data:${mediaType};base64,${base64(data)}` : data
  if (kind === 'image') return { type: 'image_url', image_url: { url } }
  return { type: 'file', file: { filename: `file.${subtype}`, file_data: url } }
}

const SOUNDS: { readonly [subtype: string]: string } = {
  wav: 'wav',
  'x-wav': 'wav',
  wave: 'wav',
  mpeg: 'mp3',
  mp3: 'mp3',
}

/** In chunks, since an argument list has a limit; `toBase64` isn't everywhere yet. */
function base64(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 4096)
    text += String.fromCharCode(...bytes.subarray(at, at + 4096))
  return btoa(text)
}

function choice(wanted: NonNullable<ModelRequest['toolChoice']>): unknown {
  if (typeof wanted === 'string') return wanted
  return { type: 'function', function: { name: wanted.tool } }
}
