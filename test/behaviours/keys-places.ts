// Names that meet: a tenant and a thread, a node and its children.
import { compile, each, field, graph, type Context, type Runner } from 'heddle'
import { checkKey, counter, watched } from './keys-tools.ts'
import { all, equal, rowsOf, type Cases } from './portable.ts'

export const placeCases: Cases = {
  async 'the parts of a place can not be shifted from one to the next'(reopen) {
    const places = [
      ['a', 'b.c'],
      ['a.b', 'c'],
      ['a', 'b:c'],
      ['a:b', 'c'],
      ['a/b', 'c'],
      ['a', 'b/c'],
      ['', 'a.b'],
      ['', 'a'],
      ['a', ''],
      ['a', 'a'],
      ['-', ''],
      ['', '-'],
      ['a~002eb', 'c'],
    ] as const
    const app = compile(counter('g'), { store: await reopen() })
    const of = (tenant: string): Runner => (tenant === '' ? app : app.tenant(tenant))
    for (const [id, [tenant, thread]] of places.entries())
      await of(tenant).run({ thread, input: { id } })
    for (const [id, [tenant, thread]] of places.entries()) {
      equal((await of(tenant).state(thread))?.state, { id }, `${tenant} | ${thread}`)
      equal((await all(of(tenant).history(thread))).length, 1, `history of ${tenant} | ${thread}`)
    }
    equal((await rowsOf(await reopen(), ['h/'])).size, places.length, 'heads')
  },

  async 'children of nodes with like names, and of tasks of one each, have spaces of their own'(
    reopen,
  ) {
    const keys = new Set<string>()
    const inner = graph({
      name: 'inner',
      state: { who: field(''), seen: field<string[]>([]) },
      nodes: {
        n: async ({ who }, ctx) => ({ seen: [who, String(await ctx.interrupt(who))] }),
      },
      edges: { start: 'n', n: 'end' },
    })
    const run = async (_: unknown, ctx: Context<never, unknown>) => {
      const who = `${ctx.node}${ctx.item === undefined ? '' : `-${ctx.item as number}`}`
      const [one, two] = await Promise.all([
        ctx.child(inner, { who: `${who}/1` }),
        ctx.child(inner, { who: `${who}/2` }, { key: '1' }),
      ])
      return { got: { [who]: [one.seen, two.seen] } }
    }
    const make = graph({
      name: 'outer',
      state: {
        got: { schema: field<object>({}), reduce: (a: object, b: object) => ({ ...a, ...b }) },
      },
      nodes: { child: run, child2: run, 'child:2': run, many: { item: field<number>(), run } },
      edges: {
        start: () => ['child', 'child2', 'child:2', each('many', [0, 1])],
        child: 'end',
        child2: 'end',
        'child:2': 'end',
        many: 'end',
      },
    })
    const app = compile(make, { store: watched(await reopen(), keys) })
    const outcome = await app.run({ thread: 't', input: {} })
    if (outcome.status !== 'interrupted') throw new Error(`it is ${outcome.status}`)
    const asked = outcome.interruptions
    equal(new Set(asked.map(({ id }) => id)).size, 10, 'questions')
    equal(
      [...new Set(asked.map(({ ns }) => ns.join()))].sort(),
      ['child', 'child2', 'child:2', 'many#0', 'many#1'],
      'namespaces',
    )
    const answers = Object.fromEntries(
      asked.map(({ id, payload }) => [id, `to ${payload as string}`]),
    )
    const { state } = await compile(make, { store: await reopen() }).run({ thread: 't', answers })
    const whose = ['child', 'child2', 'child:2', 'many-0', 'many-1']
    const expected = whose.map((who) => [
      who,
      ['1', '2'].map((n) => [`${who}/${n}`, `to ${who}/${n}`]),
    ])
    equal(state.got, Object.fromEntries(expected), 'what each child had')
    const spaces = [...(await rowsOf(await reopen(), ['t/'])).keys()].flatMap(
      (key) => /\/c\/([^/]+)\//.exec(key)?.slice(1) ?? [],
    )
    equal(new Set(spaces).size, 11, 'spaces: the graph and ten children')
    for (const key of keys) checkKey(key)
  },
}
