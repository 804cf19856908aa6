import { cloudflareKv } from 'heddle/cloudflare-kv'
import { visit } from './agent.ts'

interface Env {
  readonly KV: KVNamespace
}

/** Answers each request with one visit, line by line as it goes on. */
export default {
  fetch(_: Request, { KV }: Env, ctx: ExecutionContext): Response {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const writer = writable.getWriter()
    const line = (text: string): void =>
      void writer.write(new TextEncoder().encode(`${text}\n`)).catch(() => {})
    const work = visit(cloudflareKv(KV, { singleWriter: true }), line)
    ctx.waitUntil(
      work
        .catch((error: unknown) => line(`fails ${String(error)}`))
        .finally(() => writer.close())
        .catch(() => {}),
    )
    return new Response(readable)
  },
}
