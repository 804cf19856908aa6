import { expect, test } from 'vitest'
import { compile, field, graph, memory, type Schema } from 'heddle'
import { failure, keepBooks } from './harness.ts'

keepBooks()

const number: Schema<unknown, number> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) =>
      typeof value === 'number' ? { value } : { issues: [{ message: 'it is no number' }] },
  },
}

test('who repeats an answer that did not fit is refused as the first was', async () => {
  const asking = graph({
    name: 'asking',
    state: { n: field<number>(0) },
    nodes: { ask: async (_, ctx) => ({ n: await ctx.interrupt('n?', { schema: number }) }) },
    edges: { start: 'ask', ask: 'end' },
  })
  const app = compile(asking, { store: memory() })
  await app.run({ thread: 't', input: {} })
  const answer = { thread: 't', answer: 'many', idempotencyKey: 'k' }
  const { name, code, message } = (await failure(app.run(answer))) as Error & { code?: string }
  expect(code).toBe('schema_error')
  expect(await failure(app.run(answer))).toMatchObject({ name, code, message })
  expect((await app.run({ thread: 't', answer: 3 })).state).toEqual({ n: 3 })
})

test('who repeats a request whose run was exported on its way hears that it was cancelled there', async () => {
  let go = (): void => {}
  const gate = new Promise<void>((resolve) => (go = resolve))
  const waiting = graph({
    name: 'waiting',
    state: { n: field<number>(0) },
    nodes: {
      wait: async () => {
        await gate
        return { n: 1 }
      },
    },
    edges: { start: 'wait', wait: 'end' },
  })
  const request = { thread: 't', input: {}, idempotencyKey: 'k' }
  const here = compile(waiting, { store: memory() })
  const live = here.stream(request)
  await live.id
  const taken = await here.exportThread('t')
  const there = compile(waiting, { store: memory() })
  await there.importThread(taken)
  expect(await failure(there.run(request))).toMatchObject({ code: 'cancelled' })
  go()
  expect((await live.outcome).state).toEqual({ n: 1 })
  expect((await there.run({ thread: 't' })).state).toEqual({ n: 1 })
})
