// `mcpTools` over a socket: servers of both versions of the SDK on the loopback of this machine.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { memory } from 'heddle'
import { mcpTools } from 'heddle/mcp'
import { describe, expect, it } from 'vitest'
import { countedSignal, keepBooks } from '../behaviours/books.ts'
import { straight, type Connected, type Line } from '../fakes/mcp-line.ts'
import { suite } from './mcp.suite.ts'
import { benchOf, sdks } from './mcp.tools.ts'

describe('over Streamable HTTP on 127.0.0.1', () => {
  for (const { name, run } of suite(memory, socket)) it(name, run)
})

describe('in this process', () => {
  // Over HTTP the SDKs and the sockets keep timers of their own.
  keepBooks()
  for (const { name, run } of suite(memory)) it(name, run)
})

it.each(Object.entries(sdks))(
  '%s: no listener is left on the signal of a call',
  async (_, parts) => {
    await benchOf(parts, straight).at(async (tools) => {
      const caller = countedSignal()
      const ctx = { signal: caller.signal, emit: async () => {} } as never
      const [add, , , , , fail] = tools
      expect(await add!.run({ a: 1, b: 2 }, ctx)).toEqual({ sum: 3 })
      await expect(fail!.run({}, ctx)).rejects.toThrow('No such file')
      expect(caller.listeners()).toBe(0)
      caller.abort(new Error('enough'))
      await expect(add!.run({ a: 1, b: 2 }, ctx)).rejects.toThrow('enough')
    })
  },
)

describe('what makes no sense is refused before the server is asked', () => {
  const client = { listTools: never, callTool: never }
  it.each([
    [undefined, {}],
    [{ listTools: never }, {}],
    [{ callTool: never }, {}],
    [client, { approve: 'read' }],
    [client, { approve: null }],
    [client, { only: 'read' }],
    [client, { prefix: 1 }],
    [client, { approved: false }],
  ])('%o with %o', async (given, options) => {
    await expect(mcpTools(given as never, options as never)).rejects.toThrow(TypeError)
  })
})

/** Gives a server a port, and a client that knows it. */
async function socket(line: Line): Promise<Connected> {
  const http = createServer(async (from, to) => {
    const body = from.method === 'POST' ? { body: Readable.toWeb(from), duplex: 'half' } : {}
    const request = new Request(`http://127.0.0.1${from.url}`, {
      method: from.method!,
      headers: Object.entries(from.headers).map(([name, value]) => [name, String(value)]),
      ...(body as object),
    })
    const { status, headers, body: answer } = await line.handle(request)
    to.writeHead(status, Object.fromEntries(headers))
    if (answer) await pipeline(Readable.fromWeb(answer as never), to).catch(() => {})
    else to.end()
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const { port } = http.address() as AddressInfo
  const connected = await line.connect(`http://127.0.0.1:${port}/mcp`)
  return {
    client: connected.client,
    async close() {
      await connected.close()
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    },
  }
}

async function never(): Promise<never> {
  throw new Error('the server was asked')
}
