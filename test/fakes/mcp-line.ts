// A server of the Model Context Protocol, and how to reach it.
import type { McpClient } from 'heddle/mcp'

/** A server without a port yet. */
export interface Line {
  handle(request: Request, options?: { parsedBody: unknown }): Promise<Response>
  /** Takes a tool away, as a server may at any time. */
  remove(tool: string): void
  connect(url: string, fetch?: typeof globalThis.fetch): Promise<Connected>
  close(): Promise<void>
}

/** A client of the SDK, connected. */
export interface Connected {
  readonly client: McpClient
  close(): Promise<void>
}

/** A client whose requests go straight to the server: HTTP without a socket, for places that can't listen. */
export function straight(line: Line): Promise<Connected> {
  return line.connect('http://desk.test/mcp', (input, init) => {
    const text = init?.body
    // Firefox has no `body` of a request to read.
    const parsed =
      typeof text === 'string' ? { parsedBody: JSON.parse(text) as unknown } : undefined
    return line.handle(new Request(input, init), parsed)
  })
}
