// What the compiler knows of approvals, on both sides, and of the tools of an MCP server.
import type { Client as ClientTwo } from '@modelcontextprotocol/client'
import type { Client as ClientOne } from '@modelcontextprotocol/sdk/client/index.js'
import { approval, approvals, compile, createExecutor, field, graph } from 'heddle'
import type { ApprovalAnswer, ApprovalRequest, Hook, Interruption, Tool } from 'heddle'
import { mcpTools, type McpClient } from 'heddle/mcp'
import { same } from './same.ts'

export function answers(open: Interruption): unknown {
  same<typeof open.payload, unknown>(true)
  if (!approval.is(open)) return undefined
  same<typeof open.payload, ApprovalRequest>(true)
  same<typeof open.payload.args, unknown>(true)
  approval.reply(open, { approve: true, args: { a: 1 }, remember: true })
  // @ts-expect-error an answer approves or doesn't
  approval.reply(open, { reason: 'not now' })
  // @ts-expect-error a reason belongs to a refusal
  approval.reply(open, { approve: true, reason: 'not now' })
  // @ts-expect-error edits belong to an approval
  approval.reply(open, { approve: false, args: {} })
  return approval.reply(open, { approve: false, reason: 'not now' })
}

const hooks: Hook[] = [
  approvals({ when: ({ call }) => call.tool === 'send' }),
  approvals({
    when: async ({ ctx }) => ctx.user === undefined,
    decide: ({ tool }): ApprovalAnswer | undefined =>
      tool === 'read' ? { approve: true } : undefined,
    expires: 60_000,
    shadow: true,
  }),
]
// @ts-expect-error it says which calls
approvals({ decide: () => undefined })
// @ts-expect-error a decision is an answer
approvals({ when: () => true, decide: () => true })

// --- MCP: clients of both SDKs fit, and what comes of them are tools
declare const one: ClientOne
declare const two: ClientTwo
const clients: McpClient[] = [one, two]
const some = graph({
  name: 'some',
  state: { text: field<unknown>('') },
  nodes: { read: async (_, ctx) => ({ text: await ctx.call('read', {}) }) },
  edges: { start: 'read', read: 'end' },
})
for (const client of clients) {
  const tools = await mcpTools(client, {
    approve: { read: false, send: ({ to }) => to !== 'me' },
    only: ['read', 'send'],
    prefix: 'mail_',
    timeout: 1000,
  })
  tools satisfies readonly Tool[]
  compile(some, { tools, hooks })
  const [read] = tools
  const text = await createExecutor({ tools }).run(read!, { path: 'a' })
  same<typeof text, unknown>(true)
  // @ts-expect-error arguments are an object
  await createExecutor({ tools }).run(read!, 'a')
}
// @ts-expect-error approval is a yes, a no or a rule
await mcpTools(one, { approve: 'read' })
// @ts-expect-error this can't call anything
await mcpTools({ listTools: one.listTools })
