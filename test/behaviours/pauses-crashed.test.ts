// B01–B03 on a store that fails: a crash at any operation loses no answer that was accepted and asks nothing twice.
import { describe, expect, test } from 'vitest'
import { append, field, graph, memory, reduced, type Context, type Store } from 'heddle'
import { manualClock, withFaults, type ManualClock } from 'heddle/testing'
import { atEvery, FAULTS } from './at-every.ts'
import { asks, failure, keepBooks, Story } from './harness.ts'

keepBooks()

for (const durability of ['step', 'exit'] as const) {
  for (const [name, fault] of Object.entries(FAULTS)) {
    describe(`steps stored by "${durability}"`, () => {
      test(`${name} any operation of the first run changes nothing in the end`, async () => {
        await atEvery(fault, async (faults) => {
          const { clock, open, paid } = world(durability)
          const faulty = withFaults(memory(), faults)
          await maybe(open(faulty).start())
          await finish(open(faulty.restart()), clock)
          expect(paid.size).toBe(2)
          return faulty.log.length
        })
      })

      test(`${name} any operation of an answer keeps it or leaves its question open`, async () => {
        await atEvery(fault, async (faults) => {
          const { clock, open } = world(durability)
          const store = memory()
          const asked = (await open(store).start()).open
          const { id } = asks(asked, 'p1')
          const faulty = withFaults(store, faults)
          const answered = await maybe(open(faulty).answer({ [id]: 'first' }))
          await clock.advance(61_000)
          const ids = (await open(store).open()).map((one) => one.id)
          expect(ids).toContain(asks(asked, 'p2').id)
          if (answered) expect(ids).not.toContain(id)

          // Whoever answers again is refused once the answer has been accepted.
          const accepted = !ids.includes(id)
          const again = open(store).answer({ [id]: 'second' })
          if (accepted) expect(await failure(again)).toMatchObject({ code: 'nothing_to_resume' })
          else await again
          const state = await finish(open(store), clock)
          expect(state).toEqual([`p1 ${accepted ? 'first' : 'second'}`, 'p2 for p2'])
          return faulty.log.length
        })
      })
    })
  }
}

/** Whether it went well; only a store or a process may fail it. */
async function maybe(promise: Promise<unknown>): Promise<boolean> {
  try {
    await promise
    return true
  } catch (error) {
    expect((error as Error).name).not.toBe('AssertionError')
    return false
  }
}

/** Answers and goes on until the thread has ended; what a node did before its question was done once. */
async function finish(story: Story, clock: ManualClock): Promise<unknown> {
  await clock.advance(61_000)
  for (let tries = 0; tries < 6; tries++) {
    const found = await story.app.state(story.thread)
    if (found?.status === 'success') break
    const [question] = await story.open()
    if (!found) await story.start()
    else if (question && found.status === 'interrupted')
      await story.answer({ [question.id]: `for ${question.payload}` })
    else await story.goOn()
  }
  const { status, state } = await story.snapshot()
  expect(status).toBe('success')
  const answered = await story.app.interruptions({ thread: story.thread, status: 'answered' })
  expect(answered.map(({ payload }) => payload).toSorted()).toEqual(['p1', 'p2'])
  expect(await story.app.interruptions()).toEqual([])
  const got = state['got'] as readonly string[]
  expect(got.map((line) => line.slice(0, 3))).toEqual(['p1 ', 'p2 '])
  return got
}

function world(durability: 'step' | 'exit'): {
  readonly clock: ManualClock
  readonly paid: Set<unknown>
  readonly open: (store: Store) => Story
} {
  const clock = manualClock()
  const paid = new Set<unknown>()
  const ask = (name: string) => async (_: unknown, ctx: Context) => {
    const key = await ctx.once('pay', () => ctx.task)
    paid.add(key)
    return { got: [`${name} ${await ctx.interrupt(name)}`] }
  }
  const make = () =>
    graph({
      name: 'crashed',
      state: { got: reduced(field<string[]>([]), append) },
      nodes: { p1: ask('p1'), p2: ask('p2') },
      edges: { start: ['p1', 'p2'], p1: 'end', p2: 'end' },
    })
  return {
    clock,
    paid,
    open: (store) => new Story(make, 'in process', { store, clock, durability }),
  }
}
