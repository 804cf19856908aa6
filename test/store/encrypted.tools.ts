// A thread full of what nobody else may read, and sealed texts taken apart.
import {
  append,
  compile,
  encrypted,
  field,
  graph,
  memory,
  reduced,
  type CompiledGraph,
  type Entry,
  type Store,
} from 'heddle'
import { all, equal, fits, rowsOf } from '../behaviours/portable.ts'
import { silent } from '../fakes/silent.ts'

/** A fresh key that can't be exported. */
export const newKey = async (): Promise<CryptoKey> =>
  (await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, [
    'encrypt',
    'decrypt',
  ])) as CryptoKey

/** Stores of a place, sealed with one key. */
export function sealing(
  open: (name: string) => Store | Promise<Store>,
): (name: string) => Promise<Store> {
  const key = newKey()
  return async (name) => encrypted(await open(name), { key: await key })
}

/** A sealed text, taken apart. */
export interface Sealed {
  readonly id: string
  readonly bytes: Uint8Array
}

export function apart(value: string): Sealed {
  const [, id = '', data = ''] = /^([\w-]+)\.(.*)$/.exec(value) ?? []
  return { id, bytes: Uint8Array.from(atob(data), (unit) => unit.charCodeAt(0)) }
}

/** A sealed text with one bit of one byte turned over; counted from the end if negative. */
export function flipped(value: string, at: number): string {
  const { id, bytes } = apart(value)
  const place = (at + bytes.length) % bytes.length
  bytes[place] = bytes[place]! ^ 1
  return `${id}.${btoa(String.fromCharCode(...bytes))}`
}

/** A memory store of these rows. */
export async function holding(rows: ReadonlyMap<string, string>): Promise<Store> {
  const store = memory()
  await store.commit({ puts: Array.from(rows, ([key, value]) => ({ key, value })) })
  return store
}

/** The rows of a store, without revisions. */
export const textsOf = async (store: Store): Promise<string> =>
  JSON.stringify([...(await rowsOf(store))])

/** One row's entry. */
export async function entryAt(store: Store, key: string): Promise<Entry | undefined> {
  return (await store.get([key]))[0]
}

/** What must not be found in a store. */
const CANARY = 'canary bird'

const text = fits((value): value is string => typeof value === 'string', 'no text')
const secret = graph({
  name: 'secret',
  state: { text: field(''), list: reduced(field<string[]>([]), append) },
  events: field<string>(),
  nodes: {
    first: async (_, ctx) => {
      await ctx.emit(CANARY)
      return { list: [await ctx.once('work', () => CANARY)] }
    },
    ask: async (_, ctx) => ({
      text: await ctx.interrupt(CANARY, { key: 'q', schema: text, expires: 1e9 }),
    }),
    side: async (_, ctx) => void (await ctx.wait('2999-01-01T00:00:00Z', CANARY)),
    last: () => ({ list: ['last'] }),
  },
  edges: { start: 'first', first: ['ask', 'side'], ask: 'last', side: 'last', last: 'end' },
})
export const appOn = (store: Store): CompiledGraph =>
  compile(secret, { store, logger: silent }) as unknown as CompiledGraph

/** A thread that waits for an answer, and another like it. */
export async function told(store: Store): Promise<void> {
  for (const thread of ['t', 'other']) {
    const request = { thread, input: { text: CANARY }, user: CANARY, metadata: { note: CANARY } }
    await appOn(store).run(request)
  }
}

/** What comes of everything that reads the thread, and at last of the answer: the value, or that it's damaged. */
export async function looks(store: Store, raw?: Store): Promise<Record<string, string>> {
  const app = appOn(store)
  const seen: Record<string, string> = {}
  const look = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    seen[name] = await work().then(
      (value) => JSON.stringify(value) ?? 'nothing',
      (error: { code?: string; details?: { thread?: string } }) =>
        error.code === 'corrupt_checkpoint' ? `corrupt ${error.details?.thread}` : String(error),
    )
  }
  await look('state', () => app.state('t'))
  await look('history', () => all(app.history('t')))
  await look('runs', () => all(app.runs('t')))
  await look('open', () => app.interruptions({ thread: 't' }))
  await look('end', async () => {
    const { interruptions = [], timers = [] } = (await app.state('t')) ?? {}
    const ids = [...interruptions, ...timers].map(({ id }) => [id, 'late'])
    if (ids.length === 0) return 'nothing is open'
    const before = raw && (await textsOf(raw))
    try {
      const { status, state } = await app.run({ thread: 't', answers: Object.fromEntries(ids) })
      return { status, state }
    } catch (error) {
      if (raw) equal((await textsOf(raw)) === before, true, 'nothing changed by a refusal')
      throw error
    }
  })
  return seen
}
