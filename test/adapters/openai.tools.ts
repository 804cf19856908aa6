// Asking an endpoint, over a socket or without one, and what comes of it.
import type { Message, Model, ModelEvent, ModelRequest } from 'heddle'
import { openAiCompatible, type OpenAiCompatibleOptions } from 'heddle/openai'
import { chatEndpoint, type ChatAnswer, type ChatEndpoint } from '../fakes/chat-endpoint.ts'

/** How a model gets to an endpoint. */
export type Link = (endpoint: ChatEndpoint) => Promise<{
  readonly url: string
  readonly fetch?: (request: Request) => Promise<Response>
  close(): Promise<void>
}>

/** Without a socket. */
export const straight: Link = async ({ fetch }) => ({
  url: 'http://model.test',
  fetch,
  close: async () => {},
})

export interface Bench {
  readonly model: Model
  readonly endpoint: ChatEndpoint
  readonly url: string
}

/** Where a model is, and what else is said of it. */
export type Options = Partial<OpenAiCompatibleOptions>

const ours = (options: Options): Model =>
  openAiCompatible({ url: '', model: 'm', provider: 'acme', ...options })

/** Runs with an endpoint that gives these answers, and a model that asks it. */
export function benchOf(link: Link, make: (options: Options) => Model = ours) {
  return async function at<Result>(
    answers: readonly ChatAnswer[],
    work: (bench: Bench) => Promise<Result>,
    options: Options = {},
  ): Promise<Result> {
    const endpoint = chatEndpoint(...answers)
    const { url, fetch, close } = await link(endpoint)
    try {
      // In here: a model that is refused must not leave its server behind, which keeps Deno alive.
      const model = make({ url: `${url}/v1`, ...(fetch && { fetch }), ...options })
      return await work({ model, endpoint, url })
    } finally {
      await close()
    }
  }
}

export type At = ReturnType<typeof benchOf>

/** What is heard until the end, and the error that was it. */
export interface Heard {
  readonly events: readonly ModelEvent[]
  readonly error?: unknown
}

/** Asks, and hears it out. */
export async function heard(
  model: Model,
  request: Partial<ModelRequest> = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<Heard> {
  const events: ModelEvent[] = []
  const asked = { messages: [user('Hi')], ...request }
  try {
    for await (const event of model.stream(asked, { signal, call: 'call_1' })) events.push(event)
    return { events }
  } catch (error) {
    return { events, error }
  }
}

/** What is heard of an answer whose events go well. */
export async function eventsOf(
  model: Model,
  request?: Partial<ModelRequest>,
): Promise<ModelEvent[]> {
  const { events, error } = await heard(model, request)
  if (error) throw error
  return [...events]
}

const base = { createdAt: '2026-11-30T04:00:00.000Z' }

export const user = (text: string): Message => ({ ...base, id: `msg_${text}`, role: 'user', text })

/** All there is to a message of the assistant. */
export function assistant(
  id: string,
  more: Partial<Extract<Message, { role: 'assistant' }>>,
): Message {
  return { ...base, id, role: 'assistant', text: '', ...more }
}

export function result(
  call: string,
  status: 'success' | 'error' | 'denied',
  text: string,
): Message {
  return { ...base, id: `msg_${call}`, role: 'tool', call, tool: 'add', status, text }
}
