// A run that is stopped while its updates are folded, with nothing stored before it ends.
import { append, compile, field, graph, memory, reduced } from 'heddle'
import { expect, it } from 'vitest'
import { keepBooks } from './harness.ts'
import { silent } from './refusals-damage.ts'

keepBooks()

it('leaves the state as it was before the step, so that every update counts once', async () => {
  let resolve = (): void => {}
  let late: Promise<void> | undefined = new Promise((done) => (resolve = done))
  let looked = (): void => {}
  const looks = new Promise<void>((done) => (looked = done))
  const slow = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate(value: unknown = 0) {
        if (value === 0 || !late) return { value: Number(value) }
        looked()
        return late.then(() => ({ value: Number(value) }))
      },
    },
  } as const
  const make = () =>
    graph({
      name: 'two',
      state: {
        most: reduced(slow, (a: number, b: number) => Math.max(a, b)),
        log: reduced(field<string[]>([]), append),
      },
      nodes: {
        a: () => ({ most: 1, log: ['a'] }),
        b: () => ({ most: 2, log: ['b'] }),
      },
      edges: { start: ['a', 'b'], a: 'end', b: 'end' },
    })
  const app = compile(make(), { store: memory(), durability: 'exit', logger: silent })
  const run = app.run({ thread: 't1', input: {} })
  await looks
  const cancelled = app.cancel('t1')
  // The schema answers a run that has been given up.
  resolve()
  late = undefined
  await expect(run).rejects.toMatchObject({ code: 'cancelled' })
  await cancelled
  expect(await app.state('t1')).toMatchObject({ state: { most: 0, log: [] } })
  expect(await app.run({ thread: 't1' })).toMatchObject({ state: { most: 2, log: ['a', 'b'] } })
})
