// B10 with all that a thread may do on its way: an effect, two nodes at once, a question, a wait. Whatever fails at whatever
// operation, it ends as if nothing had, and what was stored never happens again.
import { append, field, graph, reduced, sum, type Graph, type RunRequest, type Store } from 'heddle'
import type { Fault, Operation } from 'heddle/testing'
import { equal, type Cases } from './portable.ts'
import { atEveryOperation, LEASE, machine, oneLine, told, type Way } from './faults-tools.ts'

const HOUR = 3_600_000
const WAYS: Readonly<Record<string, Way>> = {
  'a crash before any commit': 'crash before',
  'a crash after any commit': 'crash after',
  'a lost reply of any commit': 'lost reply',
  'an error at any operation': 'error',
}

export const journeyCases: Cases = Object.fromEntries(
  Object.entries(WAYS).map(([what, way]) => [
    `${what} changes nothing in the end`,
    async (reopen) => {
      const store = await reopen()
      await atEveryOperation(store, way, journey)
      if (way === 'crash before' && !store.caps.atomic)
        await atEveryOperation(store, 'torn', journey)
    },
  ]),
)

/** What the world outside has seen. */
interface World {
  /** How often each node was entered. */
  readonly calls: Record<string, number>
  /** What may not happen any more: it has been told, or its node went on. */
  readonly over: Set<string>
  readonly broken: string[]
}

function trip(name: string, { calls, over, broken }: World): Graph {
  const enter = (what: string): void => {
    calls[what] = (calls[what] ?? 0) + 1
    if (over.has(what)) broken.push(what)
  }
  return graph({
    name,
    state: {
      log: reduced(field<string[]>([]), append),
      total: reduced(field(0), sum),
    },
    nodes: {
      book: async (_, ctx) => {
        enter('book')
        const paid = await ctx.once('pay', () => {
          enter('pay')
          return 'paid'
        })
        over.add('pay')
        return { log: [paid], total: 1 }
      },
      left: () => {
        enter('left')
        return { log: ['left'], total: 1 }
      },
      right: async () => {
        enter('right')
        await Promise.resolve()
        return { log: ['right'], total: 1 }
      },
      gate: {
        after: ['left', 'right'],
        run: async (_, ctx) => {
          const word = await ctx.interrupt('Go?')
          enter('gate')
          return { log: [String(word)], total: 1 }
        },
      },
      nap: async (_, ctx) => {
        await ctx.wait(new Date(ctx.now() + HOUR))
        enter('nap')
        return { log: ['rested'], total: 1 }
      },
    },
    edges: {
      start: 'book',
      book: ['left', 'right'],
      left: 'gate',
      right: 'gate',
      gate: 'nap',
      nap: 'end',
    },
  })
}

/** One thread from its start to its end, by a client that looks where it stands and does what is next. */
async function journey(
  store: Store,
  name: string,
  faults: readonly Fault[],
): Promise<readonly Operation[]> {
  const world: World = { calls: {}, over: new Set(), broken: [] }
  const here = machine(store, trip(name, world), faults)
  const first = here.store
  const ask = async (request: {
    readonly input?: object
    readonly answer?: string
  }): Promise<string> => {
    const { events, end } = await told(here.app, { thread: name, ...request } as RunRequest)
    for (const event of events) if (event.kind === 'node_end') world.over.add(event.node)
    return end
  }
  const look = async (): Promise<string> => (await here.app.state(name))?.status ?? 'unknown'
  let end = 'unknown'
  let failures = 0
  for (let round = 0; end !== 'success'; round++) {
    if (round > 9) throw new Error(`it doesn't end: ${end} ${JSON.stringify(world.calls)}`)
    if (end === 'unknown') end = await ask({ input: {} })
    else if (end === 'interrupted') end = await ask({ answer: 'go' })
    else if (end === 'waiting') {
      here.later(HOUR)
      end = await here.app.tick().then(look).catch(String)
    } else {
      // Something failed, or the process is gone. Whoever comes next looks first, and waits for the lease if it must.
      failures++
      here.later(end === 'thread_busy' ? LEASE + 1 : 0)
      end = await look().catch(String)
      if (end === 'error') end = await ask({})
      if (!/^(starting|resuming|running)$/.test(end)) continue
      here.later(LEASE + 1)
      end = round % 2 ? await here.app.tick().then(look).catch(String) : await ask({})
    }
  }
  const log = [...first.log]

  const { app } = here
  equal(
    (await app.state(name))?.state,
    { log: ['paid', 'left', 'right', 'go', 'rested'], total: 5 },
    'state',
  )
  // Whoever lost a reply looks what became of it, and goes on.
  if (faults.some((fault) => 'lose' in fault)) equal(failures, 0, 'failures')
  equal(world.broken, [], 'what happened again after it was stored')
  for (const [node, n] of Object.entries(world.calls))
    if (n > 2) throw new Error(`${node}: expected at most 2 calls, got ${n}`)
  await oneLine(app, name)
  await app.delete(name)
  return log
}
