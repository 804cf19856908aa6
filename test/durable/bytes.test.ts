import { expect, test } from 'vitest'
import { append, compile, field, graph, memory, reduced, type Store } from 'heddle'

const bytes = (text: string): number => new TextEncoder().encode(text).length

/** A store that counts what is written, by the kind of row: `h` heads, `s` state, `c` checkpoints and so on. */
function counting(): { readonly store: Store; readonly written: Map<string, number> } {
  const inner = memory()
  const written = new Map<string, number>()
  const store: Store = {
    ...inner,
    async commit(batch) {
      for (const { key, value } of batch.puts ?? []) {
        const kind = key.startsWith('t/') ? key.split('/')[2]! : key[0]!
        const size = bytes(key) + bytes(value)
        written.set(kind, (written.get(kind) ?? 0) + size)
      }
      return inner.commit(batch)
    },
  }
  return { store, written }
}

const STEPS = 1000
const TEXT = 'The quick brown fox jumps over the lazy dog and then writes one more line of prose.'
const message = (i: number): { id: string; role: string; content: string } => ({
  id: `msg_${String(i).padStart(6, '0')}`,
  role: 'assistant',
  content: TEXT.padEnd(94, '.'),
})

test('1,000 appended messages: the list costs at most three times what it holds, a step 650 bytes more, heads included', async () => {
  const { store, written } = counting()
  const talk = graph({
    name: 'talk',
    state: { messages: reduced(field<object[]>([]), append), n: field<number>(0) },
    nodes: { say: async ({ n }) => ({ messages: [message(n)], n: n + 1 }) },
    edges: { start: 'say', say: ({ n }) => (n < STEPS ? 'say' : 'end') },
  })
  const app = compile(talk, { store, stepLimit: STEPS + 1 })
  const { state } = await app.run({ thread: 'thread-1', input: {} })
  const list = bytes(JSON.stringify(state.messages))
  expect(list / STEPS).toBeGreaterThan(145)
  expect(list / STEPS).toBeLessThan(150)
  const rows = await store.list({ prefix: 't/', limit: 1e6 })
  const isList = (key: string): boolean => /\/s\/[^/]*\.0\//.test(key)
  const lists = rows.filter(({ key }) => isList(key)).reduce((n, { value }) => n + bytes(value), 0)
  expect(lists).toBeGreaterThan(list)
  expect(lists).toBeLessThan(3 * list)
  const all = [...written.values()].reduce((sum, n) => sum + n, 0)
  const keys = rows.filter(({ key }) => isList(key)).reduce((n, { key }) => n + bytes(key), 0)
  const others = (all - lists - keys) / STEPS
  expect(others).toBeLessThan(650)
})

test('a field of 1 MB that nobody touches costs nothing a step', async () => {
  const cost = async (big: string): Promise<number> => {
    const { store, written } = counting()
    const steps = graph({
      name: 'steps',
      state: { big: field<string>(''), n: field<number>(0) },
      nodes: { next: ({ n }) => ({ n: n + 1 }) },
      edges: { start: 'next', next: ({ n }) => (n < 100 ? 'next' : 'end') },
    })
    await compile(steps, { store }).run({ thread: 't', input: { big } })
    return [...written.values()].reduce((sum, n) => sum + n, 0)
  }
  const extra = (await cost('x'.repeat(1_000_000))) - (await cost(''))
  expect(extra).toBe(1_000_000)
})
