// The tools of an MCP server in a graph: what may run freely is named, the rest asks a person first.
import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { McpServer } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { approval, compile, field, graph } from 'heddle'
import { mcpTools } from 'heddle/mcp'

// A server in the same process, so that this runs by itself. Others are reached by StreamableHTTPClientTransport or stdio.
const server = new McpServer({ name: 'files', version: '1.0.0' })
const files = new Map([['a.txt', 'the letter a']])
const input = z.object({ path: z.string() })
server.registerTool('read', { description: 'Reads a file', inputSchema: input }, ({ path }) => ({
  content: [{ type: 'text', text: files.get(path) ?? 'There is no such file' }],
}))
server.registerTool(
  'remove',
  { description: 'Removes a file', inputSchema: input },
  ({ path }) => ({
    content: [{ type: 'text', text: files.delete(path) ? 'removed' : 'There is no such file' }],
  }),
)
const [near, far] = InMemoryTransport.createLinkedPair()
const client = new Client({ name: 'desk', version: '1.0.0' })
await Promise.all([server.connect(far), client.connect(near)])

const tools = await mcpTools(client, { prefix: 'files_', approve: { read: false } })

const tidy = graph({
  name: 'tidy',
  state: { path: field<string>(), text: field<unknown>(''), end: field<unknown>('') },
  nodes: {
    look: async ({ path }, ctx) => ({ text: await ctx.call('files_read', { path }) }),
    remove: async ({ path }, ctx) => ({ end: await ctx.call('files_remove', { path }) }),
  },
  edges: { start: 'look', look: 'remove', remove: 'end' },
})
const app = compile(tidy, { tools })

const asked = await app.run({ thread: 't1', input: { path: 'a.txt' } })
console.log(asked.status, asked.state.text, files.size)
const [open] = await app.interruptions({ thread: 't1' })
if (open && approval.is(open)) {
  const { tool, args } = open.payload
  console.log(tool, args)
  const answers = approval.reply(open, { approve: true })
  const { state } = await app.run({ thread: 't1', answers, user: 'ann' })
  console.log(state.end, files.size)
}
await client.close()
