// An endpoint that speaks OpenAI's chat completions, as a function: what it answers is written down, byte by byte if need be.

/** What it answers once. */
export interface ChatAnswer {
  /** @default 200 */
  readonly status?: number
  /** @default those of a stream of events */
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
  /** Bytes a chunk of the body has. @default all */
  readonly cut?: number
  /** What becomes of the body behind all that: it stays open, or the connection is lost. @default it ends */
  readonly ending?: 'open' | 'lost'
}

/** What it was asked. */
export interface ChatRequest {
  readonly url: string
  readonly headers: Headers
  readonly body: Readonly<Record<string, unknown>>
}

export interface ChatEndpoint {
  readonly seen: readonly ChatRequest[]
  /** Settles when somebody leaves an answer before its end. */
  readonly left: Promise<void>
  fetch(request: Request): Promise<Response>
}

/** Gives these answers, one after the other; the last one again and again. */
export function chatEndpoint(...answers: readonly ChatAnswer[]): ChatEndpoint {
  const seen: ChatRequest[] = []
  let leave: () => void
  const left = new Promise<void>((resolve) => (leave = resolve))
  return {
    seen,
    left,
    async fetch(request) {
      const { url, headers } = request
      seen.push({ url, headers, body: (await request.json()) as ChatRequest['body'] })
      const answer = answers[Math.min(seen.length, answers.length) - 1]!
      const { status = 200, headers: told = { 'content-type': 'text/event-stream' } } = answer
      return new Response(bodyOf(answer, leave), { status, headers: told })
    },
  }
}

function bodyOf({ body, cut = Infinity, ending }: ChatAnswer, leave: () => void): ReadableStream {
  const bytes = new TextEncoder().encode(body)
  let at = 0
  return new ReadableStream({
    async pull(controller) {
      if (at < bytes.length) {
        const end = Math.min(at + cut, bytes.length)
        controller.enqueue(bytes.slice(at, end))
        at = end
      } else if (ending === 'lost') {
        // What was sent before gets through first.
        await new Promise((resolve) => setTimeout(resolve, 20))
        controller.error(new Error('The connection was lost'))
      } else if (ending !== 'open') controller.close()
    },
    cancel: leave,
  })
}
