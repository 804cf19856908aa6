// Tells, line by line, what comes of a phase of a program, on D1 or in a Durable Object: /<store>/<program>/<phase>.
import { append, compile, field, graph, isHeddleError, reduced, type Store } from 'heddle'
import { d1 } from 'heddle/d1'
import { durableObjectStore } from 'heddle/durable-object'

interface Env {
  readonly DB: D1Database
  readonly ROOM: DurableObjectNamespace
}

type Tell = (what: unknown) => Promise<void>

const LAST = 40

export default {
  async fetch(request: Request, { DB, ROOM }: Env, ctx: ExecutionContext): Promise<Response> {
    const { pathname } = new URL(request.url)
    if (pathname.startsWith('/d1/')) return telling(pathname, d1(DB), ctx)
    return ROOM.get(ROOM.idFromName('room')).fetch(request)
  },
}

export class Room {
  readonly #state: DurableObjectState

  constructor(state: DurableObjectState) {
    this.#state = state
  }

  async fetch({ url }: Request): Promise<Response> {
    return telling(new URL(url).pathname, durableObjectStore(this.#state.storage), this.#state)
  }
}

function telling(
  path: string,
  store: Store,
  ctx: { waitUntil(work: Promise<unknown>): void },
): Response {
  const [program, phase] = path.split('/').slice(2)
  // Not one made in JavaScript: what leaves an object by this one waits until the writes before it are on disk.
  const { readable, writable } = new IdentityTransformStream()
  const writer = writable.getWriter()
  const tell: Tell = (what) => writer.write(new TextEncoder().encode(`${JSON.stringify(what)}\n`))
  const work = program === 'rows' ? rows(phase!, store, tell) : steps(phase!, store, tell)
  ctx.waitUntil(
    work
      .catch((error: unknown) => tell({ error: String(error) }))
      .finally(() => writer.close())
      .catch(() => {}),
  )
  // Or what miniflare puts in front compresses it, and nothing comes before the end.
  return new Response(readable, { headers: { 'content-encoding': 'identity' } })
}

/** Tells which rows there are; then writes until it is killed, in the middle of some commit. */
async function rows(phase: string, store: Store, tell: Tell): Promise<void> {
  const found = await store.list({ prefix: '', limit: 100_000 })
  await tell({
    found: found.map(({ key, value }) => `${key} ${value.replaceAll('.', '')} ${value.length}`),
  })
  for (let n = found.length / 2 + 1; phase === 'write'; n++) {
    const value = `${n}`.padEnd(5000, '.')
    const puts = [`h/${n}`, `t/${n}`].map((key) => ({ key, value }))
    if (await store.commit({ puts, ...(n % 2 && { durable: true }) })) await tell({ wrote: n })
  }
}

/** Tells how the thread stands; then starts it, or goes on with it, until it is killed or the thread ends. */
async function steps(phase: string, store: Store, tell: Tell): Promise<void> {
  const count = graph({
    name: 'count',
    state: { n: field<number>(0), seen: reduced(field<number[]>([]), append) },
    nodes: {
      next: async ({ n }, ctx) => {
        const made = await ctx.once('effect', async () => {
          await tell({ did: n })
          return n
        })
        await tell({ stored: n })
        // However late the kill comes, it finds the run on its way.
        if (n === { start: 15, 'go-on': 31 }[phase]) await scheduler.wait(100_000)
        return { n: n + 1, seen: [made] }
      },
    },
    edges: { start: 'next', next: ({ n }) => (n < LAST ? 'next' : 'end') },
  })
  const app = compile(count, { store, leaseMs: 200 })
  const { state, status } = (await app.state('t')) ?? {}
  await tell({ found: { ...state, status } })
  for (;;) {
    const request = phase === 'start' ? { thread: 't', input: {} } : { thread: 't' }
    const run = app.stream(request as { thread: string; input: object })
    try {
      for await (const event of run) {
        if (event.kind === 'step') await tell({ step: event.step })
        if (event.kind === 'done') await tell({ done: event.state })
      }
      return
    } catch (error) {
      // A dead owner's lease has to run out before somebody else may go on.
      if (!isHeddleError(error, 'thread_busy')) throw error
      await scheduler.wait(50)
    }
  }
}
