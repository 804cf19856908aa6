import { cloudflareKv } from 'heddle/cloudflare-kv'
import type { Store } from '../../src/store/store.ts'
import { report } from './report.ts'
import { suites } from './suites.ts'

export default {
  async fetch(_: Request, { KV }: { KV: KVNamespace }): Promise<Response> {
    const open = (name: string): Store =>
      cloudflareKv(within(KV, `${name}/`), { singleWriter: true })
    return Response.json(await report('workerd', open, suites))
  },
}

/** A part of a namespace, so that each store of the story has its own. */
function within(kv: KVNamespace, prefix: string): KVNamespace {
  const inside = {
    async get(key: string | string[]) {
      if (typeof key === 'string') return kv.get(prefix + key)
      const found = await kv.get(key.map((one) => prefix + one))
      return new Map(Array.from(found, ([name, value]) => [name.slice(prefix.length), value]))
    },
    put: (key: string, value: string, options?: KVNamespacePutOptions) =>
      kv.put(prefix + key, value, options),
    delete: (key: string) => kv.delete(prefix + key),
    async list(options: KVNamespaceListOptions = {}) {
      const page = await kv.list({ ...options, prefix: prefix + (options.prefix ?? '') })
      return {
        ...page,
        keys: page.keys.map((key) => ({ ...key, name: key.name.slice(prefix.length) })),
      }
    },
  }
  return inside as KVNamespace
}
