// Client and server of the MCP SDK for TypeScript, version 1. Its package doesn't say where the types of most files are, and Deno wants to know.
import { Client } from '@modelcontextprotocol/sdk/client'
// @ts-types="../../node_modules/@modelcontextprotocol/sdk/dist/esm/client/streamableHttp.d.ts"
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { Server } from '@modelcontextprotocol/sdk/server'
// @ts-types="../../node_modules/@modelcontextprotocol/sdk/dist/esm/server/mcp.d.ts"
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
// @ts-types="../../node_modules/@modelcontextprotocol/sdk/dist/esm/server/webStandardStreamableHttp.d.ts"
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
// @ts-types="../../node_modules/@modelcontextprotocol/sdk/dist/esm/types.d.ts"
import { ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/cfworker'
import type { Desk } from './mcp-desk.ts'
import type { Line } from './mcp-line.ts'

export async function serveOne({ tools }: Desk): Promise<Line> {
  const server = new McpServer({ name: 'desk', version: '1' })
  const made = new Map(
    Object.entries(tools).map(([name, { input, output, title, description, run }]) => {
      const config = {
        inputSchema: input,
        ...(output && { outputSchema: output }),
        ...(title !== undefined && { title }),
        ...(description !== undefined && { description }),
      }
      const registered = server.registerTool(name, config, (args, extra) => {
        const progress = (step: number): Promise<void> =>
          extra.sendNotification({
            method: 'notifications/progress',
            params: { progressToken: extra['_meta']!.progressToken!, progress: step, total: 9 },
          })
        return run(args as never, { signal: extra.signal, progress }) as never
      })
      return [name, registered] as const
    }),
  )
  return lineOf(server, (name) => made.get(name)?.remove())
}

/** A server that lists its tools as it likes. */
export function pagedOne(pageOf: (cursor: string | undefined) => object): Promise<Line> {
  const server = new Server({ name: 'pages', version: '1' }, { capabilities: { tools: {} } })
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => pageOf(params?.cursor) as never)
  return lineOf(server, () => {})
}

async function lineOf(server: McpServer | Server, remove: Line['remove']): Promise<Line> {
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => crypto.randomUUID(),
  })
  await server.connect(transport as never)
  return {
    handle: (request, options) => transport.handleRequest(request, options),
    remove,
    async connect(url, fetch) {
      // The other one makes code of schemas, which Workers refuse.
      const jsonSchemaValidator = new CfWorkerJsonSchemaValidator()
      const client = new Client({ name: 'heddle', version: '1' }, { jsonSchemaValidator })
      const to = new StreamableHTTPClientTransport(new URL(url), fetch && { fetch })
      await client.connect(to as never)
      return { client, close: () => client.close() }
    },
    close: () => server.close(),
  }
}
