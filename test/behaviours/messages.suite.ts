// Lists of messages (B14): ids given once, whoever watches; replaced in place, removed by id, and stored as what changed.
import { compile, each, field, graph, messages, type Message, type StreamEvent } from 'heddle'
import { countingIds, manualClock } from 'heddle/testing'
import { silent } from '../fakes/silent.ts'
import { listed } from './messages-listed.ts'
import { options, saying, START, texts, user, type Update } from './messages-parts.ts'
import {
  all,
  casesOf,
  equal,
  refusedWith,
  rowsOf,
  type Case,
  type Cases,
  type Open,
} from './portable.ts'

const cases: Cases = {
  async 'messages without ids get one each, the same for whoever watches (B14)'(reopen) {
    const store = await reopen()
    const given = Object.freeze([Object.freeze(user('x')), Object.freeze(user('y'))])
    const said = saying(() => given)
    const input = Object.freeze({ chat: Object.freeze([Object.freeze(user('hi'))]) })
    const watch: Readonly<Record<string, (thread: string) => Promise<unknown>>> = {
      run: (thread) => compile(said, options(store)).run({ thread, input }),
      stream: async (thread) => all(compile(said, options(store)).stream({ thread, input })),
      'a hook': (thread) =>
        compile(
          said,
          options(store, { hooks: [{ afterNode: (_, now) => now, onEvent() {} }] }),
        ).run({
          thread,
          input,
        }),
      'a monitor': (thread) =>
        compile(said, options(store, { monitor: { emit() {} } })).run({ thread, input }),
      'nobody, and steps that are not stored': (thread) =>
        compile(said, options(store, { durability: 'exit' })).run({ thread, input }),
    }
    const seen: (readonly Message[])[] = []
    for (const [name, run] of Object.entries(watch)) {
      await run(name)
      const { state } = (await compile(said, options(await reopen())).state(name))!
      seen.push(state.chat)
    }
    const [first] = seen as [readonly Message[]]
    equal(texts(first), ['hi', 'x', 'y'], 'texts')
    equal(new Set(first.map(({ id }) => id)).size, 3, 'ids')
    equal(
      first.every(({ id, createdAt }) => id.startsWith('msg_') && createdAt === START),
      true,
      'what is given',
    )
    for (const other of seen) equal(other, first, 'what another sees')
    equal(given, [user('x'), user('y')], 'what the node returned')
  },

  async 'what is streamed, recorded and stored has the same ids (B14)'(reopen) {
    const app = compile(
      saying(() => [user('x'), user('y')]),
      options(await reopen()),
    )
    const events: StreamEvent[] = await all(app.stream({ thread: 't', input: {} }))
    const later = compile(
      saying(() => []),
      options(await reopen()),
    )
    const recorded: StreamEvent[] = []
    for await (const event of later.subscribe('t', { after: 0, run: events[0]!.run }))
      recorded.push(event)
    equal(recorded, events, 'what is recorded')
    const ended = events.find((event) => event.kind === 'node_end')
    const { chat } = (
      ended as unknown as { readonly update: { readonly chat: readonly Message[] } }
    ).update
    equal(chat, (await later.state('t'))!.state.chat, 'what is stored')
  },

  async 'an id replaces in place, the last of duplicates wins, and a removal removes (B14)'(
    reopen,
  ) {
    const store = await reopen()
    const came = async (thread: string, ...update: Update): Promise<string[]> => {
      const app = compile(
        saying(() => update),
        options(store),
      )
      const { state } = await app.run({ thread, input: { chat: [user('a', '1'), user('b', '2')] } })
      const again = await compile(
        saying(() => []),
        options(await reopen()),
      ).state(thread)
      equal(again!.state.chat, state.chat, 'what is stored')
      equal(await app.messages(thread), state.chat, 'what is listed')
      return state.chat.map(({ id, text }) => `${id}:${text}`)
    }
    const twice = await came('a', user('B', '2'), user('c', '3'), user('C', '3'))
    equal(twice, ['1:a', '2:B', '3:C'], 'replaced')
    equal(await came('b', { remove: '1' }, user('new', '1')), ['2:b', '1:new'], 'removed and new')
    equal(await came('c', user('new', '1'), { remove: '1' }), ['2:b'], 'new and removed')
    equal(await came('d', { remove: '1' }, { remove: '2' }), [], 'all removed')
  },

  async 'a removal of an id that is not there is refused, and nothing changes (B14)'(reopen) {
    const store = await reopen()
    const bad = saying(() => [user('x'), { remove: 'zzz' }])
    const app = compile(bad, options(store))
    const error = await refusedWith('schema_error', () =>
      app.run({ thread: 't', input: { chat: [user('a', '1')] } }),
    )
    equal(
      error.message,
      'Cannot accept field "chat" of node "say" in graph "saying": at "1.remove": There is no message "zzz"',
      'message',
    )
    equal(error.details.field, 'chat', 'field')
    equal(texts((await app.state('t'))?.state.chat), ['a'], 'state')
    const before = [...(await rowsOf(store))]
    await refusedWith('schema_error', () =>
      app.run({ thread: 't', input: { chat: [{ remove: 'no' } as never] } }),
    )
    await refusedWith('schema_error', () =>
      app.run({ thread: 'new', input: { chat: [{ remove: 'no' } as never] } }),
    )
    equal([...(await rowsOf(store))], before, 'rows')
    // Once it is gone it is not there.
    const twice = compile(
      saying(() => [{ remove: '1' }, { remove: '1' }]),
      options(store),
    )
    await refusedWith('schema_error', () =>
      twice.run({ thread: 'u', input: { chat: [user('a', '1')] } }),
    )
  },

  async 'what is entered again after a pause, a failure or a retry counts once (B14)'(reopen) {
    let tries = 0
    const asking = graph({
      name: 'asking',
      state: { chat: messages(), answers: field<readonly unknown[]>([]) },
      nodes: {
        first: () => ({ chat: [user('p'), user('q')] }),
        ask: async (_, ctx) => {
          const answers = [await ctx.interrupt('a?'), await ctx.interrupt('b?')]
          return { answers, chat: [user('x'), user('y')] }
        },
        beside: {
          retry: { attempts: 3, delay: 1 },
          run: () => {
            if (++tries % 3 !== 0) throw new Error('not yet')
            return { chat: [user('z')] }
          },
        },
        fail: () => {
          if (tries++ < 100) throw new Error('broken')
        },
      },
      edges: {
        start: ['ask', 'beside', 'first'],
        ask: 'fail',
        beside: 'end',
        first: 'end',
        fail: 'end',
      },
    })
    const ids = countingIds()
    const open = async () => compile(asking, { store: await reopen(), newId: ids, logger: silent })
    const first = await (await open()).run({ thread: 't', input: { chat: [user('hi')] } })
    equal(texts(first.state.chat), ['hi'], 'while it waits')
    await (await open()).run({ thread: 't', answer: 1 })
    await (await open()).run({ thread: 't', answer: 2 }).catch(() => {})
    const failed = (await (await open()).state('t'))!.state.chat
    equal(texts(failed), ['hi', 'p', 'q', 'x', 'y', 'z'], 'after the failure')
    tries = 100
    const { state } = await (await open()).run({ thread: 't' })
    equal(state.chat, failed, 'in the end')
    equal(new Set(state.chat.map(({ id }) => id)).size, 6, 'ids')
  },

  async 'nodes of one step add in the order of the graph, and tasks in that of their items'(
    reopen,
  ) {
    const many = graph({
      name: 'many',
      state: { chat: messages() },
      nodes: {
        a: async () => {
          for (let turn = 0; turn < 5; turn++) await Promise.resolve()
          return { chat: [user('a'), user('both', 'b'), { remove: '1' }] }
        },
        task: { item: field<string>(), run: (_, ctx) => ({ chat: [user(ctx.item)] }) },
        c: () => ({ chat: [user('both, later', 'b'), { remove: '1' }] }),
      },
      edges: {
        start: () => ['c', each('task', ['t0', 't1', 't2']), 'a'],
        a: 'end',
        task: 'end',
        c: 'end',
      },
    })
    const app = compile(many, options(await reopen()))
    const { state } = await app.run({ thread: 't', input: { chat: [user('old', '1')] } })
    const expected = ['a', 'both, later', 't0', 't1', 't2']
    equal(texts(state.chat), expected, 'state')
    equal(texts(await app.messages('t')), expected, 'what is listed')
    equal(texts(await app.messages('t', { limit: 4 })), expected.slice(1), 'the last of them')
    const later = compile(many, options(await reopen()))
    equal((await later.state('t'))!.state.chat, state.chat, 'what is stored')
  },

  async 'a node that returns everything adds what is new'(reopen) {
    const store = await reopen()
    const inner = saying((list) => [user(`answer to ${list.at(-1)?.text}`)])
    const outer = graph({
      name: 'outer',
      state: { chat: messages() },
      nodes: { ask: async ({ chat }, ctx) => ({ chat: (await ctx.child(inner, { chat })).chat }) },
      edges: { start: 'ask', ask: 'end' },
    })
    const app = compile(outer, options(store))
    await app.run({ thread: 't', input: { chat: [user('one')] } })
    const events = await all(app.stream({ thread: 't', input: { chat: [user('two')] } }))
    const ended = events.find((event) => event.kind === 'node_end') as { readonly update?: object }
    const { chat } = (ended.update ?? {}) as { readonly chat: readonly Message[] }
    equal(texts(chat), ['answer to two'], 'what the node changed')
    const expected = ['one', 'answer to one', 'two', 'answer to two']
    equal(texts(await app.messages('t')), expected, 'messages')
    const again = compile(outer, options(await reopen()))
    equal(texts((await again.state('t'))!.state.chat), expected, 'state')
  },

  async 'one that replaces another keeps its time, unless it brings its own'(reopen) {
    const store = await reopen()
    const clock = manualClock(START)
    const app = compile(
      saying(() => [
        user('A', '1'),
        { ...user('B', '2'), createdAt: '2025-01-01T00:00:00Z' } as Message,
      ]),
      options(store, { clock }),
    )
    const input = { chat: [user('a', '1'), user('b', '2')] }
    const paused = compile(saying(), options(store, { clock }))
    await paused.run({ thread: 't', input })
    await clock.advance(5_000)
    const { state } = await app.run({ thread: 't', input: { chat: [user('c', '3')], step: 0 } })
    equal(texts(state.chat), ['A', 'B', 'c'], 'texts')
    const times = state.chat.map(({ createdAt }) => createdAt)
    equal(times, [START, '2025-01-01T00:00:00Z', '2026-01-01T00:00:05.000Z'], 'times')
  },

  async 'bytes, dates and members that are not known come back as they were'(reopen) {
    const file = { mediaType: 'image/png', data: Uint8Array.of(0, 1, 254, 255) }
    const odd = { ...user('x', '1'), files: [file], at: new Date(7), tags: new Set(['a']) }
    const app = compile(
      saying(
        () => [odd],
        () => [{ ...odd, text: 'y' }],
      ),
      options(await reopen()),
    )
    const { state } = await app.run({ thread: 't', input: {} })
    const expected = [{ ...odd, text: 'y', createdAt: START }]
    equal(state.chat as unknown, reordered(state.chat, expected), 'state')
    const later = compile(saying(), options(await reopen()))
    equal((await later.state('t'))!.state.chat, state.chat, 'what is stored')
    equal(await later.messages('t'), state.chat, 'what is listed')
  },

  async 'a message that can not be stored fails its step, which names where'(reopen) {
    const bad = {
      role: 'tool',
      text: '',
      tool: 't',
      call: 'c',
      status: 'success',
      value: { at: [() => 1] },
    } as const
    const app = compile(
      saying(() => [user('x'), bad]),
      options(await reopen()),
    )
    const error = await refusedWith('unserializable_value', () =>
      app.run({ thread: 't', input: {} }),
    )
    equal(error.details.path, 'chat[1].value.at[0]', 'path')
    equal(error.details.node, 'say', 'node')
    equal(await app.messages('t'), [], 'messages')
  },
}

/** The same with the members in the order of another: that of objects isn't looked at otherwise. */
function reordered(like: readonly object[], values: readonly object[]): unknown {
  return values.map((value, n) =>
    Object.fromEntries(Object.keys(like[n] as object).map((key) => [key, value[key as never]])),
  )
}

/** The cases, against stores of the place we run in. */
export function suite(open: Open): readonly Case[] {
  return casesOf('messages', open, { ...cases, ...listed })
}
