// B15: the value after a reload is the value that was stored, and the same as in process. On every store.
import { append, compile, each, field, graph, merge, reduced } from 'heddle'
import { all, casesOf, equal, type Case, type Open } from './portable.ts'

const shared = { n: 1 }

/** What can be stored, made anew at each call, and what it is when it comes back if that isn't the same. */
const rows: Readonly<Record<string, readonly [made: () => unknown, back?: () => unknown]>> = {
  epoch: [() => new Date(0)],
  noDate: [() => new Date(Number.NaN)],
  map: [
    () =>
      new Map<unknown, unknown>([
        ['b', 1],
        ['a', {}],
        [{ k: 1 }, [new Date(1)]],
        [Number.NaN, -0],
      ]),
  ],
  set: [() => new Set([2, 1, '2', undefined])],
  bigints: [() => [10n ** 30n, -1n, 0n]],
  bytes: [() => Uint8Array.of(1, 2, 3, 4).subarray(1, 3), () => Uint8Array.of(2, 3)],
  moreBytes: [
    () => [new Float64Array([Number.NaN, -0]), new BigInt64Array([-1n]), Uint8Array.of(7).buffer],
  ],
  undefinedMember: [() => ({ a: undefined })],
  undefinedItem: [() => [undefined]],
  // A hole becomes `undefined`, in process too.
  // oxlint-disable-next-line no-sparse-arrays -- it is what is tested
  hole: [() => [, 1], () => [undefined, 1]],
  undefined: [() => undefined],
  numbers: [() => [Number.NaN, Infinity, -Infinity, -0, 1e21, 0.1 + 0.2, 2 ** 53 + 2, 5e-324]],
  minusZero: [() => -0],
  false: [() => false],
  zero: [() => 0],
  empty: [() => ''],
  null: [() => null],
  emptyParts: [() => [{}, [], new Map(), new Set()]],
  text: [
    () => [
      '\ud83d',
      '\ude00\ud83d',
      'a\u0000b',
      '\u2028',
      '\ufeff',
      '\\u0000',
      '😀',
      '\u00e9',
      'e\u0301',
    ],
  ],
  likeTags: [() => ({ $type: 'Date', value: 'x', tags: [['Date']], '~heddle': 'goto', l: [1] })],
  likeRows: [() => [[null, [['Date']]], [0, [['Date']]], { l: [1] }, ['x', null]]],
  keys: [
    () =>
      JSON.parse(
        '{"__proto__":{"a":1},"constructor":[2],"toString":3,"":4," ":5,"a.b":6,"10":7,"9":8}',
      ) as unknown,
  ],
  bare: [() => Object.assign(Object.create(null) as object, { a: 1 }), () => ({ a: 1 })],
  twice: [() => [shared, shared], () => [{ n: 1 }, { n: 1 }]],
  error: [
    () =>
      Object.assign(new RangeError('far', { cause: new Error('near') }), {
        code: 7,
        at: new Date(5),
      }),
  ],
  deep: [() => ({ a: [{ b: new Map([['c', new Set([[new Date(2), undefined]])]]) }] })],
}
const names = Object.keys(rows)
const made = (): Record<string, unknown> => record((name) => rows[name]![0]())
const back = (): Record<string, unknown> => record((name) => (rows[name]![1] ?? rows[name]![0])())
const record = (of: (name: string) => unknown): Record<string, unknown> =>
  Object.fromEntries(names.map((name) => [name, of(name)]))

const any = () => field<unknown>(undefined)

