/**
 * A body as text, piece by piece, and at its end the blank line that some servers leave out. Nobody need read it to its
 * end: it is cancelled then.
 */
export async function* textOf(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const reader = body.getReader()
  const cancel = (): void => void reader.cancel().catch(() => {})
  signal.addEventListener('abort', cancel)
  try {
    const decoder = new TextDecoder()
    for (;;) {
      const { done, value } = await reader.read()
      yield done ? `${decoder.decode()}\n\n` : decoder.decode(value, { stream: true })
      if (done) return
    }
  } finally {
    signal.removeEventListener('abort', cancel)
    cancel()
  }
}

/**
 * What server-sent events carry, one by one. A body that is an object of JSON is one payload. What an event of the kind
 * `error` carries is told as its `error`.
 */
export async function* payloadsOf(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = ''
  let first: string | undefined
  let isHalf = false
  let data: string[] = []
  let isError = false
  for await (const text of texts) {
    first ??= /\S/.exec(text)?.[0]
    const isJson = first === '{'
    // A line may come in very many pieces: what has been looked at isn't looked at again.
    const lines = isJson ? [text] : (isHalf ? text.replace(/^\n/, '') : text).split(/\r\n?|\n/)
    // A CR at the end may be half of a CRLF.
    if (text) isHalf = text.endsWith('\r')
    lines[0] = rest + lines[0]
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const [, field, value = ''] = /^(data|event)(?:: ?([^]*))?$/.exec(line) ?? []
      if (field === 'data') data.push(value)
      else if (field) isError = value === 'error'
      if (line !== '') continue
      const payload = data.join('\n')
      if (data.length > 0) yield isError ? errorOf(payload) : payload
      data = []
      isError = false
    }
  }
  if (rest) yield rest
}

function errorOf(payload: string): string {
  const said = parsed(payload) as { readonly error?: unknown } | undefined
  return JSON.stringify({ error: said?.error ?? said ?? payload })
}

/** A value of JSON; `undefined` if the text is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
