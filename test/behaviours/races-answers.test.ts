// Two requests for one thread at the same time, the second held up at each of its operations: it is told that it came
// late, never that the thread is damaged.
import { compile, graph, memory, type CompiledGraph, type Store } from 'heddle'
import { withFaults } from 'heddle/testing'
import { expect, it } from 'vitest'

import { keepBooks } from './harness.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

/** Time for whatever doesn't wait for a frozen operation. */
const turns = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 2))

/** How a request ended: a status, or what it was refused or failed with. */
const outcomeOf = (request: Promise<unknown>): Promise<unknown> =>
  request.then(
    (outcome) => (outcome as { status: string }).status,
    (error: { code?: string; message: string }) => error.code ?? error.message,
  )

/** One node asks, so that what the other has done waits in the journal. */
const desk = (store: Store): CompiledGraph =>
  compile(
    graph({
      name: 'desk',
      state: {},
      nodes: {
        async ask(_, ctx) {
          await ctx.interrupt('Is it good?')
        },
        other() {},
      },
      edges: { start: ['ask', 'other'], ask: 'end', other: 'end' },
    }),
    { store, logger: silent },
  )

/** What comes of the slow request for each operation that it may be held up at, and what is stored then. */
async function held(
  slow: (app: CompiledGraph) => Promise<unknown>,
  fast: (app: CompiledGraph) => Promise<unknown>,
): Promise<{ codes: Set<unknown>; statuses: Set<unknown> }> {
  const codes = new Set<unknown>()
  const statuses = new Set<unknown>()
  for (let at = 1; ; at++) {
    const store = memory()
    await desk(store).run({ thread: 't', input: {} })
    const late = withFaults(store, [{ at, freeze: true }])
    const outcome = outcomeOf(slow(desk(late)))
    await turns()
    if (late.log.length < at) break
    await fast(desk(store)).catch(() => {})
    late.release()
    codes.add(await outcome)
    statuses.add((await desk(store).state('t'))?.status)
  }
  return { codes, statuses }
}

const answer = (app: CompiledGraph) => app.run({ thread: 't', answer: 'yes' })

it('the loser of an answer race hears that somebody else has answered', async () => {
  const { codes, statuses } = await held(answer, answer)
  expect([...codes].sort()).toEqual(['nothing_to_resume', 'resume_conflict', 'success'])
  expect([...statuses]).toEqual(['success'])
})

it('an answer to a thread that is deleted meanwhile finds nothing to answer', async () => {
  const { codes } = await held(answer, (app) => app.delete('t'))
  for (const code of codes)
    expect(['nothing_to_resume', 'resume_conflict', 'cancelled', 'success']).toContain(code)
})

it('a run that only goes on and is overtaken by an answer is told so', async () => {
  const store = memory()
  let fails = true
  const app = (on: Store) =>
    compile(
      graph({
        name: 'mended',
        state: {},
        nodes: {
          a() {},
          async b() {
            await new Promise((resolve) => setTimeout(resolve, 1))
            if (fails) throw new Error('not yet')
          },
        },
        edges: { start: ['a', 'b'], a: 'end', b: 'end' },
      }),
      { store: on, logger: silent },
    )
  expect(await outcomeOf(app(store).run({ thread: 't', input: {} }))).toBe('not yet')
  fails = false
  // Held up between the head and the journal that it names.
  const late = withFaults(store, [{ at: 3, freeze: true }])
  const outcome = outcomeOf(app(late).run({ thread: 't' }))
  await turns()
  expect((await app(store).run({ thread: 't' })).status).toBe('success')
  late.release()
  expect(await outcome).toBe('thread_busy')
})
