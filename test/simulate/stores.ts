// The stores that the simulator runs on, as each process sees them: every operation waits for its turn, and may meet
// with what the seed has in store for it.
import { memory, type Batch, type Store } from 'heddle'
import { cloudflareKv, type KV } from 'heddle/cloudflare-kv'
import { eventualKv } from '../fakes/eventual-kv.ts'
import { isHead, type Truth } from './truth.ts'
import type { Client, World } from './world.ts'

export const STORES = ['memory', 'kv', 'kv-lease'] as const
export type StoreName = (typeof STORES)[number]

/** How many operations it takes at most to try a commit again. */
const AGAIN = 20

/** What is thrown when a reply is lost. */
export class Network extends Error {
  override readonly name = 'Network'
  /** How many replies its client had lost by then. */
  readonly losses: number
  /** It was a commit of a head, and not lost again: whoever reads that head knows what became of it. */
  readonly known: boolean

  constructor(label: string, client: Client) {
    super(`Cannot tell how "${label}" ended`)
    const since = client.operations - client.lastLoss
    this.losses = ++client.losses
    client.lastLoss = client.operations
    this.known = since > AGAIN && /^commit (.* )?h\/[^/ ]+( |$)/.test(label)
  }
}

/** How likely something goes wrong with one operation. */
export interface Weather {
  /** The reply is lost, after the operation or before it. */
  readonly lose: number
  /** The process ends at it. */
  readonly kill: number
  /** What has been reported lost may land all the same, later. */
  readonly late: boolean
}

/** Where rows are, and how a process gets at them. */
export interface Backing {
  open(client: Client): Store
  /** All rows there are, by their keys. */
  rows(): Promise<string[]>
}

/** What a store of the kind is made of. `lie` replaces what processes see of a strong store. */
export function backing(
  name: StoreName,
  world: World,
  truth: Truth,
  weather: Weather,
  lie: (store: Store) => Store = (store) => store,
): Backing {
  const strong = (base: Store): ((client: Client) => Store) => {
    const honest = lie(base)
    return (client) => {
      const op = <Value>(label: string, work: () => Promise<Value>): Promise<Value> =>
        operate(world, client, weather, label, work)
      return {
        name: base.name,
        caps: base.caps,
        get: (keys) => op(`get ${keys.join(' ')}`, () => honest.get(keys)),
        list: (range) => op(`list ${range.prefix}`, () => honest.list(range)),
        commit: (batch) =>
          op(`commit ${changes(batch)}`, async () => {
            const revision = await honest.commit(batch)
            if (revision !== undefined) landed(truth, client, batch)
            return revision
          }),
        clear: (prefix) =>
          op(`clear ${prefix}`, async () => {
            await honest.clear(prefix)
            truth.clear(prefix)
          }),
      }
    }
  }
  if (name === 'memory') {
    const base = memory()
    return { open: strong(base), rows: () => keysOf(base) }
  }
  const earth = eventualKv({ seed: world.options.seed, now: () => world.time })
  const heads = memory()
  const lease = strong(heads)
  const inspector = (): Store =>
    cloudflareKv(earth.at(`inspector ${world.turns}`), { singleWriter: true })
  return {
    open(client) {
      // Two isolates of a place share its caches.
      const place = name === 'kv' || client.name.endsWith('1') ? 'here' : 'there'
      const kv = bindingOf(world, client, weather, truth, earth.at(place))
      return name === 'kv'
        ? cloudflareKv(kv, { singleWriter: true })
        : cloudflareKv(kv, { lease: lease(client) })
    },
    async rows() {
      return [...(await keysOf(inspector())), ...(await keysOf(heads))]
    },
  }
}

async function keysOf(store: Store): Promise<string[]> {
  const pages = await Promise.all(
    ['h/', 't/', 'd/', 'o/', 'n/'].map((prefix) => store.list({ prefix, limit: 1e6 })),
  )
  return pages.flat().map(({ key }) => key)
}

function landed(truth: Truth, client: Client, { puts = [], deletes = [] }: Batch): void {
  // A word left for an owner is taken away again by who left it.
  if (![...puts.map(({ key }) => key), ...deletes].every(isWord)) client.applied++
  const heads = puts.filter(({ key }) => isHead(key))
  for (const { key, value } of puts) if (!isHead(key)) truth.put(client, key, value)
  for (const { key, value } of heads) truth.put(client, key, value)
  for (const key of deletes) truth.remove(key)
}

const isWord = (key: string): boolean => key.startsWith('h/') && !isHead(key)

/** One operation: it is sent, it lands, its reply comes; or not. */
function operate<Value>(
  world: World,
  client: Client,
  { lose, kill, late }: Weather,
  label: string,
  work: () => Promise<Value>,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const go = (): void => {
      client.operations++
      if (client.alive && world.strikes('kill', kill)) {
        const after = world.fate.chance(0.5)
        if (after) void work().catch(() => {})
        world.note(`${client.name} is killed ${after ? 'after' : 'before'} it`)
        world.kill(client, () => world.fate.chance(0.5))
        return
      }
      const lost = client.alive && world.strikes('lose', lose)
      const reply = (settle: () => void): void => {
        if (!client.alive) return
        if (world.calm || world.luck.chance(0.75)) settle()
        else world.park(client, `reply to ${label}`, settle)
      }
      if (lost) {
        const how = world.fate.pick(['done', late ? 'late' : 'done', 'never'])
        world.note(`${client.name} hears nothing of it: ${how}`)
        const error = new Network(label, client)
        if (how === 'done') void work().catch(() => {})
        if (how === 'late')
          world.park(undefined, `late ${label}`, () => void work().catch(() => {}))
        return reply(() => reject(error))
      }
      work().then(
        (value) => reply(() => resolve(value)),
        (error: unknown) => reply(() => reject(error)),
      )
    }
    world.park(client, label, go, true)
  })
}

/** A binding as a process has it. What lands is told to the truth by the names of rows. */
function bindingOf(world: World, client: Client, weather: Weather, truth: Truth, kv: KV): KV {
  const op = <Value>(label: string, work: () => Promise<Value>): Promise<Value> =>
    operate(world, client, weather, label, work)
  /** A version of a head that lands after newer ones is none that anybody sees. */
  const isOld = (name: string): boolean => {
    const version = name.split('\t')[1]
    if (version === undefined) return false
    if (truth.head && version > truth.version) return true
    truth.version = version
    return false
  }
  return {
    get: ((keys: string) => op(`kv get ${String(keys)}`, () => kv.get(keys))) as KV['get'],
    list: (options) => op(`kv list ${options.prefix}`, () => kv.list(options)),
    put: (name, text, options) =>
      op(`kv put ${name}`, async () => {
        await kv.put(name, text, options)
        // A claim that is lost here may leave a hint of where to look.
        if (!isWord(keyOf(name)) && !name.startsWith('heddle/d/')) client.applied++
        if (!isOld(name)) truth.put(client, keyOf(name), text.slice(16))
      }),
    delete: (name) =>
      op(`kv delete ${name}`, async () => {
        await kv.delete(name)
        // Old versions of a head go one by one; the newest says that the thread is gone.
        if (!name.includes('\t')) truth.remove(keyOf(name))
        else if (truth.head?.status === 'deleted') truth.remove(keyOf(name))
      }),
  }
}

/** A row's key: the adapter puts its prefix before it, and the revision of a head behind it. */
const keyOf = (name: string): string => name.slice('heddle/'.length).split('\t')[0] as string

const changes = ({ puts = [], deletes = [] }: Batch): string =>
  [...puts.map(({ key }) => key), ...deletes.map((key) => `-${key}`)].join(' ')
