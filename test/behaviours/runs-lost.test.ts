import { expect, test } from 'vitest'
import { compile, field, graph, memory } from 'heddle'
import { manualClock, withFaults } from 'heddle/testing'
import { all, keepBooks } from './harness.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

test('a run whose process died is on record as lost once another goes on, and as it was until then', async () => {
  const clock = manualClock('2026-01-01T00:00:00Z')
  const data = memory()
  const steps = graph({
    name: 'steps',
    state: { n: field<number>(0) },
    nodes: { one: ({ n }) => ({ n: n + 1 }), two: ({ n }) => ({ n: n + 1 }) },
    edges: { start: 'one', one: 'two', two: 'end' },
  })
  const dying = withFaults(data, [{ at: 4, crash: 'before' }])
  const first = compile(steps, { store: dying, clock, logger: silent }).run({
    thread: 't',
    input: {},
  })
  await first.catch(() => {})
  expect(dying.crashed).toBe(true)
  const app = compile(steps, { store: data, clock })
  expect((await all(app.runs('t')))[0]!.status).toBe('running')
  await clock.advance(60_001)
  const { run } = await app.run({ thread: 't' })
  const [newest, lost] = await all(app.runs('t'))
  expect(newest).toMatchObject({ id: run, status: 'success', continues: lost!.id })
  expect(lost).toMatchObject({ status: 'error', error: { name: 'LeaseLost', code: 'lease_lost' } })
  expect(lost!.endedAt).toBeUndefined()
})
