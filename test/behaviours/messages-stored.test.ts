// What messages cost in a store, and what becomes of them when threads are moved, pruned or read by another graph.
import * as z from 'zod'
import {
  append,
  compile,
  field,
  graph,
  memory,
  messages,
  reduced,
  type Graph,
  type Message,
  type NewMessage,
  type Store,
} from 'heddle'
import { countingIds, manualClock } from 'heddle/testing'
import { describe, expect, it, test } from 'vitest'
import { silent } from '../fakes/silent.ts'
import { all, failure, keepBooks, rowsOf, Story } from './harness.ts'

keepBooks()

const user = (text: string, more: object = {}): NewMessage => ({ role: 'user', text, ...more })
const texts = (list: unknown): string[] => (list as Message[]).map(({ text }) => text)

/** One more message in each turn, from a node that returns all there are. */
const chatting = graph({
  name: 'chatting',
  state: { chat: messages(), other: field('x'.repeat(1_000)) },
  nodes: { reply: ({ chat }) => ({ chat: [...chat, user('a reply')] }) },
  edges: { start: 'reply', reply: 'end' },
})

describe('what is stored', () => {
  it('grows with the messages, though a node returns all of them every time', async () => {
    const bytes = async (turns: number): Promise<number> => {
      const store = memory()
      const app = compile(chatting, { store, clock: manualClock(), newId: countingIds() })
      for (let turn = 0; turn < turns; turn++)
        await app.run({ thread: 't', input: { chat: [user('a question')] } })
      expect((await app.messages('t', { limit: 1000 })).length).toBe(2 * turns)
      return (await rowsOf(store)).reduce((sum, { value }) => sum + value.length, 0)
    }
    const [some, more] = [await bytes(20), await bytes(160)]
    // Eight times as many; what is written again every 32nd time adds a little.
    expect(more / some).toBeLessThan(10)
  })

  it('is no longer for what tasks of a step return while others still run', async () => {
    const store = memory()
    const two = graph({
      name: 'two',
      state: { chat: messages() },
      nodes: {
        all: ({ chat }) => ({ chat: [...chat, user('new')] }),
        wait: (_, ctx) => ctx.interrupt('well?').then(() => {}),
      },
      edges: { start: ['all', 'wait'], all: 'end', wait: 'end' },
    })
    const app = compile(two, { store, logger: silent })
    await app.run({ thread: 't', input: { chat: [user('x'.repeat(10_000))] } })
    const kept = (await rowsOf(store)).filter(({ value }) => value.includes('xxx'))
    expect(kept).toHaveLength(1)
    expect(texts((await app.run({ thread: 't', answer: 1 })).state.chat).at(-1)).toBe('new')
  })

  it('is read from its end, as far as it is asked for', async () => {
    const store = memory()
    let read = 0
    const counting: Store = {
      ...store,
      get: async (keys) => {
        const found = await store.get(keys)
        for (const entry of found) read += entry?.value.length ?? 0
        return found
      },
    }
    const app = compile(chatting, { store, clock: manualClock(), newId: countingIds() })
    for (let turn = 0; turn < 300; turn++) await app.run({ thread: 't', input: {} })
    const reader = compile(chatting, { store: counting })
    const cost = async (limit: number): Promise<number> => {
      read = 0
      expect(await reader.messages('t', { limit })).toHaveLength(limit)
      return read
    }
    const [few, everything] = [await cost(5), await cost(300)]
    expect(everything / few).toBeGreaterThan(8)
  })

  it('leaves out what has come and gone, at the next turn', async () => {
    const store = memory()
    const window = graph({
      name: 'window',
      state: { chat: messages() },
      nodes: {
        keep: ({ chat }) => ({ chat: chat.slice(0, -2).map(({ id }) => ({ remove: id })) }),
      },
      edges: { start: 'keep', keep: 'end' },
    })
    const app = compile(window, { store, clock: manualClock(), newId: countingIds() })
    for (let turn = 0; turn < 200; turn++)
      await app.run({ thread: 't', input: { chat: [user(`${turn}`)] } })
    expect(texts(await app.messages('t'))).toEqual(['198', '199'])
    const { checkpoint } = (await app.state('t'))!
    await app.prune('t', { keepLast: 1 })
    expect((await app.state('t'))?.checkpoint).toBe(checkpoint)
    const left = (await rowsOf(store)).filter(({ key }) => key.includes('/s/'))
    expect(left.reduce((sum, { value }) => sum + value.length, 0)).toBeLessThan(12_000)
    expect(
      texts((await app.run({ thread: 't', input: { chat: [user('x')] } })).state.chat),
    ).toEqual(['199', 'x'])
  })
})

