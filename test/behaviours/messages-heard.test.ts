// What a monitor hears of messages: each once, when it is saved, however it was.
import {
  compile,
  field,
  graph,
  memory,
  messages,
  type CompiledGraph,
  type Graph,
  type MonitorEvent,
  type NewMessage,
  type Store,
} from 'heddle'
import { expect, test } from 'vitest'
import { silent } from '../fakes/silent.ts'
import { failure, keepBooks } from './harness.ts'

keepBooks()

const user = (text: string, id = text): NewMessage => ({ role: 'user', text, id })

interface Heard {
  readonly events: readonly MonitorEvent[]
  readonly kinds: () => string[]
  readonly open: (graph: Graph, durability?: 'step' | 'exit') => CompiledGraph
}

/** Apps on one store. */
function heard(): Heard {
  const events: MonitorEvent[] = []
  const store = memory()
  const tooEarly: string[] = []
  let saved = ''
  const watched: Store = {
    ...store,
    async commit(batch) {
      const done = await store.commit(batch)
      if (done !== undefined) for (const { value } of batch.puts ?? []) saved += value
      return done
    },
  }
  const emit = (event: MonitorEvent): void => {
    events.push(event)
    // Thrown here it would only be logged.
    if (event.kind === 'message' && !saved.includes(`"${event.id}"`)) tooEarly.push(event.id)
  }
  return {
    events,
    kinds() {
      expect(tooEarly, 'heard of before it was saved').toEqual([])
      return events
        .splice(0)
        .map((one) => (one.kind === 'message' ? `${one.role} ${one.id}` : one.kind))
    },
    open: (made, durability = 'step') =>
      compile(made, {
        store: watched,
        durability,
        logger: silent,
        monitor: { emit },
      }) as CompiledGraph,
  }
}

const talk = graph({
  name: 'talk',
  state: { chat: messages(), n: field(0) },
  nodes: {
    say: ({ n }) => ({
      chat: [user(`m${n}`), { role: 'assistant', text: '', id: `a${n}` }],
      n: n + 1,
    }),
    ask: (_, ctx) => ctx.interrupt('well?').then(() => {}),
    change: ({ chat }) => ({
      chat: [
        { ...chat[0]!, text: 'other' },
        { remove: 'm0' },
        user('m0'),
        user('z'),
        { remove: 'z' },
      ],
    }),
  },
  edges: { start: 'say', say: 'ask', ask: 'change', change: 'end' },
})

for (const durability of ['step', 'exit'] as const) {
  test(`each is heard of once, after what was saved with it (${durability})`, async () => {
    const { open, kinds, events } = heard()
    await open(talk, durability).run({ thread: 't', input: { chat: [user('hi')] } })
    expect(kinds()).toEqual(['run_start', 'user hi', 'user m0', 'assistant a0', 'run_interrupt'])
    await open(talk, durability).run({ thread: 't', answer: 1 })
    expect(kinds()).toEqual(['run_start', 'run_end'])
    const { run } = await open(talk, durability).run({
      thread: 't',
      input: { chat: [user('hi'), user('ho')] },
    })
    expect(new Set(events.map((event) => `${event.thread} ${event.run}`))).toEqual(
      new Set([`t ${run}`]),
    )
    expect(kinds()).toEqual(['run_start', 'user ho', 'user m1', 'assistant a1', 'run_interrupt'])
  })

  test(`a run that fails has told of what was saved, one that goes on tells of the rest (${durability})`, async () => {
    let broken = true
    const breaking = graph({
      name: 'breaking',
      state: { chat: messages() },
      nodes: {
        first: () => ({ chat: [user('a')] }),
        beside: () => ({ chat: [user('b')] }),
        breaks: async () => {
          await Promise.resolve()
          if (broken) throw new Error('broken')
          return { chat: [user('c')] }
        },
      },
      edges: { start: 'first', first: ['beside', 'breaks'], beside: 'end', breaks: 'end' },
    })
    const { open, kinds } = heard()
    await failure(open(breaking, durability).run({ thread: 't', input: {} }))
    expect(kinds()).toEqual(['run_start', 'user a', 'run_error'])
    broken = false
    await open(breaking, durability).run({ thread: 't' })
    expect(kinds()).toEqual(['run_start', 'user b', 'user c', 'run_end'])
  })
}

test('those of a child graph are heard of when they come to the thread', async () => {
  const outer = graph({
    name: 'outer',
    state: { chat: messages(), kept: field(false) },
    nodes: {
      ask: async ({ chat }, ctx) => {
        const inner = await ctx.child(talker, { chat })
        return { chat: inner.chat }
      },
    },
    edges: { start: 'ask', ask: 'end' },
  })
  const { open, kinds } = heard()
  await open(outer).run({ thread: 't', input: { chat: [user('hi')] } })
  expect(kinds()).toEqual(['run_start', 'user hi', 'user inner', 'run_end'])
})

const talker = graph({
  name: 'talker',
  state: { chat: messages() },
  nodes: { say: () => ({ chat: [user('inner')] }) },
  edges: { start: 'say', say: 'end' },
})

test('a branch tells of what is new on it, and a fork of nothing', async () => {
  const { open, kinds } = heard()
  const app = open(talker)
  const { checkpoint } = await app.run({ thread: 't', input: { chat: [user('hi')] } })
  kinds()
  await app.fork('t', { from: checkpoint, update: { chat: [user('new')] } })
  await app.fork('t', { from: checkpoint, to: 'u' })
  expect(kinds()).toEqual([])
  await app.run({ thread: 'u', input: { chat: [user('again')] } })
  expect(kinds()).toEqual(['run_start', 'user again', 'run_end'])
})

test('a monitor of one request hears of them, too, and one that throws changes nothing', async () => {
  const { open, kinds } = heard()
  const ids: string[] = []
  const monitor = {
    emit(event: MonitorEvent) {
      if (event.kind === 'message') ids.push(event.id)
      throw new Error('broken')
    },
  }
  const request = { thread: 't', input: { chat: [user('hi')] }, monitor }
  const { state } = await open(talker).run(request as never)
  expect(ids).toEqual(['hi', 'inner'])
  expect(state.chat).toHaveLength(2)
  expect(kinds()).toEqual(['run_start', 'user hi', 'user inner', 'run_end'])
})
