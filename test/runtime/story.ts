// One story, told in every place: a parcel is priced, packed, approved by a person, waits for its van, jams a printer
// and goes out. Between the parts every object in memory is dropped; only the store stays. The clock stands still unless
// the story moves it and ids count up, so what it tells must be the same to the byte everywhere.
import * as z from 'zod'
import {
  append,
  compile,
  each,
  graph,
  question,
  reduced,
  subgraph,
  sum,
  type CompiledGraph,
  type RunRequest,
  type Store,
} from 'heddle'
import { countingIds, manualClock } from 'heddle/testing'
import { canonical } from './canonical.ts'

const sign = question({
  key: 'sign',
  payload: z.object({ total: z.number() }),
  answer: z.object({ ok: z.boolean() }),
})

const approval = graph({
  name: 'approval',
  state: { total: z.number(), steps: reduced(z.array(z.string()).default([]), append) },
  questions: [sign],
  nodes: {
    look: () => ({ steps: ['looked'] }),
    ask: async ({ total }, ctx) => {
      const { ok } = await ctx.interrupt({ total }, sign)
      return { steps: [ok ? 'signed' : 'refused'] }
    },
  },
  edges: { start: 'look', look: 'ask', ask: 'end' },
})

/** What the outside world remembers: how often each thing really happened. */
interface World {
  readonly did: Record<string, number>
  printerJams: boolean
}

const parcel = (world: World) => {
  const count = (what: string): number => (world.did[what] = (world.did[what] ?? 0) + 1)
  return graph({
    name: 'parcel',
    state: {
      order: z.string(),
      items: z.array(z.string()),
      log: reduced(z.array(z.string()).default([]), append),
      total: reduced(z.number().default(0), sum),
      sizes: z.map(z.string(), z.bigint()).default(new Map()),
      placed: z.date().default(new Date(0)),
      label: z.string().default(''),
    },
    events: z.object({ said: z.string() }),
    nodes: {
      receive: async ({ order, items }, ctx) => {
        await ctx.emit({ said: `order ${order}` })
        await ctx.emit({ said: `${items.length} items` })
        return {
          sizes: new Map(items.map((item) => [item, 2n ** 64n])),
          placed: new Date(ctx.now()),
        }
      },
      price: {
        retry: { attempts: 3, delay: 1_000, jitter: 0 },
        run: ({ items }) => {
          if (count('price') === 1) throw new Error('The price list is being replaced')
          return { total: items.length * 30 }
        },
      },
      pack: {
        item: z.string(),
        run: async (_, ctx) => {
          const box = await ctx.once('box', () => `box ${count(`box for ${ctx.item}`)}`)
          return { log: [`${ctx.item} in ${box}`], total: 2 }
        },
      },
      approve: subgraph(approval, {
        input: (state: { readonly total: number }) => ({ total: state.total }),
        output: ({ steps }) => ({ log: steps }),
      }),
      schedule: {
        after: ['approve', 'pack', 'weigh'],
        run: async (_, ctx) => {
          const van = await ctx.wait(new Date(ctx.now() + 3_600_000), { van: 7 })
          return { log: [`van ${JSON.stringify(van)}`] }
        },
      },
      weigh: () => ({ log: ['weighed'] }),
      print: (_, ctx) => {
        count('print')
        if (world.printerJams) throw new TypeError('The printer is jammed')
        return { label: `${ctx.step}: ${ctx.task}` }
      },
    },
    edges: {
      start: 'receive',
      receive: 'price',
      price: ({ items }) => ['approve', each('pack', items), 'weigh'],
      pack: 'schedule',
      approve: 'schedule',
      weigh: 'schedule',
      schedule: 'print',
      print: 'end',
    },
  })
}

/** Does in any place what a user would do, and says what came of it. */
export async function tell(
  open: (name: string) => Promise<Store> | Store,
): Promise<readonly string[]> {
  const told: string[] = []
  const note = (what: string, value: unknown): void => void told.push(`${what} ${canonical(value)}`)
  const world: World = { did: {}, printerJams: true }
  const clock = manualClock('2026-03-01T08:00:00Z')
  const newId = countingIds()
  let app: CompiledGraph
  const restart = async (): Promise<void> => {
    app = compile(parcel(world), { store: await open('story'), clock, newId, random: () => 0.5 })
  }
  const thread = 'parcel 1/2 ✓'
  const play = async (what: string, request: Omit<RunRequest, 'thread'>): Promise<void> => {
    await restart()
    const run = app.stream({ thread, ...request } as RunRequest)
    let over = false
    const reading = (async () => {
      for await (const event of run) note(`${what}:`, event)
      note(`${what} ends:`, await run.outcome)
    })()
      .catch((error: unknown) => note(`${what} fails:`, String(error)))
      .finally(() => (over = true))
    // The clock moves when the retry waits, just as far, and for nothing else that may wait in a slow place.
    while (!over) {
      if (world.did['price'] === 1 && clock.pending > 0) await clock.advance(1_000)
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    await reading
  }

  await play('starts', { input: { order: '42', items: ['lamp', 'book'] }, user: 'ann' })
  await restart()
  const [asked] = await app!.interruptions()
  note('inbox:', asked)
  await play('answers wrongly', { answer: { ok: 'yes' } })
  await play('answers', { answers: sign.reply(asked!, { ok: true }), user: 'ben' })
  await play('answers again', { answers: sign.reply(asked!, { ok: false }) })
  clock.set(new Date(clock.now() + 3_599_999).toISOString())
  await restart()
  note('tick too early:', await app!.tick())
  clock.set(new Date(clock.now() + 1).toISOString())
  await play('the van comes', {})
  await restart()
  note('state:', await app!.state(thread))
  world.printerJams = false
  await play('goes on', {})
  await play('goes on again', {})
  await restart()
  for await (const { checkpoint, parent, step, source, next, state } of app!.history(thread))
    note('history:', { checkpoint, parent, step, source, next, state })
  for await (const run of app!.runs(thread)) note('run:', run)
  note('answered:', await app!.interruptions({ status: 'answered' }))
  note('world:', world.did)
  await app!.delete(thread)
  note('deleted:', (await app!.state(thread)) ?? null)
  return told
}