/** Asks first, then shows its state. */
const asking = (state: object, more: object = {}): Graph =>
  graph({
    name: 'asking',
    ...more,
    state: { answer: field<unknown>(undefined), ...state },
    nodes: {
      first: () => {},
      ask: async (_: unknown, ctx: { interrupt(): Promise<unknown> }) => ({
        answer: await ctx.interrupt(),
        chat: [user('new')],
      }),
    },
    edges: { start: 'first', first: 'ask', ask: 'end' },
  } as never)

/** A thread of the old graph that waits for its answer, seen by the new one. */
async function grown(old: Graph, now: Graph, input: object): Promise<Story> {
  const store = memory()
  await new Story(() => old, 'in process', { store }).start(input)
  return new Story(() => now, 'rebuilt from the store', { store })
}

const LISTS: Readonly<Record<string, object>> = {
  'a list that grows': reduced(z.array(z.any()).default([]), append),
  'a plain field': z.array(z.any()).default([]),
}

describe('a graph that has changed', () => {
  test.each(Object.entries(LISTS))('makes messages of %s, with ids that stay', async (_, chat) => {
    const old = [user('a', { by: 'Ann' }), user('b', { id: 'mine' })]
    const story = await grown(asking({ chat }), asking({ chat: messages() }), { chat: old })
    const { state } = await story.snapshot()
    const seen = state['chat'] as readonly Message[]
    expect(seen).toMatchObject([
      { text: 'a', by: 'Ann' },
      { id: 'mine', text: 'b' },
    ])
    expect(seen.every(({ id, createdAt }) => id && createdAt)).toBe(true)
    expect((await story.snapshot()).state).toEqual(state)
    expect(await story.app.messages('t1')).toEqual(seen)
    expect(await story.app.messages('t1', { limit: 1 })).toEqual(seen.slice(1))
    const ended = (await story.answerOne(1)).state['chat'] as readonly Message[]
    expect(ended.slice(0, 2)).toEqual(seen)
    expect(texts(ended)).toEqual(['a', 'b', 'new'])
    expect((await story.snapshot()).state['chat']).toEqual(ended)
    expect(await story.app.messages('t1')).toEqual(ended)
  })

  test.each(Object.entries(LISTS))(
    'refuses to make messages of what is none in %s',
    async (_, chat) => {
      const story = await grown(asking({ chat }), asking({ chat: messages() }), { chat: ['a'] })
      const before = await story.rows()
      const error = await failure(story.answerOne(1))
      expect(error).toMatchObject({
        code: 'schema_error',
        details: { graph: 'asking', field: 'chat' },
        message: expect.stringContaining('at "0": Expected a message'),
      })
      expect(await failure(story.app.messages('t1'))).toMatchObject({ code: 'schema_error' })
      expect(await story.rows()).toEqual(before)
      // To look is not refused.
      expect((await story.snapshot()).state['chat']).toEqual(['a'])
    },
  )

  test.each(Object.entries(LISTS))('makes %s of messages', async (_, chat) => {
    const now = asking({ chat })
    const story = await grown(asking({ chat: messages() }), now, { chat: [user('a'), user('b')] })
    const seen = (await story.snapshot()).state['chat'] as readonly Message[]
    expect(texts(seen)).toEqual(['a', 'b'])
    expect(await story.app.messages('t1')).toEqual([])
    const ended = (await story.answerOne(1)).state['chat']
    expect(texts(ended)).toEqual(_ === 'a plain field' ? ['new'] : ['a', 'b', 'new'])
    expect((await story.snapshot()).state['chat']).toEqual(ended)
  })

  it('migrates them', async () => {
    const now = asking(
      { chat: messages() },
      {
        version: 2,
        migrate: (old: { readonly chat: readonly Message[] }) => ({
          ...old,
          chat: [
            user('first'),
            ...old.chat.map((one) => ({ ...one, text: one.text.toUpperCase() })),
          ],
        }),
      },
    )
    const story = await grown(asking({ chat: messages() }), now, { chat: [user('a')] })
    const { state } = await story.snapshot()
    expect(texts(state['chat'])).toEqual(['first', 'A'])
    expect((await story.snapshot()).state).toEqual(state)
    expect(await story.app.messages('t1')).toEqual(state['chat'])
    expect(texts((await story.answerOne(1)).state['chat'])).toEqual(['first', 'A', 'new'])
  })

  it('takes over what had finished beside a question', async () => {
    const beside = (chat: object): Graph =>
      graph({
        name: 'beside',
        state: { chat },
        nodes: {
          say: () => ({ chat: [user('x'), user('y')] }),
          ask: (_: unknown, ctx: { interrupt(): Promise<unknown> }) =>
            ctx.interrupt().then(() => {}),
        },
        edges: { start: ['say', 'ask'], say: 'end', ask: 'end' },
      } as never)
    const story = await grown(beside(LISTS['a list that grows'] as object), beside(messages()), {})
    const ended = (await story.answerOne(1)).state['chat'] as readonly Message[]
    expect(texts(ended)).toEqual(['x', 'y'])
    expect(new Set(ended.map(({ id }) => id)).size).toBe(2)
  })
})

