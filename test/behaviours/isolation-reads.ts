// What is read, returned and reported.
import { append, compile, field, goto, graph, reduced, type StreamEvent } from 'heddle'
import { input, items, kept, spoil, type Item } from './isolation-tools.ts'
import { all, equal, pause, type Cases } from './portable.ts'

export const readCases: Cases = {
  async 'a node that changes what it reads and returns nothing changes nothing'(reopen) {
    const make = graph({
      name: 'm-k',
      state: { items: items(), seen: field(0) },
      nodes: {
        m: (state) => {
          spoil(state.items)
          return {}
        },
        k: (state) => ({ seen: state.items.length }),
      },
      edges: { start: 'm', m: 'k', k: 'end' },
    })
    const given = input()
    const app = compile(make, { store: await reopen() })
    const outcome = await app.run({ thread: 't', input: given })
    equal(outcome.state, { items: kept, seen: 1 }, 'state')
    equal(given, { items: kept }, 'input')
    const history = await all(compile(make, { store: await reopen() }).history('t'))
    equal(
      history.map(({ state }) => state.items),
      [kept, kept, kept],
      'items in history',
    )
  },

  async 'what a node returned is stored as it was then, whatever the node does later'(reopen) {
    const held: Item[] = [{ n: 1 }]
    const spread: Item[] = [{ n: 1 }]
    const make = graph({
      name: 'late',
      state: {
        items: items(),
        log: reduced(field<Item[]>([]), append),
        own: reduced(field<Item[]>([]), (a: Item[], b: Item[]) => [...a, ...b]),
      },
      nodes: {
        async m() {
          void Promise.resolve().then(() => spoil(held))
          setTimeout(() => spoil(held), 10)
          return { items: held }
        },
        async l() {
          setTimeout(() => spoil(spread), 0)
          return goto('w', { log: spread, own: spread })
        },
        w: () => pause(30),
      },
      edges: { start: ['m', 'l'], m: 'w', l: 'w', w: 'end' },
    })
    const { state } = await compile(make, { store: await reopen() }).run({
      thread: 't',
      input: {},
    })
    const stored = await compile(make, { store: await reopen() }).state('t')
    equal(state.log, kept, 'appended in process')
    equal(state.own, kept, 'reduced in process')
    equal(stored?.state, state, 'what is stored')
    equal(held.length > 1 && spread.length > 1, true, 'the node did change its objects')
  },

  async 'changing what history, state, an outcome or an inbox gave changes nothing stored'(reopen) {
    const make = asking()
    const app = compile(make, { store: await reopen() })
    const outcome = await app.run({ thread: 't', input: input(), metadata: { tags: ['a'] } })
    if (outcome.status !== 'interrupted') throw new Error(`it is ${outcome.status}`)
    const before = await reads()
    for (const one of [outcome.state, ...before.map(({ state }) => state)]) spoil(one.items)
    for (const { payload } of outcome.interruptions) spoil((payload as { items: Item[] }).items)
    for (const { interruptions, metadata } of before) {
      for (const { payload } of interruptions) spoil((payload as { items: Item[] }).items)
      ;(metadata['tags'] as string[]).push('b')
    }
    for (const { payload } of await app.interruptions()) spoil((payload as { items: Item[] }).items)
    for (const { metadata } of await all(app.threads())) (metadata['tags'] as string[]).push('c')
    for (const { metadata } of await all(app.runs('t'))) (metadata['tags'] as string[]).push('d')
    const after = await reads()
    for (const { state, metadata } of after) {
      equal(state.items, kept, 'items')
      equal(metadata, { tags: ['a'] }, 'metadata')
    }
    equal((await app.interruptions())[0]?.payload, { items: kept }, 'payload')
    equal((await all(app.runs('t')))[0]?.metadata, { tags: ['a'] }, 'metadata of the run')

    async function reads() {
      const apps = [app, compile(make, { store: await reopen() })]
      const found = apps.map(async (one) => [
        ...(await all(one.history('t'))),
        (await one.state('t'))!,
      ])
      return (await Promise.all(found)).flat()
    }
  },

  async 'changing an event in the reader reaches neither the state nor another event'(reopen) {
    const make = graph({
      name: 'events',
      state: { items: items(), log: reduced(field<Item[]>([]), append) },
      events: field<{ items: Item[] }>(),
      nodes: {
        async a(state, ctx) {
          const own = { items: state.items }
          await ctx.emit(own)
          spoil(own.items)
          await ctx.emit({ items: state.items.slice(0, 1) })
          return { items: kept, log: kept }
        },
        b: async (_, ctx) => void (await ctx.interrupt({ items: kept })),
      },
      edges: { start: 'a', a: 'b', b: 'end' },
    })
    const app = compile(make, { store: await reopen() })
    const seen: unknown[] = []
    for await (const event of app.stream({ thread: 't', input: input() })) seen.push(spoiled(event))
    for await (const event of app.stream({ thread: 't', answer: 1 })) seen.push(spoiled(event))
    equal(
      seen.filter(Boolean),
      [[kept], [[{ n: 50 }]], [kept, kept], [kept], [kept, kept]],
      'emitted twice, update of two fields, asked, done with two fields',
    )
    equal((await app.state('t'))?.state, { items: kept, log: kept }, 'state')
    equal(
      (await app.interruptions({ thread: 't', status: 'answered' }))[0]?.payload,
      { items: kept },
      'asked',
    )
  },
}

function asking() {
  return graph({
    name: 'asking',
    state: { items: items() },
    nodes: { ask: async (state, ctx) => void (await ctx.interrupt({ items: state.items })) },
    edges: { start: 'ask', ask: 'end' },
  })
}

/** What an event holds, copied; then it is spoiled. */
function spoiled(event: StreamEvent<string, Record<string, Item[]>, { items: Item[] }>): unknown {
  const parts: Item[][] =
    event.kind === 'backend'
      ? [event.data.items]
      : event.kind === 'node_end'
        ? Object.values(event.update as Record<string, Item[]>)
        : event.kind === 'interrupt'
          ? [(event.interruption.payload as { items: Item[] }).items]
          : event.kind === 'done'
            ? Object.values(event.state)
            : []
  const copy = structuredClone(parts)
  for (const part of parts) spoil(part)
  return copy.length === 0 ? undefined : copy
}
