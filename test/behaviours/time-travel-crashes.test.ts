// B19 on a store that fails: a fork or a branch is there whole or not at all, and no child does again what it had done.
import { append, field, graph, memory, reduced, subgraph, type Graph, type Store } from 'heddle'
import { manualClock, withFaults } from 'heddle/testing'
import { describe, expect, test } from 'vitest'
import { atEvery, FAULTS } from './at-every.ts'
import { keepBooks, Story } from './harness.ts'

keepBooks()

const STORES: Readonly<Record<string, () => Store>> = {
  memory,
  'a store without atomic batches': () => {
    const store = memory()
    return { ...store, caps: { ...store.caps, atomic: false } }
  },
}

for (const [where, open] of Object.entries(STORES)) {
  for (const [name, fault] of Object.entries(FAULTS)) {
    describe(`${where}: ${name} any operation`, () => {
      test('of a fork leaves the thread as it was, or forked', async () => {
        await atEvery(fault, async (faults) => {
          const { clock, make, done } = world()
          const store = open()
          const { c, old } = await told(make, store, clock)
          const faulty = withFaults(store, faults)
          const forked = await maybe(app(make, faulty, clock).app.fork('t1', { from: c }))
          await clock.advance(61_000)
          const story = app(make, store, clock)
          expect(await story.app.tick()).toEqual({ woken: [], recovered: [] })
          const { status, source, parent } = await story.snapshot()
          if (forked) expect(source).toBe('fork')
          if (source === 'fork')
            expect({ status, parent }).toEqual({ status: 'starting', parent: c })
          else {
            expect(status).toBe('success')
            await story.app.fork('t1', { from: c })
          }
          await answered(story, old)
          expect(done).toEqual(['a', 'after no', 'after yes'])
          return faulty.log.length
        })
      })

      test('of a fork to another thread makes it whole or not, and never touches the first', async () => {
        await atEvery(fault, async (faults) => {
          const { clock, make, done } = world()
          const store = open()
          const { c, old, rows } = await told(make, store, clock)
          const faulty = withFaults(store, faults)
          const forked = await maybe(app(make, faulty, clock).app.fork('t1', { from: c, to: 't2' }))
          await clock.advance(61_000)
          for (const row of rows) expect(await app(make, store, clock).rows()).toContainEqual(row)
          const story = new Story(make, 'rebuilt from the store', { store, clock, thread: 't2' })
          const there = (await story.app.state('t2')) !== undefined
          if (forked) expect(there).toBe(true)
          if (!there) await story.app.fork('t1', { from: c, to: 't2' })
          await answered(story, old)
          expect(done).toEqual(['a', 'after no', 'after yes'])
          await story.app.delete('t2')
          expect(await story.rows()).toEqual(rows)
          return faulty.log.length
        })
      })

      test('of a run from a checkpoint does nothing of the child again', async () => {
        await atEvery(fault, async (faults) => {
          const { clock, make, done } = world()
          const store = open()
          const { c, old } = await told(make, store, clock)
          const faulty = withFaults(store, faults)
          await maybe(app(make, faulty, clock).goOn({ from: c }))
          await clock.advance(61_000)
          const story = app(make, store, clock)
          // A claim of a process that is gone is recovered.
          await story.app.tick()
          const { status, state } = await story.snapshot()
          if (status === 'success') {
            expect(state['got']).toEqual(['a', 'no', 'after no'])
            await story.app.fork('t1', { from: c })
          }
          await answered(story, old)
          expect(done).toEqual(['a', 'after no', 'after yes'])
          return faulty.log.length
        })
      })
    })
  }
}

/** Answers on the branch; what was asked on the line that was left can't be answered. */
async function answered(story: Story, old: string): Promise<void> {
  const found = await story.snapshot()
  if (found.status !== 'interrupted') await story.app.run({ thread: story.thread })
  const open = await story.open()
  expect(open).toMatchObject([{ payload: 'go?' }])
  expect(open[0]?.id).not.toBe(old)
  if (story.thread === 't1') await story.refuses({ answers: { [old]: 1 } }, 'unknown_interruption')
  const { state } = await story.app.run({ thread: story.thread, answer: 'yes' })
  expect(state).toMatchObject({ got: ['a', 'yes', 'after yes'] })
}

/** A thread that has ended, and the checkpoint before its question. */
async function told(make: () => Graph, store: Store, clock: ReturnType<typeof manualClock>) {
  const story = app(make, store, clock)
  const [question] = (await story.start()).open
  const { checkpoint: c } = await story.snapshot()
  await story.answerOne('no')
  return { c, old: question!.id, rows: await story.rows() }
}

const app = (make: () => Graph, store: Store, clock: ReturnType<typeof manualClock>): Story =>
  new Story(make, 'rebuilt from the store', { store, clock })

/** Whether it went well. */
async function maybe(promise: Promise<unknown>): Promise<boolean> {
  try {
    await promise
    return true
  } catch (error) {
    expect((error as Error).name).not.toBe('AssertionError')
    return false
  }
}

/** A child that works, asks and works; what was done is noted once a task. */
function world() {
  const done: string[] = []
  const inner = () =>
    graph({
      name: 'inner',
      state: { got: reduced(field<unknown[]>([]), append) },
      nodes: {
        a() {
          done.push('a')
          return { got: ['a'] }
        },
        ask: async (_, ctx) => ({ got: [await ctx.interrupt('go?')] }),
        async after({ got }, ctx) {
          await ctx.once('done', () => done.push(`after ${got.at(-1)}`))
          return { got: [`after ${got.at(-1)}`] }
        },
      },
      edges: { start: 'a', a: 'ask', ask: 'after', after: 'end' },
    })
  const make = (): Graph =>
    graph({
      name: 'outer',
      state: { got: reduced(field<unknown[]>([]), append) },
      nodes: { gate: subgraph(inner(), { input: () => ({}), output: ({ got }) => ({ got }) }) },
      edges: { start: 'gate', gate: 'end' },
    })
  return { clock: manualClock(), make, done }
}
