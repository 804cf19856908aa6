// Rows are written once, whatever a thread does; branches read back right; bytes grow with what changed.
import { append, field, graph, memory, reduced, type Store } from 'heddle'
import { expect, test } from 'vitest'
import { keepBooks, mulberry32, Story } from './harness.ts'
import { rowsOf } from './portable.ts'

keepBooks()

/** A memory store that refuses to write a row twice; heads and index rows apart. */
function writtenOnce(): Store & { readonly bytes: Record<string, number> } {
  const store = memory()
  const written = new Set<string>()
  const bytes: Record<string, number> = {}
  return {
    ...store,
    bytes,
    async commit(batch) {
      const revision = await store.commit(batch)
      if (revision === undefined) return undefined
      for (const { key, value } of batch.puts ?? []) {
        const kind = /^t\/[^/]+\/(\w)\//.exec(key)?.[1] ?? key.slice(0, 1)
        bytes[kind] = (bytes[kind] ?? 0) + key.length + value.length
        if (/^[hdo]\//.test(key)) continue
        expect(written.has(key), `"${key}" is written once`).toBe(false)
        written.add(key)
      }
      return revision
    },
  }
}

/** Counts, lists what it counts, asks at every third number, works once in every node, and ends at `most`. */
function counter(most: number) {
  return graph({
    name: 'counter',
    state: {
      n: field(0),
      label: field('none'),
      list: reduced(field<string[]>([]), append),
      side: reduced(field<string[]>([]), append),
    },
    nodes: {
      async count({ n }, ctx) {
        const by = await ctx.once('w', () => `n${n}`)
        if (n % 3 === 2) return { n: n + 1, list: [`${by}=${String(await ctx.interrupt(n))}`] }
        return { n: n + 1, label: `l${n}` }
      },
      side: ({ n }) => (n % 4 === 0 ? { side: [`s${n}`] } : {}),
      next: () => {},
    },
    edges: {
      start: ['count', 'side'],
      count: 'next',
      side: 'next',
      next: ({ n }) => (n < most ? ['count', 'side'] : 'end'),
    },
  })
}

/** What the state must be from the numbers and the answers that led to it. */
function expected(answers: readonly string[], n: number): object {
  const plain = Array.from({ length: n }, (_, i) => i).filter((i) => i % 3 !== 2)
  return {
    n,
    label: plain.length === 0 ? 'none' : `l${plain.at(-1)}`,
    list: answers.map((answer, i) => `n${3 * i + 2}=${answer}`),
    side: Array.from({ length: Math.ceil(n / 4) }, (_, i) => `s${4 * i}`),
  }
}

for (let seed = 1; seed <= 12; seed++) {
  test(`branches from checkpoints by chance read back right, and no row is written twice (${seed})`, async () => {
    const random = mulberry32(seed)
    const store = writtenOnce()
    const durability = seed % 4 === 0 ? ('exit' as const) : ('step' as const)
    const story = new Story(() => counter(36), 'rebuilt from the store', { store, durability })
    // What was answered on the way to each checkpoint.
    const led = new Map<string, readonly string[]>()
    let answers: string[] = []
    let asked = await story.start()
    for (let round = 0; round < 24; round++) {
      const history = await story.history()
      for (const { checkpoint, parent } of history.toReversed())
        if (!led.has(checkpoint)) led.set(checkpoint, led.get(parent ?? '') ?? [])
      const before = await checked(history)
      // The newest checkpoint named is no other than none named: it waits for its answer.
      const others = history.slice(1)
      if (others.length > 0 && (random() < 0.25 || asked.status === 'success')) {
        const at = others[Math.floor(random() * others.length)]!
        answers = [...led.get(at.checkpoint)!]
        asked = await story.goOn({ from: at.checkpoint })
      } else {
        const answer = `r${round}`
        answers.push(answer)
        asked = await story.answerOne(answer)
      }
      expect(asked.state).toEqual(expected(answers, (asked.state as { n: number }).n))
      const chain = await story.history()
      const newest = chain.filter(({ checkpoint }) => !led.has(checkpoint))
      for (const one of newest.toReversed()) {
        const { list } = one.state as { list: string[] }
        led.set(one.checkpoint, answers.slice(0, list.length))
      }
      // What was there before is what it was.
      for (const [checkpoint, state] of before)
        expect((await story.snapshot(checkpoint)).state).toEqual(state)
    }

    async function checked(history: Awaited<ReturnType<Story['history']>>) {
      const states = new Map<string, unknown>()
      for (const { checkpoint, state } of history) {
        expect(state).toEqual(expected(led.get(checkpoint)!, (state as { n: number }).n))
        states.set(checkpoint, state)
      }
      return states
    }
  })
}

test('a thousand appends cost their own bytes three times at most, and little beside', async () => {
  const store = writtenOnce()
  const message = (n: number): { id: string; text: string } => ({
    id: `m${n}`,
    text: 'x'.repeat(122),
  })
  const size = JSON.stringify(message(100)).length
  expect(size).toBe(145)
  const make = () =>
    graph({
      name: 'appends',
      state: { n: field(0), messages: reduced(field<object[]>([]), append) },
      nodes: { add: ({ n }) => ({ n: n + 1, messages: [message(n)] }) },
      edges: { start: 'add', add: ({ n }) => (n < 1000 ? 'add' : 'end') },
    })
  const story = new Story(make, 'in process', { store, stepLimit: 1000 })
  const { state } = await story.start()
  expect(state.messages).toEqual(Array.from({ length: 1000 }, (_, n) => message(n)))
  const rows = await rowsOf(store)
  let lists = 0
  let rest = 0
  for (const [key, value] of rows) {
    if (/\/s\/[^/]+\.1\//.test(key)) lists += value.length
    else if (key.startsWith('t/')) rest += value.length
  }
  const { h = 0 } = store.bytes
  console.info(
    `lists ${(lists / 1000 / size).toFixed(2)} × the messages; other rows ${rest / 1000} B a step; heads ${h / 1000} B a step, keys included`,
  )
  expect(lists).toBeLessThanOrEqual(3 * 1000 * size)
  expect(rest).toBeLessThanOrEqual(650 * 1000)
})

test('a field that does not change costs nothing', async () => {
  const sizes = await Promise.all(
    [10, 100_000].map(async (length) => {
      const store = writtenOnce()
      const make = () =>
        graph({
          name: 'still',
          state: { n: field(0), big: field(''), list: reduced(field<string[]>([]), append) },
          nodes: { add: ({ n }) => ({ n: n + 1 }) },
          edges: { start: 'add', add: ({ n }) => (n < 100 ? 'add' : 'end') },
        })
      const story = new Story(make, 'in process', { store })
      await story.start({ big: 'x'.repeat(length), list: ['y'.repeat(length)] })
      expect((await story.snapshot()).state).toMatchObject({ n: 100 })
      return Object.values(store.bytes).reduce((a, b) => a + b, 0)
    }),
  )
  expect(sizes[1]! - sizes[0]!).toBe(2 * (100_000 - 10))
})
