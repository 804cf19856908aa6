// B12: what a node, a reader or a caller does to an object reaches nobody else. The same on every store.
import { append, compile, each, field, goto, graph, reduced, type StreamEvent } from 'heddle'
import { all, casesOf, equal, pause, type Case, type Open } from './portable.ts'

type Item = { n: number }
const items = () => field<Item[]>([])
const kept = [{ n: 1 }]
const input = (): { items: Item[] } => ({ items: [{ n: 1 }] })

/** Changes everything that can be changed about a list of items. */
function spoil(list: Item[]): void {
  for (const item of list) item.n = 50
  list.push({ n: 99 })
}

/** The cases, against stores of the place we run in. */
export function suite(open: Open): readonly Case[] {
  return casesOf('isolation', open, {
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
      equal(history.map(({ state }) => state.items), [kept, kept, kept], 'items in history')
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
      const { state } = await compile(make, { store: await reopen() }).run({ thread: 't', input: {} })
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
        const found = apps.map(async (one) => [...(await all(one.history('t'))), (await one.state('t'))!])
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
      equal((await app.interruptions({ thread: 't', status: 'answered' }))[0]?.payload, { items: kept }, 'asked')
    },

    async 'nodes of one step and tasks of one each see nothing of what the others change'(reopen) {
      const work = [{ n: 1 }, { n: 2 }]
      const look = async (state: { items: Item[] }): Promise<{ seen: number[] }> => {
        const before = state.items.length
        spoil(state.items)
        await pause(2)
        return { seen: [before, state.items.length] }
      }
      const make = graph({
        name: 'siblings',
        state: { items: items(), seen: reduced(field<number[]>([]), append) },
        nodes: {
          a: look,
          b: look,
          c: {
            item: field<Item>(),
            async run(state, ctx) {
              ctx.item.n += 10
              spoil(state.items)
              await pause(2)
              return { seen: [ctx.item.n] }
            },
          },
        },
        edges: {
          start: (state) => {
            spoil(state.items)
            return ['a', 'b', each('c', work)]
          },
          a: (state) => {
            spoil(state.items)
            return 'end'
          },
          b: 'end',
          c: 'end',
        },
      })
      const { state } = await compile(make, { store: await reopen() }).run({ thread: 't', input: input() })
      equal(state, { items: kept, seen: [1, 2, 1, 2, 1, 2] }, 'state')
      equal(work, [{ n: 1 }, { n: 2 }], 'the items that the router made')
    },

    async 'a question, a timer and work done once keep their values at the call'(reopen) {
      const waited: Item[] = [{ n: 1 }]
      const done: unknown[] = []
      const make = graph({
        name: 'calls',
        state: { got: field<unknown>(undefined) },
        nodes: {
          async ask(_, ctx) {
            const asked: Item[] = [{ n: 1 }]
            const answer = ctx.interrupt({ items: asked })
            spoil(asked)
            const got = (await answer) as Item[]
            spoil(got)
            return { got: await ctx.interrupt('again') }
          },
          async wait(_, ctx) {
            const once = await ctx.once('w', () => [{ n: 1 }])
            done.push(structuredClone(once), structuredClone(await ctx.once('w', () => [])))
            spoil(once)
            done.push(structuredClone(await ctx.once('w', () => [])))
            const over = ctx.wait('2020-01-01T00:00:00Z', { items: waited }, { key: 'past' })
            const later = ctx.wait('2999-01-01T00:00:00Z', { items: waited })
            if (waited.length === 1) spoil(waited)
            done.push((await over) as Item[])
            await later
          },
        },
        edges: { start: ['ask', 'wait'], ask: 'end', wait: 'end' },
      })
      const app = compile(make, { store: await reopen() })
      const outcome = await app.run({ thread: 't', input: {} })
      if (outcome.status !== 'interrupted') throw new Error(`it is ${outcome.status}`)
      const [question] = outcome.interruptions
      const [timer] = (await app.state('t'))!.timers
      equal(question?.payload, { items: kept }, 'what was asked')
      equal(timer?.payload, { items: kept }, 'what a timer holds')
      equal(done, [kept, kept, kept, { items: kept }], 'what once and a past wait gave')
      const answer: Item[] = [{ n: 1 }]
      const again = await app.run({ thread: 't', answers: { [question!.id]: answer } })
      spoil(answer)
      if (again.status !== 'interrupted') throw new Error(`it is ${again.status}`)
      const [settled] = await app.interruptions({ thread: 't', status: 'answered' })
      equal(settled?.answer, kept, 'the answer on record')
      await compile(make, { store: await reopen() }).run({
        thread: 't',
        answers: { [again.interruptions[0]!.id]: answer, [timer!.id]: null },
      })
      const end = (await app.state('t'))!
      equal(end.state.got, [{ n: 50 }, { n: 99 }], 'the second answer, as it was given')
    },

    async 'a reducer, a child graph and a second turn change only what they return'(reopen) {
      const childInput = input()
      const child = graph({
        name: 'child',
        state: { items: items() },
        nodes: { c: (state) => spoil(state.items) },
        edges: { start: 'c', c: 'end' },
      })
      const make = graph({
        name: 'parent',
        state: {
          items: items(),
          folded: reduced(field<Item[]>([]), (current: Item[], update: Item[]) => {
            const result = [...current, ...structuredClone(update)]
            for (const one of [...current, ...update]) one.n = 7
            return result
          }),
        },
        nodes: {
          async a(state, ctx) {
            const got = await ctx.child(child, childInput)
            spoil(childInput.items)
            const seen = structuredClone(got.items)
            spoil(got.items)
            spoil(state.items)
            return { folded: seen }
          },
          b: () => {
            metadata.tags.push('b')
            return { folded: [{ n: 2 }] }
          },
        },
        edges: { start: 'a', a: 'b', b: 'end' },
      })
      const app = compile(make, { store: await reopen() })
      const metadata = { tags: ['a'] }
      const turn = { items: [{ n: 3 }] }
      await app.run({ thread: 't', input: input(), metadata })
      const before = await all(app.history('t'))
      equal(before.map((one) => one.metadata), before.map(() => ({ tags: ['a'] })), 'metadata')
      await app.run({ thread: 't', input: turn })
      spoil(turn.items)
      const folds = before.map(({ state }) => state.folded)
      equal(folds, [[{ n: 7 }, { n: 2 }], [{ n: 1 }], []], 'what each checkpoint holds')
      const older = await Promise.all(before.map(({ checkpoint }) => app.state('t', { checkpoint })))
      equal(older.map((one) => one?.state.folded), folds, 'what they hold after another turn')
      const now = await compile(make, { store: await reopen() }).state('t')
      equal(now?.state.items, [{ n: 3 }], 'items')
      equal(now?.metadata, { tags: ['a'] }, 'metadata')
    },
  })
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
function spoiled(event: StreamEvent<string, any, any>): unknown {
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
