import { expect, test } from 'vitest'
import { compile, field, graph, memory, type CompiledGraph } from 'heddle'
import { all, countingClock, failure, keepBooks } from './harness.ts'

keepBooks()

const short = graph({
  name: 'short',
  state: { n: field<number>(0) },
  nodes: { a: () => ({ n: 1 }) },
  edges: { start: 'a', a: 'end' },
})

test('an abort of a reader who waits leaves no timer', async () => {
  const clock = countingClock()
  const app = compile(short, { clock }) as CompiledGraph
  const control = new AbortController()
  const reading = all(app.subscribe('nobody', { signal: control.signal }))
  while (clock.live() === 0) await new Promise((resolve) => setTimeout(resolve))
  control.abort()
  expect(await reading).toEqual([])
  await Promise.resolve()
  expect(clock.live()).toBe(0)
})

test('a store that can not watch fails the reading, nothing else', async () => {
  const store = {
    ...memory(),
    watch(): never {
      throw new Error('it is closed')
    },
  }
  const app = compile(short, { store }) as CompiledGraph
  await app.run({ thread: 't', input: {} })
  expect(await failure(all(app.subscribe('t')))).toMatchObject({ message: 'it is closed' })
})
