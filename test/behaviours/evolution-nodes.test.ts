// An old checkpoint and a new graph: what its nodes, joins and children have become.
import { append, field, graph, memory, reduced, subgraph, type Context, type Graph } from 'heddle'
import { describe, expect, it } from 'vitest'
import { failure, keepBooks, Story } from './harness.ts'

keepBooks()

const list = () => reduced(field<unknown[]>([]), append)

/** A thread as two graphs see it, one after the other. */
function twice(old: () => Graph, now: () => Graph): readonly [before: Story, after: Story] {
  const store = memory()
  return [
    new Story(old, 'in process', { store }),
    new Story(now, 'rebuilt from the store', { store }),
  ]
}

/** `first`, then a node of this name that asks, then `last`. */
const named = (name: string, fails = false): Graph =>
  graph({
    name: 'named',
    state: { got: list() },
    nodes: {
      first: () => ({ got: ['first'] }),
      [name]: async (_: unknown, ctx: Context) => {
        if (fails) throw new Error('not yet')
        return { got: [await ctx.interrupt('?')] }
      },
      last: () => ({ got: ['last'] }),
    },
    edges: { start: 'first', first: name, [name]: 'last', last: 'end' },
  } as never)

describe('a node that is gone', () => {
  it('refuses every way to go on with it, with nothing changed', async () => {
    const [before, after] = twice(
      () => named('second'),
      () => named('other'),
    )
    const [question] = (await before.start()).open
    const { checkpoint } = await before.snapshot()
    const gone = { code: 'graph_changed', details: { thread: 't1', missing: ['second'] } }
    for (const request of [{ answer: 1 }, { answers: { [question!.id]: 1 } }])
      expect(await after.refuses(request, 'graph_changed')).toMatchObject(gone)
    const rows = await after.rows()
    for (const to of [{}, { to: 't2' }])
      expect(await failure(after.app.fork('t1', { from: checkpoint, ...to }))).toMatchObject(gone)
    await before.answerOne('yes')
    expect(await after.refuses({ from: checkpoint }, 'graph_changed')).toMatchObject(gone)
    expect((await after.rows()).length).toBeGreaterThan(rows.length)
    // From before it, the new graph goes its own way; the past is shown as it was.
    const [first] = (await after.history()).slice(-1)
    expect((await after.goOn({ from: first?.checkpoint })).open).toMatchObject([{ node: 'other' }])
    expect((await after.snapshot(checkpoint)).next).toEqual(['second'])
  })

  it('does not matter to another turn, which drops what was to run next', async () => {
    const [before, after] = twice(
      () => named('second', true),
      () => named('other'),
    )
    await expect(before.start()).rejects.toThrow('not yet')
    await after.refuses({}, 'graph_changed')
    expect(await after.start()).toMatchObject({
      open: [{ node: 'other' }],
      state: { got: ['first', 'first'] },
    })
  })
})

describe('a join whose predecessors are others', () => {
  it.each([
    ['fewer', ['a', 'slow']],
    ['more', ['a', 'c', 'b', 'slow']],
  ])('%s: is refused once some have reached it, and the old graph goes on', async (_, after) => {
    const wide = ['a', 'c', 'slow']
    const [before, then] = twice(
      () => twoStep(wide),
      () => twoStep(after),
    )
    await before.start()
    expect(await before.answerOne('B')).toMatchObject({ open: [{ payload: 'slow' }] })
    const error = await then.refuses({ answer: 'S' }, 'graph_changed')
    expect(error).toMatchObject({
      details: { missing: ['join'] },
      message: expect.stringContaining('"join"'),
    })
    expect((await before.answerOne('S')).state['got']).toContain('joined')
  })

  it('does not matter in another order', async () => {
    const [before, then] = twice(
      () => twoStep(['a', 'c', 'slow']),
      () => twoStep(['slow', 'c', 'a']),
    )
    await before.start()
    await before.answerOne('B')
    expect((await then.answerOne('S')).state['got']).toContain('joined')
  })

  /** `a` and `c` reach the join a step before `slow` asks. */
  function twoStep(after: readonly string[]): Graph {
    const names = ['a', 'b', 'c']
    return graph({
      name: 'two steps',
      state: { got: list() },
      nodes: {
        a: () => ({ got: ['a'] }),
        b: async (_: unknown, ctx: Context) => ({ got: [await ctx.interrupt('b')] }),
        c: () => ({ got: ['c'] }),
        slow: async (_: unknown, ctx: Context) => ({ got: [await ctx.interrupt('slow')] }),
        join: { after, run: () => ({ got: ['joined'] }) },
      },
      edges: {
        start: names,
        a: after.includes('a') ? 'join' : 'end',
        b: after.includes('b') ? ['slow', 'join'] : 'slow',
        c: after.includes('c') ? 'join' : 'end',
        slow: 'join',
        join: 'end',
      },
    } as never)
  }
})

