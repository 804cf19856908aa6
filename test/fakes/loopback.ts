// A handler on a port of this machine, by the server that Node, Deno or Bun has.

type Handler = (request: Request) => Promise<Response>

export interface Loopback {
  /** Without a slash behind it. */
  readonly url: string
  close(): Promise<void>
}

interface Servers {
  readonly Bun?: { serve(options: object): { port: number; stop(now: boolean): Promise<void> } }
  readonly process: { getBuiltinModule(name: string): unknown }
  readonly Deno?: {
    serve(
      options: object,
      handler: Handler,
    ): { readonly addr: { readonly port: number }; shutdown(): Promise<void> }
  }
}

/** What of Node is used, so that this file has its types in every place. */
interface NodeHttp {
  createServer(handler: (from: NodeRequest, to: NodeResponse) => Promise<void>): {
    listen(port: number, host: string, then: () => void): void
    address(): { readonly port: number }
    close(then: () => void): void
    closeAllConnections(): void
  }
}

interface NodeRequest {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string | string[]>>
}

interface NodeResponse {
  writeHead(status: number, headers: object): void
  write(bytes: Uint8Array, then: () => void): void
  on(event: 'close', listener: () => void): void
  end(): void
  destroy(): void
}

const hostname = '127.0.0.1'
const { Bun, Deno, process } = globalThis as unknown as Servers

/** Serves until it is closed. */
export async function loopback(handler: Handler): Promise<Loopback> {
  if (Bun) {
    const server = Bun.serve({ hostname, port: 0, idleTimeout: 60, fetch: handler })
    return { url: `http://${hostname}:${server.port}`, close: () => server.stop(true) }
  }
  if (Deno) {
    const stop = new AbortController()
    const server = Deno.serve(
      { hostname, port: 0, signal: stop.signal, onListen: () => {} },
      handler,
    )
    return { url: `http://${hostname}:${server.addr.port}`, close: async () => stop.abort() }
  }
  return onNode(handler)
}

async function onNode(handler: Handler): Promise<Loopback> {
  // Not imported: bundles for other places have none of these.
  const { createServer } = process.getBuiltinModule('node:http') as NodeHttp
  const { Readable } = process.getBuiltinModule('node:stream') as {
    readonly Readable: { toWeb(from: NodeRequest): ReadableStream }
  }
  const server = createServer(async (from, to) => {
    const request = new Request(`http://${hostname}${from.url}`, {
      method: from.method,
      headers: Object.entries(from.headers).map(([name, value]) => [name, String(value)]),
      body: Readable.toWeb(from),
      duplex: 'half',
    } as RequestInit)
    const { status, headers, body } = await handler(request)
    to.writeHead(status, Object.fromEntries(headers))
    const reader = body?.getReader()
    to.on('close', () => void reader?.cancel().catch(() => {}))
    try {
      for (;;) {
        const { done, value } = (await reader?.read()) ?? { done: true }
        if (done) break
        // Each chunk a packet of its own.
        await new Promise<void>((resolve) => to.write(value, resolve))
      }
      to.end()
    } catch {
      to.destroy()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, hostname, resolve))
  return {
    url: `http://${hostname}:${server.address().port}`,
    async close() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(resolve))
    },
  }
}
