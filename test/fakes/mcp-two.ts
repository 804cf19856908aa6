// Client and server of the MCP SDK for TypeScript, version 2.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import {
  McpServer,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import type { Desk } from './mcp-desk.ts'
import type { Line } from './mcp-line.ts'

export async function serveTwo({ tools }: Desk): Promise<Line> {
  const server = new McpServer({ name: 'desk', version: '1' })
  const made = new Map(
    Object.entries(tools).map(([name, { input, output, title, description, run }]) => {
      const config = {
        inputSchema: input,
        ...(output && { outputSchema: output }),
        ...(title !== undefined && { title }),
        ...(description !== undefined && { description }),
      }
      const registered = server.registerTool(name, config, (args, { mcpReq }) => {
        const progress = (step: number): Promise<void> =>
          mcpReq.notify({
            method: 'notifications/progress',
            params: { progressToken: mcpReq['_meta']!.progressToken!, progress: step, total: 9 },
          })
        return run(args as never, { signal: mcpReq.signal, progress }) as never
      })
      return [name, registered] as const
    }),
  )
  return lineOf(server, (name) => made.get(name)?.remove())
}

/** A server that lists its tools as it likes. */
export function pagedTwo(pageOf: (cursor: string | undefined) => object): Promise<Line> {
  const server = new Server({ name: 'pages', version: '1' }, { capabilities: { tools: {} } })
  server.setRequestHandler('tools/list', ({ params }) => pageOf(params?.cursor) as never)
  return lineOf(server, () => {})
}

async function lineOf(server: McpServer | Server, remove: Line['remove']): Promise<Line> {
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => crypto.randomUUID(),
  })
  await server.connect(transport)
  return {
    handle: (request, options) => transport.handleRequest(request, options),
    remove,
    async connect(url, fetch) {
      const client = new Client({ name: 'heddle', version: '1' })
      const to = new StreamableHTTPClientTransport(new URL(url), fetch && { fetch })
      await client.connect(to)
      return { client, close: () => client.close() }
    },
    close: () => server.close(),
  }
}
