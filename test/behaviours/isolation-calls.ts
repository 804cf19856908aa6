// What siblings share, and what is given to the engine by a call.
import { append, compile, each, field, graph, reduced } from 'heddle'
import { input, items, kept, spoil, type Item } from './isolation-tools.ts'
import { all, equal, pause, type Cases } from './portable.ts'

export const callCases: Cases = {
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
    const { state } = await compile(make, { store: await reopen() }).run({
      thread: 't',
      input: input(),
    })
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
    equal(
      before.map((one) => one.metadata),
      before.map(() => ({ tags: ['a'] })),
      'metadata',
    )
    await app.run({ thread: 't', input: turn })
    spoil(turn.items)
    const folds = before.map(({ state }) => state.folded)
    equal(folds, [[{ n: 7 }, { n: 2 }], [{ n: 1 }], []], 'what each checkpoint holds')
    const older = await Promise.all(before.map(({ checkpoint }) => app.state('t', { checkpoint })))
    equal(
      older.map((one) => one?.state.folded),
      folds,
      'what they hold after another turn',
    )
    const now = await compile(make, { store: await reopen() }).state('t')
    equal(now?.state.items, [{ n: 3 }], 'items')
    equal(now?.metadata, { tags: ['a'] }, 'metadata')
  },
}
