// Node as if it had no AsyncLocalStorage.
import { compile, currentContext, field, graph, scoped } from 'heddle'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keepBooks } from '../behaviours/books.ts'
import { lost } from './current.suite.ts'

const { getBuiltinModule } = process
let asked: string[] = []
beforeAll(() => {
  process.getBuiltinModule = ((name: string) => void asked.push(name)) as never
})
afterAll(() => {
  process.getBuiltinModule = getBuiltinModule
})
keepBooks()

test('the platform is asked for it by the first scoped work, once: neither by importing nor by a graph', async () => {
  const app = compile(
    graph({
      name: 'plain',
      state: { n: field(0) },
      nodes: { one: () => ({ n: 1 }) },
      edges: { start: 'one', one: 'end' },
    }),
  )
  expect((await app.run({ thread: 't', input: {} })).state.n).toBe(1)
  expect(currentContext()).toBeUndefined()
  expect(asked).toEqual([])
  await scoped(() => scoped(() => 1))
  expect(asked).toEqual(['async_hooks'])
})

for (const { name, run } of lost) test(name, run)
