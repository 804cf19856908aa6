import type { FilePart, ModelRequest } from '../../src/index.ts'
import type { Part, Prompt } from './language-model.ts'

/** Why a conversation can't be had, in words that go behind a colon. */
export class Shortcoming extends Error {}

/** What is said, as a session takes it: what the system says comes first, in one. */
export async function promptsOf(
  { instructions, messages }: ModelRequest,
  signal: AbortSignal,
): Promise<Prompt[]> {
  const system = instructions ? [instructions] : []
  const prompts: Prompt[] = []
  for (const message of messages) {
    const { role, text } = message
    if (role === 'system') system.push(text)
    else if (role === 'user' && message.files?.length) {
      const files = await Promise.all(message.files.map((file) => partOf(file, signal)))
      const words: Part[] = text ? [{ type: 'text', value: text }] : []
      prompts.push({ role, content: [...words, ...files] })
    } else prompts.push({ role: role === 'assistant' ? role : 'user', content: text })
  }
  return system.length > 0
    ? [{ role: 'system', content: system.join('\n\n') }, ...prompts]
    : prompts
}

/** What kinds of input there are beside text. */
export const kindsOf = (prompts: readonly Prompt[]): Part['type'][] => {
  const parts = prompts.flatMap(({ content }) => (typeof content === 'string' ? [] : content))
  return [...new Set(parts.map(({ type }) => type))].filter((type) => type !== 'text')
}

async function partOf({ mediaType, data }: FilePart, signal: AbortSignal): Promise<Part> {
  const type = mediaType.split('/', 1)[0]
  if (type !== 'image' && type !== 'audio')
    throw new Shortcoming(`it takes no files of type "${mediaType}"`)
  if (typeof data !== 'string')
    return { type, value: new Blob([data as Uint8Array<ArrayBuffer>], { type: mediaType }) }
  // The model has no network: the page gets it.
  const response = await fetch(data, { signal })
  if (!response.ok) throw new Shortcoming(`a file of it answered ${response.status}`)
  return { type, value: await response.blob() }
}