describe('a child graph that has changed inside a paused thread', () => {
  const holding = (inner: () => Graph) => (): Graph =>
    graph({
      name: 'holding',
      state: { got: list() },
      nodes: {
        enter: subgraph(inner() as never, {
          input: () => ({}) as never,
          output: (child: { readonly got?: unknown }) => ({ got: child.got }),
        }),
      },
      edges: { start: 'enter', enter: 'end' },
    } as never)

  it('fails the run where a node of it is gone; the answer is kept for the graph that has it', async () => {
    const [before, after] = twice(
      holding(() => named('second')),
      holding(() => named('other')),
    )
    await before.start()
    const error = await failure(after.answerOne('yes'))
    expect(error).toMatchObject({ code: 'graph_changed', details: { missing: ['second'] } })
    expect(await after.snapshot()).toMatchObject({
      status: 'error',
      error: { code: 'graph_changed' },
    })
    // Asks nothing again.
    const mended = await before.app.run({ thread: 't1' })
    expect(mended).toMatchObject({ status: 'success', state: { got: ['first', 'yes', 'last'] } })
  })

  it('migrates the child’s own state by the child’s own version', async () => {
    const froms: number[] = []
    const child = (now: boolean) => (): Graph =>
      graph({
        name: 'child',
        ...(now && {
          version: 3,
          migrate(state: Readonly<Record<string, unknown>>, from: number) {
            froms.push(from)
            const { n, ...rest } = state
            return { ...rest, count: Number(n) }
          },
        }),
        state: { got: list(), ...(now ? { count: field<number>() } : { n: field('4') }) },
        nodes: {
          ask: async (state: Record<string, unknown>, ctx: Context) => ({
            got: [await ctx.interrupt('?'), state['count']],
          }),
        },
        edges: { start: 'ask', ask: 'end' },
      } as never)
    const [before, after] = twice(holding(child(false)), holding(child(true)))
    await before.start()
    const ns = ['enter']
    expect((await after.app.state('t1', { ns }))?.state).toEqual({ got: [], n: '4' })
    expect((await after.answerOne('yes')).state).toEqual({ got: ['yes', 4] })
    expect(froms).toEqual([1])
    expect((await after.app.state('t1', { ns }))?.state).toEqual({ got: ['yes', 4], count: 4 })
  })
})

describe('questions in another order', () => {
  const asking = (payloads: readonly string[]) => (): Graph =>
    graph({
      name: 'asking',
      state: { got: list() },
      nodes: {
        async ask(_, ctx) {
          const got = []
          for (const payload of payloads) got.push(`${payload} ${await ctx.interrupt(payload)}`)
          return { got }
        },
      },
      edges: { start: 'ask', ask: 'end' },
    })

  it('get their own answers, or none', async () => {
    const [before, after] = twice(asking(['a', 'b']), asking(['b', 'a']))
    await before.start()
    expect((await before.answerOne('A')).open).toMatchObject([{ payload: 'b' }])
    expect(await after.answerOne('B')).toMatchObject({ state: { got: ['b B', 'a A'] } })

    const [one, other] = twice(asking(['a', 'b']), asking(['c', 'b']))
    await one.start()
    await one.answerOne('A')
    expect(await failure(other.answerOne('B'))).toMatchObject({ code: 'replay_mismatch' })
    expect(await one.app.run({ thread: 't1' })).toMatchObject({ state: { got: ['a A', 'b B'] } })
  })
})
