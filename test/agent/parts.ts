// What the tests of agents share: tools that count, scripts, and how to read what came of them.
import {
  tool,
  type AgentEvent,
  type Message,
  type ModelRequest,
  type NewMessage,
  type StreamEvent,
  type Tool,
  type ToolContext,
} from 'heddle'
import { z } from 'zod'

/** What a person says. */
export const say = (text: string): { readonly messages: readonly NewMessage[] } => ({
  messages: [{ role: 'user', text }],
})

/** A tool that notes what it is called with. */
export function noting(
  name: string,
  ran: unknown[],
  more: Partial<Tool['settings']> = {},
  run: (n: number, ctx: ToolContext) => unknown = (n) => ({ did: name, n }),
): Tool {
  return tool({
    name,
    description: `Does "${name}".`,
    input: z.object({ n: z.number() }),
    ...more,
    run({ n }, ctx) {
      ran.push([name, n])
      return run(n, ctx)
    },
  })
}

/** A call as a scripted model makes it. */
export const wants = (
  name: string,
  n = 1,
  id?: string,
): { readonly tool: string; readonly args: unknown; readonly id?: string } => ({
  tool: name,
  args: { n },
  ...(id !== undefined && { id }),
})

/** Messages in short: who says what. */
export const told = (messages: unknown): string[] =>
  (messages as readonly Message[]).map(({ role, text }) => `${role}: ${text}`)

/** The answers to calls in a request, by tool. */
export const read = (request: ModelRequest | undefined): string[] =>
  (request?.messages ?? []).flatMap((message) =>
    message.role === 'tool' ? [`${message.tool} ${message.status}: ${message.text}`] : [],
  )

/** What an agent emitted. */
export const emitted = (events: readonly StreamEvent[]): AgentEvent[] =>
  events.flatMap((event) => (event.kind === 'backend' ? [event.data as AgentEvent] : []))

/** Events in short. */
export const short = (events: readonly StreamEvent[]): string[] =>
  emitted(events).map((event) => {
    if (event.kind === 'text' || event.kind === 'reasoning') return `${event.kind} ${event.delta}`
    if (event.kind === 'tool_call') return `call ${event.tool}`
    if (event.kind === 'tool_progress') return `progress ${JSON.stringify(event.data)}`
    if (event.kind === 'message') return `message ${event.finish}`
    return `${event.replayed ? 'replayed ' : ''}result ${event.tool} ${event.status}`
  })
