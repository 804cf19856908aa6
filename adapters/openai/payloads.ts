/** A body as text, piece by piece. Nobody need read it to its end: it is cancelled then. */
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
      yield done ? decoder.decode() : decoder.decode(value, { stream: true })
      if (done) return
    }
  } finally {
    signal.removeEventListener('abort', cancel)
    cancel()
  }
}

/**
 * What server-sent events carry, one by one. A body that is an object of JSON is one payload. The last event counts even
 * if the blank line behind it is missing.
 */
export async function* payloadsOf(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = ''
  let isJson: boolean | undefined
  let data: string[] = []
  for await (const text of texts) {
    rest += text
    isJson ??= /\S/.test(rest) ? /^\s*\{/.test(rest) : undefined
    if (isJson) continue
    // A CR at the end may be half of a CRLF.
    const lines = rest.split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    for (const line of lines) {
      read(line, data)
      if (line !== '' || data.length === 0) continue
      yield data.join('\n')
      data = []
    }
  }
  if (isJson) return yield rest
  read(rest.replace(/\r$/, ''), data)
  if (data.length > 0) yield data.join('\n')
}

function read(line: string, data: string[]): void {
  const found = /^data(?:: ?([^]*))?$/.exec(line)
  if (found) data.push(found[1] ?? '')
}

/** A value of JSON; `undefined` if the text is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