/** The cases, against stores of the place we run in. */
export function suite(open: Open): readonly Case[] {
  return casesOf('values', open, {
    async 'every field of a state comes back as it was, in process and after a reload'(reopen) {
      const seen: unknown[] = []
      const look = (state: object): void => void seen.push({ ...state })
      const make = graph({
        name: 'fields',
        state: record(any) as Record<string, ReturnType<typeof any>>,
        nodes: {
          one: () => made(),
          two: async (state, ctx) => {
            look(state)
            await ctx.interrupt('?')
          },
          three: look,
        },
        edges: { start: 'one', one: 'two', two: 'three', three: 'end' },
      })
      for (const durability of ['step', 'exit'] as const) {
        seen.length = 0
        const thread = durability
        await compile(make, { store: await reopen() }).run({ thread, input: {}, durability })
        const app = compile(make, { store: await reopen() })
        const { state } = await app.run({ thread, answer: 1, durability })
        equal(seen.length, 3, 'looks')
        for (const one of [...seen, state]) equalRows(one)
        const stored = await compile(make, { store: await reopen() }).state(thread)
        equalRows(stored?.state)
        equalRows((await all(app.history(thread)))[0]?.state)
      }
    },

    async 'an input comes back as it was given, also as a second turn'(reopen) {
      const make = graph({
        name: 'input',
        state: { a: any(), list: reduced(field<unknown[]>([]), append) },
        nodes: { n: () => {} },
        edges: { start: 'n', n: 'end' },
      })
      for (const turn of [1, 2]) {
        const input = { a: made(), list: Object.values(made()) }
        await compile(make, { store: await reopen() }).run({ thread: 't', input })
        const stored = await compile(make, { store: await reopen() }).state('t')
        equalRows(stored?.state.a)
        equal(stored?.state.list.length, turn * names.length, 'items')
        equalRows(
          record((name) => stored?.state.list[(turn - 1) * names.length + names.indexOf(name)]),
        )
      }
    },

    async 'reduced fields hold their values exactly, folded in process and after a reload'(reopen) {
      const seen: unknown[] = []
      const make = graph({
        name: 'reduced',
        state: {
          list: reduced(field<unknown[]>([]), append),
          merged: reduced(field<Record<string, unknown>>({}), merge),
          own: reduced(field<unknown[]>([]), (a: unknown[], b: unknown) => [...a, b]),
        },
        nodes: {
          one: () => ({ list: Object.values(made()), merged: made(), own: made() }),
          two: async (state, ctx) => {
            look(state)
            await ctx.interrupt('?')
            return { list: Object.values(made()), merged: made(), own: made() }
          },
          three: (state) => look(state, 2),
        },
        edges: { start: 'one', one: 'two', two: 'three', three: 'end' },
      })
      await compile(make, { store: await reopen() }).run({ thread: 't', input: {} })
      await compile(make, { store: await reopen() }).run({ thread: 't', answer: null })
      look((await compile(make, { store: await reopen() }).state('t'))!.state, 2)
      equal(seen.length, 4, 'looks')

      function look(state: { list: unknown[]; merged: object; own: unknown[] }, times = 1): void {
        seen.push(state)
        equalRows(state.merged)
        equal(state.own.length, times, 'folded')
        for (const one of state.own) equalRows(one)
        for (let n = 0; n < times; n++)
          equalRows(record((name) => state.list[n * names.length + names.indexOf(name)]))
      }
    },

    async 'items, payloads, answers, work done once, children and events hold their values'(
      reopen,
    ) {
      const seen: Record<string, unknown> = {}
      const note = (what: string, value: unknown): void => {
        equalRows(value)
        seen[what] = true
      }
      const child = graph({
        name: 'child',
        state: { v: any() },
        nodes: {
          async c({ v }, ctx) {
            note('child sees', v)
            note('child is answered', await ctx.interrupt(v, { key: 'child' }))
          },
        },
        edges: { start: 'c', c: 'end' },
      })
      const make = graph({
        name: 'routes',
        state: { got: reduced(field<unknown[]>([]), append) },
        events: field<unknown>(),
        nodes: {
          async ask(_, ctx) {
            await ctx.emit(made())
            note('once', await ctx.once('w', made))
            note('past wait', await ctx.wait('2020-01-01T00:00:00Z', made()))
            const answer = await ctx.interrupt(made(), { key: 'own' })
            note('answer', answer)
            return { got: [answer] }
          },
          async timer(_, ctx) {
            const value = await ctx.wait('2100-01-01T00:00:00Z', made())
            note('timer answered', value)
          },
          async inner(_, ctx) {
            const { v } = await ctx.child(child, { v: made() })
            note('child gives', v)
          },
          item: {
            item: field<unknown>(),
            run: (_, ctx) => note('item', ctx.item),
          },
        },
        edges: {
          start: () => ['ask', 'timer', 'inner', each('item', [made()])],
          ask: 'end',
          timer: 'end',
          inner: 'end',
          item: 'end',
        },
      })
      const app = compile(make, { store: await reopen() })
      for await (const event of app.stream({ thread: 't', input: {} })) {
        if (event.kind === 'backend') note('event', event.data)
        if (event.kind === 'interrupt')
          note(`asked ${event.interruption.key}`, event.interruption.payload)
        if (event.kind === 'wait') note('timer told', event.payload)
      }
      const later = compile(make, { store: await reopen() })
      const { interruptions, timers } = (await later.state('t'))!
      for (const { payload } of interruptions) note('question stored', payload)
      for (const { payload } of timers) note('timer stored', payload)
      const answers = Object.fromEntries(
        [...interruptions, ...timers].map(({ id }) => [id, made()]),
      )
      const { state } = await later.run({ thread: 't', answers })
      note('answer in the state', state.got[0])
      const last = compile(make, { store: await reopen() })
      for (const { answer } of await last.interruptions({ thread: 't', status: 'answered' }))
        note('answer stored', answer)
      equal(Object.keys(seen).length, 16, `routes (${Object.keys(seen).join(', ')})`)
    },
  })
}

function equalRows(value: unknown): void {
  const found = value as Record<string, unknown>
  equal(Object.keys(found ?? {}), names, 'members')
  const expected = back()
  for (const name of names) equal(found[name], expected[name], name)
  const bytes = found['bytes'] as Uint8Array
  equal(bytes.buffer.byteLength, 2, 'bytes behind the window')
}
