import { cloudflareKv } from 'heddle/cloudflare-kv'
import { d1 } from 'heddle/d1'
import { durableObjectStore, type ObjectStorage } from 'heddle/durable-object'
import type { Open } from './report.ts'
import { reportOn } from './several.ts'
import { suites } from './suites.ts'

interface Env {
  readonly KV: KVNamespace
  readonly DB: D1Database
  readonly ROOM: DurableObjectNamespace
}

/** `/kv`, `/d1` and `/durable-object`: what comes of everything on that store. */
export default {
  fetch(request: Request, { KV, DB, ROOM }: Env): Promise<Response> {
    const { pathname } = new URL(request.url)
    if (pathname === '/kv')
      return told('KV', (name) => cloudflareKv(within(KV, `${name}/`), { singleWriter: true }))
    if (pathname === '/d1')
      return told('D1', (name) => d1(DB, { table: `heddle_${name.replaceAll('-', '_')}` }))
    return ROOM.get(ROOM.idFromName('room')).fetch(request)
  },
}

/** The object that everything runs in where its storage is the store. */
export class Room {
  readonly #storage: DurableObjectStorage

  constructor({ storage }: DurableObjectState) {
    this.#storage = storage
  }

  fetch(): Promise<Response> {
    return told('Durable Object', (name) => durableObjectStore(apart(this.#storage, name)))
  }
}

async function told(store: string, open: Open): Promise<Response> {
  return Response.json(await reportOn('workerd', { [store]: open }, suites))
}

/** A part of an object's storage, so that each store of the story has its own table. */
function apart(storage: DurableObjectStorage, name: string): ObjectStorage {
  return {
    sql: {
      exec: (query, ...bindings) =>
        storage.sql.exec(query.replaceAll('heddle', `"heddle ${name}"`), ...bindings),
    },
    transactionSync: (work) => storage.transactionSync(work),
    sync: () => storage.sync(),
  }
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
