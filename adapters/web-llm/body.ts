import type { FilePart, ModelRequest } from '../../src/index.ts'
import type { Body } from './engine.ts'

/** A request as WebLLM takes it: what the system says comes first, in one. */
export function bodyOf(model: string, request: ModelRequest, session: string | undefined): Body {
  const { instructions, messages, output, temperature, maxTokens, stop, seed, extra = {} } = request
  const system = instructions ? [instructions] : []
  const told: object[] = []
  for (const message of messages) {
    const { role, text } = message
    if (role === 'system') system.push(text)
    else if (role === 'user' && message.files?.length)
      told.push({ role, content: [{ type: 'text', text }, ...message.files.map(imageOf)] })
    else told.push({ role: role === 'assistant' ? role : 'user', content: text })
  }
  // The schema binds what is said; the model has to be told of it.
  if (output) system.push(`Say JSON that fits this schema:\n${JSON.stringify(output)}`)
  const own = {
    model,
    messages:
      system.length > 0 ? [{ role: 'system', content: system.join('\n\n') }, ...told] : told,
    temperature,
    max_tokens: maxTokens,
    stop,
    seed,
    response_format: output && { type: 'json_object', schema: JSON.stringify(output) },
    extra_body: session && {
      ...(extra['extra_body'] as object | undefined),
      resumable: { enabled: true, sessionId: session },
    },
  }
  const given = Object.entries(own).filter(([, value]) => value !== undefined)
  return {
    ...extra,
    ...Object.fromEntries(given),
    stream: true,
    stream_options: { include_usage: true },
  } as object as Body
}

function imageOf({ mediaType, data }: FilePart): object {
  if (!mediaType.startsWith('image/')) throw new Error(`it takes no files of type "${mediaType}"`)
  const url = typeof data === 'string' ? data : `data:${mediaType};base64,${base64(data)}`
  return { type: 'image_url', image_url: { url } }
}

function base64(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 0x8000)
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000))
  return btoa(text)
}
