// A quality gate over pauses, crashes and new processes: each evaluation counts once.
import { compile, field, gate, gateEvent, graph, memory } from 'heddle'
import type { GateRecord, GateResult, Graph, RunContext } from 'heddle'
import { manualClock, withFaults } from 'heddle/testing'
import { expect, test } from 'vitest'
import { silent } from '../fakes/silent.ts'
import { eachWay, failure, keepBooks } from './harness.ts'

keepBooks()

interface Book {
  written: number
  evaluated: number
  entered: number
}

eachWay('a person decides after three failures, and may send the work back', async (open) => {
  const book: Book = { written: 0, evaluated: 0, entered: 0 }
  const story = open(() => essay(book, (n) => n === 5))
  const first = await story.start()
  expect(first.status).toBe('interrupted')
  expect(first.open.map(({ node, payload }) => ({ node, payload }))).toEqual([
    { node: 'person', payload: { draft: 'v3', reasons: ['v3 is dull'] } },
  ])
  expect(first.state['review']).toMatchObject({ passed: false, attempts: 3 })
  expect(book).toEqual({ written: 3, evaluated: 3, entered: 3 })

  const second = await story.answerOne('again')
  expect(second.status).toBe('success')
  expect(second.state).toMatchObject({ draft: 'v5', sent: 'v5' })
  expect(second.state['review']).toMatchObject({ passed: true, attempts: 2 })
  expect(book).toEqual({ written: 5, evaluated: 5, entered: 5 })
  expect(story.events('backend').map(({ data }) => said(data))).toEqual([
    ...['started 1', 'failed 1', 'started 2', 'failed 2', 'started 3', 'escalated 3'],
    ...['started 1', 'failed 1', 'started 2', 'passed 2'],
  ])
})

eachWay('a person may let the work go as it is', async (open) => {
  const book: Book = { written: 0, evaluated: 0, entered: 0 }
  const story = open(() => essay(book, () => false))
  await story.start()
  expect((await story.answerOne('send')).state).toMatchObject({ draft: 'v3', sent: 'v3' })
  expect(book.evaluated).toBe(3)
})

eachWay(
  'an evaluation that asks a person counts once, however often it is entered',
  async (open) => {
    const book: Book = { written: 0, evaluated: 0, entered: 0 }
    const asking = (): Graph => {
      const review = reviewing(async (_, ctx) => {
        book.entered++
        return { passed: (await ctx.interrupt('Is it good?')) === 'yes' }
      })
      return withReview(book, review)
    }
    const story = open(asking)
    await story.start()
    await story.answerOne('no')
    const { status, state } = await story.answerOne('yes')
    expect(status).toBe('success')
    expect(state['review']).toEqual({ passed: true, attempts: 2 } satisfies GateRecord)
    expect(book.entered).toBe(4)
  },
)

test('a crash at any write neither counts an attempt twice nor drops one', async () => {
  const calm = withFaults(memory())
  await run(calm, { written: 0, evaluated: 0, entered: 0 })
  const writes = calm.log.filter(({ op }) => op === 'commit').map(({ n }) => n)
  expect(writes.length).toBeGreaterThan(8)
  for (const at of writes) {
    for (const crash of ['before', 'after'] as const) {
      const book: Book = { written: 0, evaluated: 0, entered: 0 }
      const broken = withFaults(memory(), [{ at, crash }])
      await failure(run(broken, book))
      const clock = manualClock('2026-03-01T09:00:00Z')
      const again = compile(essay(book, never), { store: broken.restart(), clock, logger: silent })
      const known = await again.state('t')
      // What the last write did was all there was to do.
      const input = known === undefined ? { input: {} } : {}
      const last =
        known?.status === 'interrupted' ? known : await again.run({ thread: 't', ...input })
      expect(last.status, `a crash ${crash} ${at}`).toBe('interrupted')
      expect(last.state, `a crash ${crash} ${at}`).toMatchObject({
        draft: 'v3',
        review: { passed: false, attempts: 3 },
      })
      expect(book.evaluated).toBeLessThanOrEqual(4)
    }
  }
})

function essay(book: Book, passes: (n: number) => boolean): Graph {
  const review = reviewing(async ({ draft }) => {
    book.entered++
    const passed = passes(Number(draft.slice(1)))
    await Promise.resolve()
    book.evaluated++
    return { passed, reasons: passed ? [] : [`${draft} is dull`] }
  })
  return withReview(book, review)
}

function reviewing(
  evaluate: (state: { readonly draft: string }, ctx: RunContext) => Promise<GateResult>,
) {
  return gate({
    name: 'review',
    field: 'review',
    evaluate,
    pass: 'send',
    fail: 'write',
    escalate: 'person',
  })
}

function withReview(book: Book, review: ReturnType<typeof reviewing>): Graph {
  return graph({
    name: 'essay',
    state: { draft: field('v0'), review: field<GateRecord | null>(null), sent: field('') },
    events: gateEvent,
    nodes: {
      write: ({ draft }) => {
        book.written++
        return { draft: `v${Number(draft.slice(1)) + 1}` }
      },
      review,
      person: async ({ draft, review: last }, ctx) => {
        const answer = await ctx.interrupt({ draft, reasons: last?.reasons })
        return { sent: answer === 'send' ? draft : '' }
      },
      send: ({ draft }) => ({ sent: draft }),
    },
    edges: {
      start: 'write',
      write: 'review',
      review: 'end',
      person: ({ sent }) => (sent === '' ? 'write' : 'end'),
      send: 'end',
    },
  })
}

function never(): boolean {
  return false
}

async function run(store: ReturnType<typeof withFaults>, book: Book): Promise<void> {
  await compile(essay(book, never), { store, clock: manualClock(), logger: silent }).run({
    thread: 't',
    input: {},
  })
}

function said(data: unknown): string {
  const { phase, attempt } = data as { phase: string; attempt: number }
  return `${phase} ${attempt}`
}