describe('a thread with messages', () => {
  const rewriting = graph({
    name: 'rewriting',
    state: { chat: messages(), n: field(0) },
    nodes: {
      go: ({ chat, n }) => ({
        n: n + 1,
        chat: [
          user(`m${n}`, { files: [{ mediaType: 'a/b', data: Uint8Array.of(n) }] }),
          ...(chat.length > 1
            ? [{ ...chat[0]!, text: `first of ${n}` }, { remove: chat[1]!.id }]
            : []),
        ],
      }),
    },
    edges: { start: 'go', go: ({ n }) => (n < 50 ? 'go' : 'end') },
  })

  it('is exported, imported and pruned as it is', async () => {
    const from = compile(rewriting, { store: memory(), clock: manualClock() })
    const store = memory()
    const to = compile(rewriting, { store, clock: manualClock() })
    const { state } = await from.run({ thread: 't', input: {} })
    const value = JSON.parse(JSON.stringify(await from.exportThread('t'))) as never
    await to.importThread(value)
    const past = await all(from.history('t'))
    expect(await all(to.history('t'))).toEqual(past)
    expect(await to.messages('t')).toEqual(state.chat)
    expect((await to.prune('t', { keepLast: 3 })).removed).toBe(past.length - 3)
    expect(await all(to.history('t'))).toEqual(past.slice(0, 3))
    expect(await to.messages('t')).toEqual(state.chat)
    const next = await to.run({ thread: 't', input: { chat: [user('more')], n: 49 } })
    expect(texts(next.state.chat).slice(-2)).toEqual(['more', 'm49'])
    expect(await compile(rewriting, { store }).messages('t')).toEqual(next.state.chat)
  })

  it('says in its history which run and checkpoint first had each', async () => {
    const app = compile(rewriting, { store: memory() })
    const first = await app.run({ thread: 't', input: { n: 49 } })
    const second = await app.run({ thread: 't', input: { chat: [user('hi')], n: 49 } })
    const runs = new Map<string, string>()
    for (const { state, run } of (await all(app.history('t'))).toReversed())
      for (const { text } of state.chat) if (!runs.has(text)) runs.set(text, run)
    expect(Object.fromEntries(runs)).toMatchObject({ m49: first.run, hi: second.run })
  })
})
